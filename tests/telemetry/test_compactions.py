"""Compactions, records, milestones and news as figures; and those of collections that go before them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import AnyEntry, Collection, Insertion, Recall
from ctxgc.core.state import State, fold
from ctxgc.lab.carried import carried
from ctxgc.lab.compactions import follows
from ctxgc.lab.gc_log import gc_log
from ctxgc.telemetry import Figures
from tests.lab.compacted import SHORTENING, Story, compacting, known, log, story

from .helpers import Session, cell, count, new_figures

COLLECTED = "ctxgc_collected_tokens_total"
COLLECTIONS = "ctxgc_collections_total"
COMPACTIONS = "ctxgc_compactions_total"
CONTEXT = "ctxgc_context_tokens_total"
RESURRECTED = "ctxgc_resurrected_tokens_total"
RESURRECTIONS = "ctxgc_resurrections_total"


def compact(session: Session, call: bytes, after: int, upto: int, tokens: int = 20, **more: object) -> None:
    """Have a record stand for what is behind a node up to another."""
    given = {"kept": (), "trigger": "window", **more}
    state = session.state
    handles = {f"h{number}": number for number in range(len(state.cells))}
    session.tell(
        Compaction(
            at=0.0, call=call, after=after, upto=upto, messages=(b"{}",), cells=(cell("summary", tokens),),
            record=b"r", handle=f"r{upto}", handles=handles, before=0, tokens=tokens, **given,
        )  # type: ignore[arg-type]
    )  # fmt: skip


def grown() -> tuple[Session, bytes]:
    """A session of four messages of 10, 100, 1,000 and 7 tokens; of the third, 300 are sent."""
    session = Session()
    session.settle(session.ask([("user_turn", 10)], [("agent_reply", 100)], [("tool_result:bash", 1000)]))
    session.collect(session.ask(), (2, 300), generation="major")
    return session, session.ask([("user_turn", 7)])


def test_what_a_compaction_leaves_out_counts_as_what_was_still_sent_of_it() -> None:
    session, call = grown()
    assert session.count(COLLECTED) == 700
    compact(session, call, 0, 2)
    assert session.count(COLLECTED, tag="tool_result", source="bash", action="summarize") == 300
    assert session.count(COLLECTED, tag="agent_reply", action="summarize") == 100
    assert session.count(COLLECTED) == 1100


def test_what_is_kept_in_the_span_is_not_counted() -> None:
    session, call = grown()
    compact(session, call, 0, 2, kept=(1,))
    assert session.count(COLLECTED, action="summarize") == 300


def test_an_earlier_record_goes_when_the_next_one_is_made_and_nothing_is_counted_twice() -> None:
    session, call = grown()
    compact(session, call, 0, 2, tokens=20)
    later = session.ask([("agent_reply", 50)], [("user_turn", 5)])
    compact(session, later, 0, 3, tokens=30)
    assert session.count(COLLECTED, tag="summary") == 20
    assert session.count(COLLECTED, action="summarize") == 400 + 20 + 7
    session.settle(later)
    assert session.count(CONTEXT, stage="forwarded", tag="summary", residency="fresh") == 30


def test_a_record_is_new_in_its_request_and_sent_before_in_the_next() -> None:
    session, call = grown()
    compact(session, call, 0, 2)
    session.settle(call)
    assert session.count(CONTEXT, stage="forwarded", tag="summary", residency="fresh") == 20
    session.settle(session.ask([("user_turn", 1)]))
    assert session.count(CONTEXT, stage="forwarded", tag="summary", residency="fresh") == 20
    assert session.count(CONTEXT, stage="forwarded", tag="summary", residency="replayed") == 20
    assert session.count(CONTEXT, stage="received", tag="summary") == 0


@pytest.mark.parametrize(
    ("trigger", "by", "labels"),
    [("milestone", "", ("milestone", "code")), ("window", "m", ("window", "model")), ("odd", "m", ("window", "model"))],
)
def test_a_compaction_counts_by_its_trigger_and_by_whether_a_model_helped(
    trigger: str, by: str, labels: tuple[str, str]
) -> None:
    session, call = grown()
    compact(session, call, 0, 2, trigger=trigger, by=by)
    assert session.count(COMPACTIONS) == session.count(COMPACTIONS, trigger=labels[0], by=labels[1]) == 1


def test_a_compaction_is_a_major_collection_where_no_collection_goes_with_it() -> None:
    session, call = grown()
    compact(session, call, 0, 2, trigger="milestone")
    session.settle(call)
    assert session.count(COLLECTIONS, trigger="milestone", generation="major", outcome="collected") == 1
    assert session.count(COLLECTIONS, outcome="collected") == 2  # with the one before it


def test_what_it_changes_behind_its_span_is_no_collection_of_its_own() -> None:
    session, call = grown()
    edit = Edit(3, "compaction", "restore", "", "", "h3", 7, 7)
    session.tell(Collection(at=0.0, call=call, generation="major", edits=(edit,)))
    compact(session, call, 0, 2)
    assert session.count(COLLECTIONS, outcome="collected") == 2
    other, call = grown()
    other.collect(call, (3, 5), generation="major")  # the control: a policy's
    compact(other, call, 0, 2)
    assert other.count(COLLECTIONS, outcome="collected") == 3


def test_what_is_collected_again_counts_as_what_was_still_sent_of_it() -> None:
    session = Session()
    call = session.ask([("tool_result:bash", 1000)])
    session.collect(call, (0, 400))
    session.collect(session.ask([("user_turn", 1)]), (0, 50), generation="major")
    assert session.count(COLLECTED) == 950  # and not 600 + 950


def test_a_restored_session_goes_on_from_what_it_had_collected() -> None:
    session, call = grown()
    compact(session, call, 0, 1)
    before = session.count(COLLECTED)
    again = Session(session.figures)
    again.state, again.head = copied(session.state), session.head
    again.collect(again.ask([("agent_reply", 3)]), (2, 100), generation="major")
    assert session.count(COLLECTED) == before + 200
    again.recall(1)
    assert session.count(RESURRECTED, tag="agent_reply") == 100


def copied(state: State) -> State:
    """Another state that says the same, as a process has it that read the journal."""
    other = State()
    other.__dict__.update(state.__dict__)
    return other


def test_what_a_record_stands_for_and_is_asked_for_again_counts_whole() -> None:
    session, call = grown()
    compact(session, call, 0, 2)
    session.recall(2)
    assert session.count(RESURRECTED, tag="tool_result") == 1000
    session.recall(3)  # the control: it stands in the request
    assert session.count(RESURRECTED) == 1000
    session.bypass("refused: 400", plain=True)
    session.recall(1)
    assert session.count(RESURRECTED) == 1000


def test_a_voucher_that_is_read_back_is_the_ledgers() -> None:
    session, _ = grown()
    session.tell(Recall(at=0.0, handle="v", by="model", cell=-1, found=True))
    assert session.count(RESURRECTIONS, tag="ledger", outcome="hit") == 1
    assert session.count(RESURRECTED) == 0


def test_news_leave_with_their_request_and_count_once() -> None:
    session = Session()
    call = session.ask([("user_turn", 10)])
    told = (cell("ledger", 40),)
    session.tell(Insertion(at=0.0, call=call, head=0, messages=(b"{}",), cells=told, told=3))
    session.tell(Insertion(at=0.0, call=call, head=0, messages=(b"{}",), cells=(cell("recall", 5),)))
    session.settle(call)
    assert session.count("ctxgc_ledger_news_total") == 1
    assert session.count(CONTEXT, tag="ledger", stage="forwarded", residency="fresh") == 40
    assert session.count(CONTEXT, tag="recall") == 0  # it leaves with the next
    assert session.count(CONTEXT, stage="received") == 10
    session.settle(session.ask([("agent_reply", 1)]))
    assert session.count(CONTEXT, tag="ledger", residency="replayed") == 40
    assert session.count("ctxgc_ledger_news_total") == 1


def test_answers_of_models_count_by_what_became_of_them_and_what_they_took() -> None:
    session = Session()
    for outcome in ("taken", "refused: no JSON", "refused: too large"):
        session.tell(Summary(at=0.0, after=0, upto=1, model="m", outcome=outcome, input=100, output=7))
    session.tell(Milestone(at=0.0, name="done", head=-1))
    assert session.count("ctxgc_summaries_total", outcome="taken") == 1
    assert session.count("ctxgc_summaries_total", outcome="refused") == 2
    assert session.count("ctxgc_summaries_tokens_total", kind="input") == 300
    assert session.count("ctxgc_summaries_tokens_total", kind="output") == 21
    assert session.count("ctxgc_milestones_total") == 1


# A whole session


@pytest.fixture(scope="module")
def seen() -> Iterator[tuple[Figures, Story]]:
    figures = new_figures()
    with known() as store:
        yield figures, story(compacting(store, SHORTENING, observe=figures.observe))


def test_the_context_is_what_the_lab_says_of_each_request(seen: tuple[Figures, Story]) -> None:
    figures, told = seen
    found = carried(log(told)).requests
    assert count(figures, CONTEXT, stage="forwarded") == sum(one.total_sent for one in found)
    assert count(figures, CONTEXT, stage="received") == sum(one.total for one in found)
    assert count(figures, CONTEXT, stage="forwarded", residency="fresh") == sum(one.fresh_sent for one in found)


def test_the_collections_are_those_of_the_log(seen: tuple[Figures, Story]) -> None:
    figures, told = seen
    found = gc_log(log(told), lambda _: None, lambda _: 0)
    assert count(figures, "ctxgc_collection_cost_tokens_total", kind="rewritten") == found.rewritten
    for trigger in ("milestone", "quality", "window"):
        made = [one for one in found.made if one.trigger == trigger]
        assert count(figures, COLLECTIONS, trigger=trigger, generation="major") == len(made)
    assert count(figures, COMPACTIONS) == sum(one.span is not None for one in found.made) > 2


def test_what_compactions_left_out_is_what_they_say(seen: tuple[Figures, Story]) -> None:
    figures, told = seen
    assert count(figures, COLLECTED, action="summarize") == sum(one.before for one in told.compactions())


def test_no_token_is_collected_twice(seen: tuple[Figures, Story]) -> None:
    """What was collected of all tokens that came, or were ours, is what of them is not sent any more."""
    figures, told = seen
    state = fold(log(told))
    ours = sum(one.tokens for one in state.cells if not one.tokens)
    ours += sum(made.sent for made in state.cells if made.tag in ("summary", "ledger", "recall"))
    head = max(state.heads)
    sent = sum(state.sent(head).values())
    came = sum(state.node(head).received.values())
    assert count(figures, COLLECTED) == came + ours - sent


def test_control_a_collection_that_follows_is_there_or_not(seen: tuple[Figures, Story]) -> None:
    entries: list[AnyEntry] = log(seen[1])
    assert not any(follows(entry) for entry in entries if isinstance(entry, Collection) and entry.generation == "eden")
