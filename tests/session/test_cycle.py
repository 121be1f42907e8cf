"""The cycle of collections: marked and planned after a request, decided with the next; faults stop nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from ctxgc.core.heap import Heap
from ctxgc.core.journal import Allocation, Marking
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies.budget import Budget
from ctxgc.session import cycle
from ctxgc.session.collecting import Collecting
from tests.session import checks
from tests.session.growing import FREE, LISTING, Growing
from tests.session.scripts import Known, agent, body, kit, memory, restored, send, system, user, values


@dataclass(frozen=True, slots=True)
class Names:
    """A policy that would have the results of ``lookup`` go."""

    name: str = "names"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return [
            Verdict(one.id, self.name, "stub", "not used", excerpt=0.0)
            for one in heap.residents
            if one.tool == "lookup"
        ]


class Raises:
    name = "raises"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        if not heap.eden:
            raise LookupError
        return ()


def growing(store: object, *policies: Policy, tariff: Tariff = FREE, **more: object) -> Growing:
    return Growing(kit(store, policies or (Names(),), tariff=lambda _: tariff, **more))  # type: ignore[arg-type]


def paces(found: Growing) -> list[str]:
    return [one.pace.trigger for one in found.entries() if isinstance(one, Allocation) and one.pace]


def test_nothing_is_collected_before_it_has_been_sent_once() -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        assert found.sent[at]["content"] == LISTING
        assert found.turns(1)[at]["content"] != LISTING


def test_without_policies_nothing_is_marked_or_planned() -> None:
    with memory() as store:
        found = Growing(kit(store, (), tariff=lambda _: FREE))
        found.say(LISTING)
        found.answer("row_117")
        assert not [one for one in found.entries() if isinstance(one, Marking)]
        assert found.sent == values(body(found.messages))


def test_a_session_that_went_plain_collects_nothing_more() -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        found.session.go_plain(found.prepared[-1].call, "refused")
        assert found.turns(3)[at]["content"] == LISTING
        assert found.collections() == []


def test_what_was_not_seen_before_is_not_collected_from() -> None:
    with memory() as store:
        found = growing(store)
        messages = [system("another"), user("task"), agent("so"), user("x")]
        assert values(send(found.session, body(messages)).body) == messages
        assert found.collections() == []


# Room


def test_a_full_window_makes_room_and_the_budget_says_whose() -> None:
    tariff = Tariff(window=6000, least=0)
    with memory() as store:
        found = growing(store, Budget(), tariff=tariff)
        for number in range(6):
            found.say(LISTING + str(number))
        sent = found.session.state.tokens(found.session.tracks[0].head, 0, sent=True)
        assert "window" in paces(found)
        assert sent < 6000 < found.session.state.tokens(found.session.tracks[0].head, 0, sent=False)


def test_control_with_room_enough_the_budget_takes_nothing() -> None:
    with memory() as store:
        found = growing(store, Budget(), tariff=Tariff(window=10**6, least=0))
        for number in range(6):
            found.say(LISTING + str(number))
        assert found.collections() == []


def test_a_budget_with_a_target_is_a_quality_budget() -> None:
    with memory() as store:
        found = growing(store, Budget(target=4000), tariff=Tariff(least=0))
        for number in range(6):
            found.say(LISTING + str(number))
        assert "quality" in paces(found)


def test_a_large_request_is_planned_for_anew_before_it_leaves() -> None:
    """What is new alone fills the window: the plan that was made before it came had no need to make room."""
    with memory() as store:
        found = growing(store, Budget(), tariff=Tariff(window=8000, least=0))
        at = found.say(LISTING)
        found.messages += [agent("so"), user("word " * 4000)]
        assert found.send()[at]["content"] != LISTING


@pytest.mark.parametrize("target", [3000, 4000])
def test_a_restart_does_not_change_what_goes_for_want_of_room(target: int) -> None:
    sent = []
    for forgetful in (False, True):
        with memory() as store:
            found = growing(Known(store), Budget(), Names(), tariff=Tariff(least=0), pacer=Pacer(quality=target))
            for number in range(6):
                found.say(LISTING[: 1000 * number + 500] + str(number), "read")
                if forgetful:
                    found.session.flush()
                    found.session = restored(found.used)
            sent.append([prepared.body for prepared in found.prepared])
    assert sent[0] == sent[1]


# Histories beside each other


def test_plans_of_many_branches_are_kept_within_bounds() -> None:
    with memory() as store:
        found = growing(store, tariff=Tariff())
        for number in range(3 * cycle.TRACKS):
            send(found.session, body([*found.messages, agent("or"), user(str(number))]))
        found.session.admit()
        assert len(found.session._cycle._standing) <= cycle.TRACKS


def test_the_bytes_of_other_branches_are_made_anew_when_a_shared_message_goes() -> None:
    with memory() as store:
        found = growing(store)
        at = found.say(LISTING)
        other = [*found.messages, agent("other"), user("way")]
        main = [*found.messages]
        found.messages = other
        assert found.send()[at]["content"] != LISTING
        found.messages = [*main, agent("main")]
        found.send()
        found.messages = [*other, agent("yes"), user("and")]
        found.send()
        found.session.flush()
        checks.originals(found.session, found.used)
        checks.rebuilds(found.session, found.used)


def test_a_plan_that_another_branch_has_overtaken_is_made_anew() -> None:
    with memory() as store:
        found = growing(store, Idle(4))
        at = found.say(LISTING)
        found.turns(3)
        send(found.session, body([*found.messages[: at + 1], agent("row_117 it is"), user("good")]))
        assert found.turns(1)[at]["content"] == LISTING


def test_control_without_the_other_branch_it_goes() -> None:
    with memory() as store:
        found = growing(store, Idle(4))
        at = found.say(LISTING)
        found.turns(3)
        assert found.sent[at]["content"] == LISTING
        assert found.turns(1)[at]["content"] != LISTING


@dataclass(frozen=True, slots=True)
class Idle:
    """A policy that would have every result go after so many turns without a reference."""

    turns: int
    name: str = "idle"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.idle(heap.turn) >= self.turns:
                yield Verdict(one.id, self.name, "stub", "not used", excerpt=0.0)


# Faults


def test_a_policy_that_fails_is_said_once_and_the_others_collect() -> None:
    with memory() as store:
        found = growing(store, Raises(), Names())
        at = found.say(LISTING)
        assert found.turns(3)[at]["content"] != LISTING
        assert found.reasons() == ["policy failed: LookupError"]


@pytest.mark.parametrize("name", ["standing", "decide"])
def test_a_fault_of_the_collector_stops_no_request(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise LookupError

    with memory() as store:
        found = growing(store)
        monkeypatch.setattr(Collecting, name, broken)
        at = found.say(LISTING)
        assert found.turns(3)[at]["content"] == LISTING
        assert all(not prepared.bypass for prepared in found.prepared)
        checks.originals(found.session, found.used)


def test_what_may_not_be_edited_does_not_keep_the_rest_from_being_collected() -> None:
    """Signed reasoning and what a user calls reasoning stay; a policy that names them blocks nothing."""
    signed = {"reasoning": "a long thought " * 40, "reasoning_details": [{"type": "text", "text": "x"}]}
    with memory() as store:
        found = growing(store, Everything())
        found.messages += [agent("so", **signed), {**user("ok"), "reasoning_content": "mine " * 99}]
        at = found.say(LISTING)
        sent = found.turns(2)
        assert sent[at]["content"] != LISTING
        assert sent[2:4] == found.messages[2:4]
        assert found.reasons() == []


@dataclass(frozen=True, slots=True)
class Everything:
    name: str = "everything"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return [Verdict(one.id, self.name, "stub", "not used", excerpt=0.0) for one in heap.residents]
