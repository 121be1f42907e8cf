from __future__ import annotations

import pytest

from ctxgc.core.compaction import Summary
from ctxgc.core.journal import decode, encode
from ctxgc.summarise import Ask, Breaker, Job, Said, summarise
from ctxgc.summarise.breaker import FAILURES, SPANS, TAKEN
from ctxgc.summarise.pieces import tokens
from tests.summarise.spans import GOOD, OUTPUT, SPAN, Scripted, answer, call, count, item, result, user


def job(**more: object) -> Job:
    given = {"originals": SPAN, "count": count, "after": -1, "upto": 4, "at": 5.0, "share": 0.9, **more}
    return Job("m", **given)  # type: ignore[arg-type]


def test_a_good_answer_becomes_a_summary_that_the_journal_keeps() -> None:
    (found,) = summarise(job(), Scripted(GOOD))
    assert (found.after, found.upto, found.outcome, found.attempts) == (-1, 4, TAKEN, 1)
    assert (found.model, found.input, found.output) == ("scripted", 100, 10)
    assert len(found.items) == 2
    assert decode(encode(found)) == found


def test_a_refused_answer_is_asked_for_once_more_and_told_why() -> None:
    asker = Scripted("I'm sorry", GOOD)
    (found,) = summarise(job(), asker)
    assert (found.outcome, found.attempts, found.input) == (TAKEN, 2, 200)
    assert [len(ask.messages) for ask in asker.asks] == [2, 3]
    assert "refused: it is an apology and not a record" in asker.asks[1].messages[-1]["content"]


def test_after_two_refusals_the_outcome_says_why() -> None:
    asker = Scripted("nonsense")
    (found,) = summarise(job(), asker)
    assert (found.outcome, found.items, len(asker.asks)) == ("refused: it is not one JSON object", (), 2)


def test_an_asker_that_raises_is_an_answer_with_an_error() -> None:
    def raising(ask: Ask) -> Said:
        raise RuntimeError("key sk-123")

    (found,) = summarise(job(), raising)
    assert found.outcome == "refused: no answer: RuntimeError"


def long_job(**more: object) -> Job:
    span = [user(0, "Go on.")]
    for turn in range(1, 13):
        span += [call(2 * turn - 1, "bash", "{}", turn), result(2 * turn, "bash", "{}", OUTPUT, turn)]
    return job(originals=tuple(span), upto=24, window=3000, **more)


def test_a_span_larger_than_the_window_is_asked_about_in_pieces_that_follow_each_other() -> None:
    asker = Scripted(answer(facts=[item()]))
    found = summarise(long_job(), asker)
    assert len(found) > 2
    assert [one.after for one in found] == [-1, *(one.upto for one in found[:-1])]
    assert found[-1].upto == 24
    assert all(sum(count(one["content"]) for one in ask.messages) + ask.max_tokens <= 3000 for ask in asker.asks)
    assert tokens(long_job().originals, count) > 3000  # in one piece it would not have fitted


class Pointing(Scripted):
    """Answers for the first cell it is shown, and resolves all that it is told is open; every other time badly."""

    def __call__(self, ask: Ask) -> Said:
        self.asks.append(ask)
        told = ask.messages[1]["content"]
        label = told[told.index("<c") + 1 :].split()[0]
        listed = told.rpartition("of before:\n")[2] if "of before:\n" in told else ""
        numbers = [int(line.split(":")[0]) for line in listed.splitlines()[:-1]]
        text = answer(open_items=[item(f"do {label}", label, "")], resolved=numbers)
        return Said(text, "stop")


def test_later_pieces_are_told_what_earlier_ones_left_open_by_the_numbers_of_the_log() -> None:
    found = summarise(long_job(number=7, still_open=((3, "the first thing"),)), Pointing())
    assert [one.resolved for one in found][:3] == [(3,), (7,), (8,)]


def test_a_piece_that_fails_does_not_stop_the_others() -> None:
    good = answer(facts=[item("it passed 42", "c4")])
    found = summarise(long_job(), Scripted("bad", "bad", good))
    assert found[0].outcome.startswith("refused: ")
    assert len(found) > 2
    assert found[-1].upto == 24


def test_a_window_too_small_to_ask_is_said_and_nobody_asked() -> None:
    asker = Scripted(GOOD)
    assert summarise(job(window=900), asker)[0].outcome == "refused: the window of the model is too small"
    assert asker.asks == []


def test_a_key_is_in_no_repr() -> None:
    asker = Scripted(GOOD)
    given = job(api_key="sk-hidden")
    summarise(given, asker)
    assert asker.asks[0].api_key == "sk-hidden"
    assert "sk-hidden" not in repr(given) + repr(asker.asks[0])


@pytest.mark.parametrize("failures", [0, 1, FAILURES - 1])
def test_a_breaker_asks_while_there_are_few_failures(failures: int) -> None:
    assert Breaker.of(["refused: x"] * failures).asks


def test_a_breaker_waits_for_some_spans_and_then_probes_once() -> None:
    broken = ["refused: x"] * FAILURES
    assert [Breaker.of([*broken, *[""] * spans]).asks for spans in range(SPANS + 1)] == [False] * SPANS + [True]
    assert not Breaker.of([*broken, *[""] * SPANS, "refused: y"]).asks
    assert Breaker.of([*broken, *[""] * SPANS, TAKEN]) == Breaker()
    assert Breaker.of(["refused: x", "refused: x", TAKEN, "refused: x"]).asks


def test_outcomes_of_summaries_are_what_a_breaker_folds() -> None:
    found: list[Summary] = []
    for _ in range(FAILURES):
        found += summarise(job(), Scripted("nonsense"))
    assert not Breaker.of(one.outcome for one in found).asks
