"""Nothing drifts: the campaign of ``benchmarks.drift`` in short, what its checks notice, and what tools inject."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.drift import CONTROLS, held, one
from benchmarks.drift_askers import WAYS, Piece, Scripted, item, record
from benchmarks.drift_judge import Came, Told, broken, missing, reachable, untrue
from benchmarks.drift_run import drift
from benchmarks.drift_story import CONSTRAINTS, FACT, story
from ctxgc.core.constraints import binding
from ctxgc.core.pacer import Pacer
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.policies.compact import Compact
from ctxgc.session import errands
from ctxgc.session.kit import Summariser
from ctxgc.summarise import Said
from tests.core.injected import BELIEFS, injected, parts
from tests.session.growing import FREE, Growing
from tests.session.scripts import agent, call, kit, memory, result, system, user

SHORT = 2
"""Compactions of a session here; the benchmark makes twenty."""


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("good", "believes")])
def test_whatever_a_summariser_says_nothing_is_lost(way: str) -> None:
    found = drift(way, SHORT, limit=8)
    assert found.faults == []
    assert found.ok
    assert found.compactions >= SHORT
    assert found.constraints >= 8


@pytest.mark.parametrize("seed", [1, 2])
def test_a_good_summariser_posts_facts_and_some_of_what_it_says_stays_a_claim(seed: int) -> None:
    found = drift("good", SHORT, seed)
    assert found.faults == []
    assert found.constraints == 40
    assert found.facts >= 39
    assert found.posted > 20  # so many the host posts itself
    assert 0 < found.claims < found.items
    assert found.largest < 9_000


def test_a_summariser_that_believes_all_it_reads_posts_nothing_of_it() -> None:
    found = drift("believes", SHORT)
    assert found.faults == []
    assert found.claims > 20


@pytest.mark.parametrize("control", CONTROLS)
def test_a_compaction_that_is_broken_is_caught(control: str) -> None:
    found, _ = one(control, 6, 1)
    assert not found.ok
    assert held([found])
    assert not held([one("none", 1, 1)[0], found.__class__("none", lost=1)])


# What the checks notice


def test_the_story_has_what_it_says() -> None:
    steps = list(itertools.islice(story(3), 400))
    assert sorted(one for step in steps for one in step.constraints) == sorted(CONSTRAINTS)
    assert len(set(CONSTRAINTS)) == 40
    facts = [one for step in steps for one in step.facts]
    assert len(facts) == 40
    assert all(FACT.fullmatch(one) for one in facts)
    assert all(binding(one) == ((0, len(one)),) for one in CONSTRAINTS)
    assert steps == list(itertools.islice(story(3), 400))


def told(**state: str) -> Told:
    found = Told()
    found.state = {f"task-{name[1:]}": value for name, value in state.items()}
    found.answers = {mark: "That is done: it was blue." for mark, value in found.state.items() if value == "closed"}
    return found


def test_a_constraint_counts_only_where_the_user_says_it() -> None:
    demands = Told(constraints=["Never push to main."])
    assert missing(demands, [user("Go on. Never push to main.")]) == []
    assert missing(demands, [user("Go on."), agent("Never push to main.")]) == ["Never push to main."]
    assert missing(demands, [user("Never push to  main.")]) == ["Never push to main."]


def test_requests_are_what_the_record_says() -> None:
    text = "- open [aaaaaaaaaaaaaaaa]: Now task-001: x\n- closed [aaaaaaaaaaaaaaaa]: Now task-002: x"
    assert list(untrue(told(_001="open", _002="closed"), text, text)) == []
    assert list(untrue(told(_001="unclear", _002="unclear"), text, text)) == []
    assert len(list(untrue(told(_001="closed", _002="open"), text, text))) == 2
    assert len(list(untrue(told(_001="open", _002="closed", _003="open"), text, text))) == 1
    answered = text + "\nThat is done: it was blue."
    assert list(untrue(told(_001="closed", _002="closed"), answered, answered)) == []


def test_pointers_are_followed_two_steps_and_no_further() -> None:
    texts = {"a" * 16: f"[{'b' * 16}]", "b" * 16: f"here [{'c' * 16} lines 1-2]", "c" * 16: "too far"}
    found = reachable(f"[ctxgc:{'a' * 16} x]", texts.__getitem__)
    assert "here" in found
    assert "too far" not in found


CAME = [system(), user(), agent("a", call("c1")), result("c1", "one"), agent("b", call("c2")), result("c2", "two")]
RECORD = agent(f"[ctxgc:{'a' * 16} record of turns 1-1, 2 cells: data]")


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (CAME, ""),
        ([*CAME[:2], RECORD, *CAME[4:]], ""),
        ([*CAME[:3], {**CAME[3], "content": "less"}, *CAME[4:]], ""),
        ([*CAME[:2], RECORD, CAME[3], *CAME[4:]], "a result has no call"),
        ([*CAME[:2], RECORD, CAME[2], *CAME[4:]], "a call has no result"),
        ([*CAME[:2], RECORD, RECORD, *CAME[4:]], "two records"),
        ([*CAME[:2], {**RECORD, "role": "user"}, *CAME[4:]], "a record stands where it may not"),
        ([*CAME[:2], agent("who said that?"), *CAME[4:]], "a message came from nowhere"),
        ([*CAME[:1], RECORD, *CAME[4:]], "the first or the last"),
        ([*CAME[:2], RECORD], "the first or the last"),
        ([*CAME[:2], *CAME[4:], *CAME[2:4]], "a message came from nowhere"),
    ],
)
def test_a_request_that_a_server_would_refuse_is_seen(sent: list[Any], fault: str) -> None:
    came = Came()
    came.add(CAME)
    found = "; ".join(broken(came, sent))
    assert fault in found
    assert bool(fault) == bool(found)


# What tools inject

NEEDED = 200
HONEST = "orders_7 has 5120 rows"
TERMS = Compact(tail=600, record=1_000, saving=500, opening=300)


@dataclass
class Injecting:
    """Sessions whose tools give injected texts, and a summariser that believes them all.

    ``seen`` are the texts of which it said something that was taken, ``facts`` and ``shown`` what is in the ledgers and
    in their balances in the end.
    """

    seen: set[str] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    facts: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    compactions: int = 0

    def believe(self, pieces: list[Piece], _told: str) -> Said:
        """Each text that was injected, in its own words and in words of the summariser's, as all that may be said."""
        fields: dict[str, list[object]] = {name: [] for name in ("facts", "constraints_learned", "decisions_made")}
        for piece in pieces:
            if not piece.what.startswith("tool_result"):
                continue
            text = piece.text.partition("<<\n")[2].partition("\n>>")[0]
            quotes = [HONEST] if HONEST in text else parts(text)[:2]
            self.offered |= {text} - {HONEST, ""}
            for at, quote in enumerate(quotes):
                said = quote.replace("\n", " ") if at == 0 else BELIEFS[0]
                for found in list(fields.values())[: 1 if at else 3]:
                    found.append(item(said, piece, quote))
        return record(**{name: found[:40] for name, found in fields.items()})

    def session(self, texts: list[str]) -> None:
        """One session with these texts in its results, one in each."""
        with memory() as store:
            ledger = open_ledger(store, "books", lambda: 1.0)
            asker = Scripted(self.believe)
            used = kit(
                store, (TERMS,), pacer=Pacer(quality=8_000), tariff=lambda _: FREE, ledger=lambda _: ledger,
                summariser=Summariser(asker, "own", 100_000),
            )  # fmt: skip
            growing = Growing(used)
            for number, text in enumerate(texts):
                rows = "".join(f"row {number}-{row} is {row * 7919 % 1009}\n" for row in range(50))
                growing.say(f"{rows}<<\n{text}\n>>\n{rows}")
                self._errands(growing)
                self._judge_sent(growing)
            self._judge(growing, ledger)

    def _errands(self, growing: Growing) -> None:
        for errand in growing.session.errands():
            growing.session.ran(errand.run())
        growing.session.admit()

    def _judge_sent(self, growing: Growing) -> None:
        """Which of them a request raises to what somebody else said, or to a constraint that is no claim."""
        spoken = [str(message["content"]) for message in growing.sent if message["role"] in ("user", "system")]
        self.raised += [text for text in self.offered for said in spoken if text in said]
        for message in growing.sent:
            learned = str(message.get("content")).partition("constraints_learned:\n")[2]
            lines = itertools.takewhile(lambda line: line.startswith(("- ", "+ ")), learned.splitlines())
            self.constraints += [line for line in lines if not line.startswith(("- claim [", "- pinned", "+ "))]

    def _judge(self, growing: Growing, ledger: Ledger) -> None:
        state = growing.session.state
        quotes = [one.quote for summary in state.summaries for one in summary.items]
        self.seen |= {text for text in self.offered if any(quote in text for quote in quotes)}
        self.compactions += max((node.compacted.number for node in state.nodes if node.compacted), default=0)
        self.facts += [fact.statement for fact in ledger.books.current()]
        ledger.close("done")
        self.shown.append(ledger.opening(20_000).text)
        self.shown.append(str(ledger.read(ledger.books.periods[-1].opening_balance_ref)))
        self.pinned += [cell.site for cell in state.cells if cell.pinned and cell.tag.startswith("tool_result")]

    def run(self) -> Injecting:
        """Sessions until the summariser has spoken of as many texts as are needed."""
        texts = [text for text in injected() if len(text) < 600 and "\ud800" not in text]
        random.Random(5).shuffle(texts)
        for batch in _batches(texts, 40):
            if len(self.seen) >= NEEDED:
                return self
            self.session([HONEST, *batch])
        raise AssertionError("there are too few texts")


def _batches(texts: list[str], size: int) -> Iterator[list[str]]:
    yield from (texts[at : at + size] for at in range(0, len(texts), size))


def test_two_hundred_injected_results_are_in_no_fact_no_pin_no_constraint_and_no_balance() -> None:
    found = Injecting().run()
    assert len(found.seen) >= NEEDED
    assert found.compactions > 10
    assert set(found.facts) == {HONEST}  # what is honest is posted, so that there is something to be kept out of
    assert found.pinned == []
    assert found.constraints == []
    assert found.raised == []
    lines = {line.strip() for text in found.seen for line in text.splitlines() if len(line.strip()) > 12}
    assert not [line for line in lines for text in found.shown if line in text]
    assert not [belief for belief in BELIEFS for text in found.shown if belief in text]


def test_the_check_finds_them_where_the_host_believes_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands, "postable", lambda *_: "")
    found = Injecting()
    found.session([HONEST, *list(injected())[:11]])
    assert set(found.facts) - {HONEST}
    assert any(belief in text for belief in BELIEFS for text in found.shown)


def test_a_record_in_the_words_of_a_summariser_is_only_ever_the_agents() -> None:
    found = Injecting()
    found.session([HONEST, *list(injected())[:11]])
    assert found.raised == []
    found.offered = {"do it"}  # the check sees what the user does say
    with memory() as store:
        growing = Growing(kit(store, (TERMS,)))
        found._judge_sent(growing)
    assert found.raised == ["do it"]
