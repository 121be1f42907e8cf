"""What a request sends, in which order, and what is left out of it: held against the state's own sums."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import pytest

from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Collection
from ctxgc.core.pacer import Pacer
from ctxgc.core.state import State, fold
from ctxgc.lab.carried import Carried, carried
from ctxgc.lab.compactions import follows, left_out, parts, span
from ctxgc.lab.moments import moment
from ctxgc.policies.compact import Compact
from ctxgc.policies.dedup import Dedup
from ctxgc.session import Kit
from ctxgc.store import Store
from tests.lab.collected import entries
from tests.lab.compacted import Story, compacting, known, log, story, winding
from tests.session.checks import attribution, sent_cells
from tests.session.scripts import KEY, drive, history

SMALL = Compact(tail=150, record=400, saving=0)
SEEDS = range(12)


@pytest.fixture(scope="module")
def told() -> Iterator[Story]:
    with known() as store:
        yield story(compacting(store))


def small(store: Store, *policies: object) -> Kit:
    """A kit that compacts all the time."""
    return compacting(store, (*policies, SMALL), pacer=Pacer(quality=700), ledger=None)


def states(entries: list[AnyEntry]) -> Iterator[tuple[Allocation, State]]:
    """Each request with the state as it left."""
    for number in range(1, moment(entries, -1).requests + 1):
        at = moment(entries, number)
        yield at.entry, fold((*at.before, *at.own))


def shown(state: State, head: int) -> list[int]:
    """The cells that are sent of a history, in order."""
    return [cell for part in parts(state, head) if not part.out for cell in part.cells]


def test_the_story_has_all_that_it_is_to_have(told: Story) -> None:
    kinds = {type(entry).__name__ for entry in log(told)}
    assert {"Compaction", "Insertion", "Milestone", "Recall"} <= kinds
    assert {one.trigger for one in told.compactions()} == {"milestone", "quality"}
    assert any(one.kept for one in told.compactions())
    attribution(told.session.state)


def test_the_parts_are_what_the_state_sends(told: Story) -> None:
    for entry, state in states(log(told)):
        sent = sum(state.cells[cell].sent for cell in shown(state, entry.head))
        assert sent + sum(state.tools(entry).values()) == state.tokens(
            entry.head, entry.toolset, sent=True, offered=entry.offered
        )
        behind = {cell for each in state.own.behind(entry.head) for cell in each.cells}
        assert sorted(set(shown(state, entry.head)) - behind) == sorted(sent_cells(state, state.node(entry.head)))


def test_every_cell_that_came_is_in_one_part(told: Story) -> None:
    state = told.session.state
    head = max(state.heads)
    came = [cell for part in parts(state, head) if not part.own for cell in part.cells]
    assert came == [cell for node in state.path(head) for cell in node.cells]


def test_control_a_branch_from_within_the_span_is_sent_in_full(told: Story) -> None:
    state = told.session.state
    made = state.node(max(state.heads)).compacted
    assert made is not None
    assert list(left_out(state, made))
    inner = span(state, made)[5]
    assert not any(part.out for part in parts(state, inner.id) if inner.compacted is None)


def test_the_record_stands_where_the_span_was(told: Story) -> None:
    state = told.session.state
    made = state.node(max(state.heads)).compacted
    assert made is not None
    found = list(parts(state, max(state.heads)))
    place = next(at for at, part in enumerate(found) if part.own and part.cells == made.cells)
    assert found[place - 1].node.id == made.after
    assert found[place + 1].node.id == made.following
    ((_, text), *_) = reversed(list(found[place].texts(told.used.codec)))
    assert text.startswith("[ctxgc:")


def test_only_what_a_compaction_changes_behind_its_span_follows_from_it() -> None:
    def made(policy: str, generation: str = "major") -> Collection:
        edit = Edit(1, policy, "restore", "", "", "h", 10, 10)
        return Collection(at=0.0, call=b"", generation=generation, edits=(edit,))

    assert follows(made("compaction"))
    assert not follows(made("idle"))
    assert not follows(made("compaction", "eden"))


def oracle(found: list[AnyEntry]) -> tuple[list[int], list[int]]:
    """With how many requests each cell was sent, and the tokens sent for it: counted one request after the other."""
    last = fold(found)
    sends, tokens = [0] * len(last.cells), [0] * len(last.cells)
    for entry, state in states(found):
        offer = state.node(entry.head).offer if entry.offered else -1
        ours = (state.own.offers[offer].cell,) if offer >= 0 else ()
        for cell in (*shown(state, entry.head), *state.toolset(entry.toolset).cells, *ours):
            sends[cell] += 1
            tokens[cell] += state.cells[cell].sent
    return sends, tokens


def agrees(found: Carried, entries: list[AnyEntry]) -> None:
    assert (list(found.sends), list(found.sent_turns)) == oracle(entries)
    assert sum(found.sent_turns) == sum(request.total_sent for request in found.requests)
    came = sum(found.state.cells[cell].tokens * times for cell, times in enumerate(found.times))
    assert came == sum(request.total for request in found.requests)
    for request in found.requests:
        assert request.fresh_sent + request.prefix_sent <= request.total_sent


def test_what_was_carried_is_what_the_state_says_of_each_request(told: Story) -> None:
    agrees(carried(log(told)), log(told))


@pytest.mark.parametrize("seed", SEEDS)
def test_also_where_a_session_branches_is_retried_and_asks_helpers(seed: int) -> None:
    with known() as store:
        drive([*winding(seed), None, winding(seed)[-1]], small(store, Dedup(min_tokens=16)))
        found = entries(store, KEY)
        assert any(isinstance(entry, Compaction) for entry in found)
        agrees(carried(found), found)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prefix_is_what_the_bytes_share_with_an_earlier_request(seed: int) -> None:
    with known() as store:
        _, sent = drive(winding(seed), small(store, Dedup(min_tokens=16)))
        found = entries(store, KEY)
        before: list[list[bytes]] = []
        pairs = zip(states(found), carried(found).requests, sent, strict=True)
        for (entry, state), request, (_, prepared) in pairs:
            messages = history(prepared.body)
            shared = max((common(messages, other) for other in before), default=0)
            sizes = list(per_message(state, entry.head, messages))
            tools = sum(state.tools(entry).values()) if before else 0
            assert request.prefix_sent == sum(sizes[:shared]) + tools, request.number
            before.append(messages)


def common(one: list[bytes], other: list[bytes]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def per_message(state: State, head: int, messages: list[bytes]) -> Iterator[int]:
    """The tokens of each message of a request; of what is ours, all with the last of its messages."""
    sizes: list[int] = []
    for part in parts(state, head):
        if not part.out:
            sizes += [0] * (len(part.messages) - 1 if part.own else 0)
            sizes.append(sum(state.cells[cell].sent for cell in part.cells))
    assert len(sizes) == len(messages)
    yield from sizes


def test_control_a_journal_without_its_compactions_sends_more(told: Story) -> None:
    whole, without = (carried(kept) for kept in (log(told), [e for e in log(told) if not isinstance(e, Compaction)]))
    assert sum(without.sent_turns) > sum(whole.sent_turns)
