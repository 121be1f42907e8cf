from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.journal import Gap, Pace, Recovery, Usage
from ctxgc.errors import ConfigError
from ctxgc.lab.suspects import Suspect
from ctxgc.telemetry import Figures
from ctxgc.telemetry.figures import DUE
from ctxgc.telemetry.labels import CAUSES, PLAIN
from ctxgc.tokens import Price

from .helpers import PRICE, Session, count, new_figures, observed, price

FAIL_OPEN = "ctxgc_fail_open_total"
OVERHEAD = "ctxgc_request_overhead_seconds"
DURATION = "ctxgc_upstream_duration_seconds"
FIRST_TOKEN = "ctxgc_upstream_time_to_first_token_seconds"
INVALIDATED = "ctxgc_cache_invalidated_tokens_total"
COSTS = st.floats(0, 1)
TAGS = (
    "system_prompt",
    "user_turn",
    "agent_reply",
    "tool_result:a",
    "tool_result:b",
    "tool_call:a",
    "retrieval:w",
    "own",
)


def collected() -> Session:
    session = Session()
    call = session.ask([("tool_result:bash", 100), ("tool_result:read", 200)])
    session.collect(call, (0, 30))
    session.collect(call, (1, 150), action="minify+truncate")
    return session


def test_every_entry_is_counted():
    session = Session()
    session.settle(session.ask([("user_turn", 1)]))
    assert session.count("ctxgc_audit_entries_total") == 3


@pytest.mark.parametrize("outcome", ["ok", "partial", "aborted", "error"])
def test_a_request_counts_under_its_outcome(outcome: str):
    session = Session()
    session.settle(session.ask([("user_turn", 1)]), outcome=outcome)
    assert session.count("ctxgc_requests_total", outcome=outcome, model="gpt-x", provider="openai") == 1
    assert session.count("ctxgc_requests_total") == 1


def test_a_request_that_was_never_read_counts_when_it_is_settled():
    session = Session()
    session.bypass("malformed: not JSON")
    session.settle(b"call", Usage(uncached=5), model="gpt-x")
    assert session.count("ctxgc_requests_total", model="gpt-x") == 1
    assert session.count("ctxgc_provider_tokens_total") == 5
    assert session.count("ctxgc_context_tokens_total") == 0


def test_collected_tokens_are_counted_once_by_what_was_done_last():
    session = collected()
    assert session.count("ctxgc_collected_tokens_total", source="bash", action="truncate") == 70
    assert session.count("ctxgc_collected_tokens_total", source="read", action="truncate") == 50
    assert session.count("ctxgc_collected_tokens_total") == 120


def test_a_recall_brings_back_what_had_been_collected_and_no_more():
    session = collected()
    session.recall(0)
    assert session.count("ctxgc_resurrections_total", tag="tool_result", outcome="hit") == 1
    assert session.count("ctxgc_resurrected_tokens_total", source="bash") == 70
    assert session.count("ctxgc_resurrected_tokens_total") == 70


def test_a_dead_handle_is_a_miss():
    session = collected()
    session.recall(-1, found=False)
    assert session.count("ctxgc_resurrections_total", outcome="miss") == 1
    assert session.count("ctxgc_resurrected_tokens_total") == 0


def test_where_the_edits_were_taken_back_a_recall_brings_nothing_back():
    session = collected()
    session.bypass("refused: 400", plain=True)
    session.recall(0)
    assert session.count("ctxgc_resurrections_total", outcome="hit") == 1
    assert session.count("ctxgc_resurrected_tokens_total") == 0


def test_a_gap_counts_the_calls_it_tells_of():
    session = Session()
    session.tell(Gap(at=0.0, calls=3, since=0.0, reason="stored late"))
    assert session.count("ctxgc_audit_gaps_total") == 3


def test_a_request_fails_open_once_per_reason():
    session = Session()
    for call in (b"1", b"1", b"2"):
        session.bypass("policy failed: KeyError", call)
    session.bypass("validator: pairs", b"2")
    assert session.count(FAIL_OPEN, reason="policy") == 2
    assert session.count(FAIL_OPEN, reason="invalid") == 1


def test_a_session_that_goes_plain_was_refused_whatever_was_said():
    session = Session()
    session.bypass("400 from the provider", plain=True)
    assert session.count(FAIL_OPEN, reason="refused") == 1


def test_a_request_without_a_session_fails_open_too():
    figures = new_figures()
    figures.bypassed("malformed: not decodable")
    assert count(figures, FAIL_OPEN, reason="malformed") == 1


def test_requests_in_flight_rise_and_fall_and_never_below_none():
    figures = new_figures()
    figures.request_started()
    figures.request_started()
    assert figures.gauges()["ctxgc_requests_in_flight"] == 2
    for _ in range(3):
        figures.request_ended()
    assert figures.gauges()["ctxgc_requests_in_flight"] == 0


def test_the_times_of_a_request():
    session = Session()
    session.settle(session.ask(), overhead=0.001, duration=2.0, first_token=0.5)
    assert observed(session.figures, OVERHEAD) == (1, 0.001)
    assert observed(session.figures, DURATION, "openai", "gpt-x") == (1, 2.0)
    assert observed(session.figures, FIRST_TOKEN, "openai", "gpt-x") == (1, 0.5)


def test_what_is_not_known_of_a_request_is_not_zero_seconds():
    session = Session()
    session.settle(session.ask())
    assert observed(session.figures, OVERHEAD) == (0, 0.0)
    assert observed(session.figures, DURATION, "openai", "gpt-x") == (0, 0.0)


def test_an_answer_that_broke_off_says_nothing_of_how_long_one_takes():
    session = Session()
    session.settle(session.ask(), outcome="aborted", overhead=0.001, duration=2.0)
    assert observed(session.figures, DURATION, "openai", "gpt-x") == (0, 0.0)
    assert observed(session.figures, FIRST_TOKEN, "openai", "gpt-x") == (0, 0.0)
    assert observed(session.figures, OVERHEAD)[0] == 1


def test_gauges_are_asked_when_they_are_read():
    held: list[int] = []
    figures = Figures(price, sessions=lambda: len(held), store_bytes=lambda: 7)
    held.append(1)
    assert figures.gauges() == {"ctxgc_sessions_active": 1, "ctxgc_store_bytes": 7, "ctxgc_requests_in_flight": 0}


def test_a_gauge_that_cannot_be_read_is_left_out():
    figures = Figures(price, store_bytes=lambda: 1 // 0)
    assert set(figures.gauges()) == {"ctxgc_sessions_active", "ctxgc_requests_in_flight"}


def test_what_they_cannot_count_is_counted_as_that_and_never_raised():
    def broken(_: str) -> Price | None:
        raise RuntimeError

    session = Session(Figures(broken))
    call = session.ask([("user_turn", 1)])
    session.settle(call)
    session.figures.request_started(None, None)  # type: ignore[arg-type]
    session.figures.suspects(b"", None)  # type: ignore[arg-type]
    counters = session.figures.board().counters
    assert counters["ctxgc_telemetry_faults_total"].values == {(): 2}
    assert counters["ctxgc_audit_entries_total"].values == {(): 3}


def test_the_end_of_a_request_is_counted_when_nobody_waits_and_before_all_that_comes_after_it():
    session = Session()
    session.settle(session.ask([("user_turn", 10)]))
    requests = session.figures._board.counters["ctxgc_requests_total"].values
    assert not requests  # whoever settles has a client waiting
    session.figures.catch_up()
    assert sum(requests.values()) == 1
    session.settle(session.ask())
    session.ask()
    assert sum(requests.values()) == 2


def test_ends_that_nobody_counts_do_not_pile_up():
    session = Session()
    for _ in range(DUE + 5):
        session.settle(b"of no request")
    assert len(session.figures._due) < DUE
    assert session.count("ctxgc_requests_total") == DUE + 5


def test_an_end_that_cannot_be_counted_keeps_no_other_from_it():
    session = Session()
    for outcome in ("ok", None, "ok"):
        session.settle(b"", outcome=outcome)  # type: ignore[arg-type]
    values = session.figures.board().counters["ctxgc_requests_total"].values
    assert sum(values.values()) >= 2


def test_metrics_that_are_excluded_must_be_ones():
    assert Figures(price, exclude=("ctxgc_store_bytes",)).excluded == {"ctxgc_store_bytes"}
    with pytest.raises(ConfigError, match="ctxgc_store_byte'"):
        Figures(price, exclude=("ctxgc_store_byte",))


def test_sources_are_told_apart_unless_that_is_not_wanted():
    for wanted, sources in ((True, {"", "a", "b"}), (False, {""})):
        session = Session(Figures(price, sources=wanted))
        session.settle(session.ask([("user_turn", 1)], [("tool_result:a", 1)], [("tool_result:b", 1)]))
        values = session.figures.board().counters["ctxgc_context_tokens_total"].values
        assert {labels[2] for labels in values} == sources
        assert session.count("ctxgc_context_tokens_total", stage="received") == 3


def test_a_suspect_counts_by_its_rule_and_whoever_wants_to_is_told():
    told: list[tuple[bytes, str]] = []
    figures = Figures(price, suspected=lambda key, one: told.append((key, one.subject)))
    figures.suspects(b"k", [Suspect(rule, "tool", 1, 0.1, "", "") for rule in ("reread", "reread", "of my own")])
    assert count(figures, "ctxgc_leak_suspects_total", rule="reread") == 2
    assert count(figures, "ctxgc_leak_suspects_total", rule="other") == 1
    assert told == [(b"k", "tool")] * 3


def test_what_contradicts_its_hash_counts():
    figures = new_figures()
    figures.corrupt()
    assert count(figures, "ctxgc_audit_verify_failures_total") == 1


def test_verbs_are_taken_one_at_a_time():
    alone: list[bool] = []

    def asked(name: str) -> Price | None:
        alone.append(figures._lock.locked())
        return price(name)

    figures = Figures(asked)
    session = Session(figures)
    session.settle(b"call", model="made-up")
    session.ask(model="gpt-x")
    assert set(alone) == {True}
    assert not figures._lock.locked()


class Story:
    """A session at random, with what its state says was received and forwarded, summed up as requests end."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.session = Session()
        self.carried: dict[bytes, tuple[int, int]] = {}
        self.received = self.forwarded = 0
        self.bills = 0.0, 0.0

    def ask(self) -> None:
        cells = st.lists(st.tuples(st.sampled_from(TAGS), st.integers(0, 50)), min_size=1, max_size=3)
        state = self.session.state
        tools = self.draw(st.none() | st.lists(st.just(("tool_schema:a", 9)), max_size=2))
        first = len(state.cells) + len(tools or ())
        call = self.session.ask(
            *self.draw(st.lists(cells, max_size=3)),
            parent=self.draw(st.integers(-1, len(state.nodes) - 1)),
            tools=tools,
            toolset=self.draw(st.integers(-1, len(state.toolsets) - 1)),
            pace=self.pace(),
        )
        self.note(call)
        if len(state.cells) > first and self.draw(st.booleans()):
            self.collect(call, first)

    def pace(self) -> Pace | None:
        """Bills that grow; what collecting cost may be more than what it spared, and a price may be below nothing."""
        if self.draw(st.booleans()):
            return None
        self.bills = self.bills[0] + self.draw(COSTS), self.bills[1] + self.draw(COSTS)
        trigger, live = self.draw(st.sampled_from(("", *CAUSES[:-1]))), self.draw(st.integers(0, 99))
        price, unit = self.draw(st.floats(-1, 1)), self.draw(st.sampled_from((PRICE.cache_write, 1.25)))
        paid, untouched = self.bills
        return Pace(trigger=trigger, live=live, price=price, write=unit, paid=paid, untouched=untouched)

    def collect(self, call: bytes, first: int) -> None:
        """Mostly of the request's own cells, as in eden; sometimes of older ones."""
        state = self.session.state
        number = self.draw(st.integers(first, len(state.cells) - 1) | st.integers(0, len(state.cells) - 1))
        if state.owners[number] >= 0:
            self.session.collect(call, (number, self.draw(st.integers(0, state.cells[number].tokens + 2))))
            self.note(call)

    def note(self, call: bytes) -> None:
        state = self.session.state
        head, toolset = state.unsettled[call].head, state.unsettled[call].toolset
        self.carried[call] = (state.tokens(head, toolset, sent=False), state.tokens(head, toolset, sent=True))

    def end(self) -> None:
        if self.carried:
            call = self.draw(st.sampled_from(sorted(self.carried)))
            received, forwarded = self.carried.pop(call)
            self.received += received
            self.forwarded += forwarded
            usage = Usage(uncached=self.draw(st.integers(0, 99)), output=self.draw(st.integers(0, 9)))
            if self.draw(st.booleans()):
                self.session.settle(call, usage, estimated=self.draw(st.integers(0, 99)))
            else:
                self.session.tell(Recovery(at=0.0, call=call))

    def refuse(self) -> None:
        if self.carried:
            call = self.draw(st.sampled_from(sorted(self.carried)))
            self.session.bypass("refused: 400", call, plain=True)
            self.note(call)

    def recall(self) -> None:
        edited = sorted(self.session.state.edits)
        self.session.recall(edited[0] if edited else -1, found=bool(edited))


def totals(figures: Figures) -> dict[tuple[str, ...], float]:
    board = figures.board()
    values = {(name, *labels): amount for name, one in board.counters.items() for labels, amount in one.values.items()}
    for name, spread in board.histograms.items():
        for labels, buckets in spread.values.items():
            values |= {(name, *labels, str(at)): each for at, each in enumerate(buckets.counts)}
            values[name, *labels, "sum"] = buckets.sum
    return values


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_counters_only_rise_and_sum_up_to_what_the_state_says(data: st.DataObject):
    story = Story(data)
    steps = [story.ask, story.ask, story.end, story.refuse, story.recall]
    before = totals(story.session.figures)
    for step in data.draw(st.lists(st.sampled_from(range(len(steps))), max_size=15)):
        steps[step]()
        after = totals(story.session.figures)
        assert all(after[key] >= amount for key, amount in before.items())
        before = after
    assert story.session.count("ctxgc_context_tokens_total", stage="received") == story.received
    assert story.session.count("ctxgc_context_tokens_total", stage="forwarded") == story.forwarded
    causes = [story.session.count(INVALIDATED, cause=cause) for cause in CAUSES if cause != PLAIN]
    assert sum(causes) == story.session.count("ctxgc_collection_cost_tokens_total", kind="rewritten")
