"""Every cell of a request has a verdict and a reason that the journal and the plan bear out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.lab.explained import VERDICTS, Line, explained
from ctxgc.lab.moments import moment
from ctxgc.lab.plans import rebuild
from ctxgc.policies import preset
from ctxgc.store import Store, open_store
from tests.lab.collected import KEY, Idle, bodies, collecting, collecting_kit, entries, run

REQUESTS = 16


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    run(collecting_kit(opened), bodies(REQUESTS))
    yield opened
    opened.close()


def lines(store: Store, number: int, **changes: object) -> tuple[Line, ...]:
    at = moment(entries(store), number)
    return explained(at, rebuild(at, collecting_kit(store, **changes), KEY))


def of(found: tuple[Line, ...], verdict: str) -> list[Line]:
    return [line for line in found if line.verdict == verdict]


@pytest.mark.parametrize("number", [1, 6, 13, 14, REQUESTS])
def test_the_cells_are_the_whole_request(store: Store, number: int) -> None:
    found, at = lines(store, number), moment(entries(store), number)
    state = rebuild(at, collecting_kit(store), KEY).state
    for sent in (False, True):
        tokens = state.tokens(at.entry.head, at.entry.toolset, sent=sent)
        assert sum(line.sent if sent else line.tokens for line in found) == tokens
    assert {line.verdict for line in found} <= set(VERDICTS)
    assert all(line.why for line in found)
    assert [line.message for line in found] == sorted(line.message for line in found)


def test_what_went_says_when_by_whom_and_by_which_trigger(store: Store) -> None:
    (number,) = collecting(entries(store))
    then, later = of(lines(store, number), "shortened"), of(lines(store, REQUESTS), "shortened")
    assert len(then) > 1
    assert all(line.why == f"in turn {number} (rent) by idle, excerpt: unused for long" for line in then)
    assert [line.cell for line in later] == [line.cell for line in then]
    assert later[0].why == f"in turn {number} by idle, excerpt: unused for long"


def test_a_bare_stub_is_collected_and_not_shortened() -> None:
    opened = open_store("sqlite://")
    try:
        policies = (Idle(keep=0.0),)
        run(collecting_kit(opened, policies), bodies(REQUESTS))
        found = lines(opened, REQUESTS, policies=policies)
        assert of(found, "collected")
        assert of(found, "shortened") == []
    finally:
        opened.close()


def test_what_was_edited_before_it_was_sent_is_told_apart(store: Store) -> None:
    (line,) = of(lines(store, REQUESTS), "eden edit")
    assert line.why.startswith("in turn 6 by dedup")
    assert line.sent < line.tokens


def test_a_candidate_says_since_when_it_is_due_what_it_saves_and_what_it_waits_for(store: Store) -> None:
    waiting = of(lines(store, 10), "waits")
    assert waiting
    for line in waiting:
        assert line.offer is not None
        assert f"saves {line.offer.load.saved:,} tokens; waits since " in line.why
    assert any("waits since rent" in line.why and "of price" in line.why for line in waiting)


def test_control_without_policies_nothing_waits(store: Store) -> None:
    assert of(lines(store, 10, policies=preset("observe")), "waits") == []


def test_a_reference_names_its_turn_who_made_it_and_by_what_words(store: Store) -> None:
    found = lines(store, 9)
    (target,) = [line for line in found if line.into]
    (reference,) = target.into
    assert (reference.turn, reference.tag, target.references) == (9, "agent_reply", 1)
    assert "load_session_1_17" in reference.said
    (source,) = [line for line in found if line.out]
    assert (source.cell, source.out[0].cell) == (reference.cell, target.cell)
    assert [line for line in lines(store, 8) if line.into] == []  # not yet said then


def test_what_the_coming_message_needs_is_spared(store: Store) -> None:
    (line,) = [line for line in lines(store, 9) if line.into]
    assert line.offer is not None
    assert line.offer.needed
    assert line.why.endswith("a new message of this request needs it")


def test_what_is_out_of_date_says_by_what(store: Store) -> None:
    (line,) = [line for line in lines(store, 6) if line.stale]
    assert line.stale.endswith("(turn 6 tool_result:search)")


def test_new_young_and_old_cells(store: Store) -> None:
    found = lines(store, REQUESTS)
    assert {line.generation for line in found if line.arrived == REQUESTS} == {"eden"}
    assert {line.generation for line in found if line.arrived == REQUESTS - 1} == {"young"}
    assert {line.generation for line in found if line.arrived == 2} == {"old"}
    assert {line.age for line in found if line.arrived == REQUESTS} == {0}


def test_pinned_cells_say_so(store: Store) -> None:
    assert {line.tag for line in of(lines(store, 3), "pinned")} == {"tool_schema:search", "system_prompt", "user_turn"}
