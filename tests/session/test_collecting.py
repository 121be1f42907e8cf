"""What could go of a history, and what goes: prepared from the state and the texts alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pytest

from ctxgc.core import stub
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Verdict
from ctxgc.policies import preset
from ctxgc.session import Kit, drain
from ctxgc.session.collecting import YOUNG, Collecting, Standing
from ctxgc.session.originals import Originals
from tests.heaps import count
from tests.session.growing import FREE, LISTING, Growing
from tests.session.scripts import agent, body, call, kit, memory, restored, result, send, user, values


@dataclass(frozen=True, slots=True)
class Names:
    """A policy that would have these tools' results go, from the turn after they came."""

    tools: tuple[str, ...] = ("lookup",)
    share: float = 0.0
    name: str = "names"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.tool in self.tools:
                yield Verdict(one.id, self.name, "stub", "not used", excerpt=self.share, since=one.turn)


@dataclass(slots=True)
class Looks:
    """A policy that remembers what it was shown."""

    seen: list[Heap]
    name: str = "looks"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        if not heap.eden:
            self.seen.append(heap)
        return ()


def free(store: object, *policies: object, **more: object) -> Kit:
    return kit(store, policies or (Names(),), tariff=lambda _: FREE, **more)  # type: ignore[arg-type]


def planned(found: Growing, policies: Sequence[object] = (Names(),), tariff: Tariff = FREE) -> Standing:
    """A plan for the request after the newest one, by a collector of its own."""
    session, used = found.session, found.used
    session.flush()
    head = session.tracks[0].head
    made = Collecting(session.state, policies, Pacer(), session._mint)  # type: ignore[arg-type]
    texts = Originals(used.codec.split(body(found.messages)), used.codec, session.state)
    return drain(made.standing(head, session.state.heads[head].toolset, tariff, frozenset(), texts, count))


# What policies see


def test_policies_see_results_and_reasoning_with_their_turns_and_references() -> None:
    seen: list[Heap] = []
    with memory() as store:
        found = Growing(kit(store, (Looks(seen),)))
        found.messages.append(agent("let me see", reasoning_content="a thought"))
        found.say(LISTING)
        found.answer("row_117 it is")
    residents = {one.tag: one for one in seen[-1].residents}
    assert set(residents) == {"agent_reasoning", "tool_result:lookup"}
    listing = residents["tool_result:lookup"]
    assert (listing.turn, listing.referenced, listing.references) == (2, 3, 1)
    assert (listing.sent, listing.tokens, listing.stale, listing.edited) == (listing.tokens, listing.tokens, "", "")
    assert [LISTING[at:].startswith("row_117") for at in listing.marks] == [True]
    assert seen[-1].turn == 4


def test_what_was_recalled_is_told_of_all_results_of_its_tool() -> None:
    seen: list[Heap] = []
    with memory() as store:
        found = Growing(free(store, Names(), Looks(seen)))
        found.say(LISTING)
        found.turns(2)
        (edit,) = found.collections()[0].edits
        assert found.session.recall(edit.handle, by="model") == LISTING
        found.say(LISTING + "more")
        found.turns(1)
    told: dict[str, set[int]] = {}
    for one in seen[-1].residents:
        told.setdefault(one.tool, set()).add(one.resurrected)
    assert told == {"lookup": {1}, "ping": {0}}


# Plan


def test_a_plan_says_what_each_candidate_saves_and_what_stands_behind_it() -> None:
    with memory() as store:
        found = Growing(kit(store, (Names(("none",)),)))
        found.say(LISTING)
        found.say(LISTING + "x")
        found.turns(1)
        standing = planned(found)
        state = found.session.state
        path = state.path(standing.head)
    assert [candidate.edit.cell for candidate in standing.plan.candidates] == [path[5].cells[0], path[3].cells[0]]
    behind = [sum(state.cells[cell].sent for node in path[at:] for cell in node.cells) for at in (5, 3)]
    assert [load.behind for load in standing.loads] == behind
    for load, candidate in zip(standing.loads, standing.plan.candidates, strict=True):
        assert load.saved == candidate.edit.before - candidate.edit.after


def test_the_same_is_planned_after_a_restart() -> None:
    with memory() as store:
        found = Growing(kit(store, preset("generational"), tariff=lambda _: Tariff(least=0)))
        found.say(LISTING)
        found.say("".join(f"def handler_{n}(): pass\n" for n in range(99)), "read_file", {"path": "/a.py"})
        found.answer("row_117")
        found.turns(4)
        policies = preset("generational")
        before = planned(found, policies)
        found.session = replace_session(found)
        assert planned(found, policies) == before
        assert before.loads


def replace_session(found: Growing) -> object:
    head = found.session.tracks[0]
    session = restored(found.used)
    session.tracks.appendleft(head)
    return session


def test_a_plan_is_the_same_however_often_it_is_made() -> None:
    with memory() as store:
        found = Growing(kit(store, (Names(("none",)),)))
        found.say(LISTING)
        assert planned(found) == planned(found)


# Decision


def test_what_goes_is_replaced_in_the_request_and_in_all_later_ones() -> None:
    with memory() as store:
        found = Growing(free(store))
        at = found.say(LISTING)
        assert found.sent[at]["content"] == LISTING
        gone = found.turns(1)[at]["content"]
        assert gone.startswith(stub.SIGIL)
        assert {sent[at]["content"] for sent in (found.turns(1), found.turns(1))} == {gone}
        assert len(found.collections()) == 1


def test_what_the_coming_request_refers_to_stays() -> None:
    with memory() as store:
        found = Growing(free(store))
        at = found.say(LISTING)
        assert found.answer("row_117 it is")[at]["content"] == LISTING
        assert found.answer("and nothing else")[at]["content"] != LISTING


def test_a_collection_of_young_cells_is_minor_and_any_other_major() -> None:
    for turns, generation in ((2, "minor"), (YOUNG + 2, "major")):
        with memory() as store:
            found = Growing(free(store, Idle(turns)))
            found.say(LISTING)
            found.turns(turns + 2)
            assert [one.generation for one in found.collections()] == [generation]


@dataclass(frozen=True, slots=True)
class Idle:
    """A policy that would have every result go after so many turns."""

    turns: int
    name: str = "idle"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.idle(heap.turn) >= self.turns:
                yield Verdict(one.id, self.name, "stub", "not used", excerpt=0.0)


def test_every_part_of_a_result_is_a_cell_of_its_own() -> None:
    with memory() as store:
        found = Growing(free(store))
        parts = [
            {"type": "text", "text": LISTING},
            {"type": "text", "text": "x"},
            {"type": "text", "text": LISTING + "y"},
        ]
        at = found.say(parts)
        sent = found.turns(1)[at]["content"]
        assert [part["text"].startswith(stub.SIGIL) for part in sent] == [True, False, True]
        for part, original in zip(sent, parts, strict=True):
            for handle in stub.handles(part["text"]):
                assert found.session.recall(handle) == original["text"]


def test_a_result_that_the_application_pinned_stays() -> None:
    with memory() as store:
        found = Growing(free(store))
        at = found.say(LISTING, ctxgc={"pin": True})
        assert found.turns(3)[at]["content"] == LISTING


def test_the_rules_of_a_plan_hold_for_whoever_is_resident() -> None:
    seen: list[Heap] = []
    with memory() as store:
        found = Growing(kit(store, (Looks(seen),)))
        found.messages += [agent(None, call("a"), call("b")), result("a", LISTING), result("b", "short"), user("x")]
        found.send()
        found.turns(1)
    positions = [one.position for one in seen[-1].residents]
    assert positions == sorted(positions)
    assert all(isinstance(one, Resident) and not one.pinned for one in seen[-1].residents)


# Branches


def branched(found: Growing, *more: dict[str, object]) -> list[dict[str, object]]:
    return values(send(found.session, body([*found.messages[:4], *more])).body)


def test_a_branch_sends_what_was_collected_on_another_as_it_is_sent_there() -> None:
    with memory() as store:
        found = Growing(free(store))
        at = found.say(LISTING)
        assert branched(found, agent("other"), user("way"))[at]["content"].startswith(stub.SIGIL)
        gone = found.turns(2)[at]["content"]
        again = branched(found, agent("other"), user("way"), agent("yes"), user("and"))
        assert again[at]["content"] == gone
        assert found.collections()[0].edits[0].text == gone
        assert len(found.collections()) == 1


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_two_requests_behind_the_same_one_collect_once(share: float) -> None:
    with memory() as store:
        found = Growing(free(store, Names(share=share)))
        at = found.say(LISTING)
        texts = {branched(found, agent("no"), user(f"try {number}"))[at]["content"] for number in range(3)}
        assert len(texts) == 1
        assert [len(one.edits) for one in found.collections()] == [1]


def test_sizes_are_those_of_the_originals_however_often_a_cell_is_edited() -> None:
    with memory() as store:
        found = Growing(free(store, Shrinking()))
        found.say(LISTING)
        found.turns(4)
        edits = [edit for one in found.collections() for edit in one.edits]
        assert len(edits) == 2
        assert edits[0].before == edits[1].before
        assert edits[1].after < edits[0].after
        assert {found.session.recall(edit.handle) for edit in edits} == {LISTING}


@dataclass(frozen=True, slots=True)
class Shrinking:
    """A policy that leaves half at first, and later nothing."""

    name: str = "shrinking"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.tool == "lookup":
                yield Verdict(one.id, self.name, "cut", "old", excerpt=0.5 if one.idle(heap.turn) < 3 else 0.0)


def test_control_a_policy_that_names_nothing_collects_nothing() -> None:
    with memory() as store:
        found = Growing(free(store, replace(Names(), tools=())))
        found.say(LISTING)
        found.turns(3)
        assert found.collections() == []
        assert found.sent == values(body(found.messages))
