"""What a session's input costs: two bills by one rule, and when a cache is taken to be cold."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ctxgc.core.journal import Allocation, Collection, Settlement, Usage, decode
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.policies import preset
from ctxgc.session import Kit, Session
from ctxgc.session.pacing import CACHELESS, cold, tariff_for
from tests.session.growing import FREE, LISTING, Growing
from tests.session.scripts import body, fresh, kit, memory, restored, send, system, user

WARM = Tariff(least=0)
EAGER = Pacer(patience=0, regret=9)


def paces(used: Kit, session: Session) -> list[Allocation]:
    session.flush()
    entries = (decode(stored.body) for stored in used.store.entries(session.key))
    return [entry for entry in entries if isinstance(entry, Allocation)]


def test_untouched_both_bills_are_the_same() -> None:
    with memory() as store:
        growing = Growing(kit(store, (), tariff=lambda _: WARM))
        growing.turns(4)
        found = [one.pace for one in paces(growing.used, growing.session)]
    assert all(one is not None and one.paid == one.untouched for one in found)


def test_a_bill_is_the_prefix_read_and_the_rest_written() -> None:
    with memory() as store:
        growing = Growing(kit(store, (), tariff=lambda _: WARM))
        growing.turns(3)
        state, entries = growing.session.state, paces(growing.used, growing.session)
        totals = [state.tokens(entry.head, entry.toolset, sent=False) for entry in entries]
        expected, before = 0.0, 0
        for entry, total in zip(entries, totals, strict=True):
            expected += before * WARM.read + (total - before) * WARM.write
            assert entry.pace is not None
            assert entry.pace.untouched == pytest.approx(expected)
            before = total


def test_a_collection_pays_for_what_stands_behind_it_once_and_less_afterwards() -> None:
    with memory() as store:
        growing = Growing(kit(store, growing_policies(), tariff=lambda _: WARM, pacer=EAGER))
        growing.say(LISTING)
        growing.turns(8)
        entries = paces(growing.used, growing.session)
    at = next(number for number, entry in enumerate(entries) if entry.pace and entry.pace.trigger)
    bills = [(entry.pace.paid, entry.pace.untouched) for entry in entries if entry.pace]
    steps = [(paid - bills[n][0], free - bills[n][1]) for n, (paid, free) in enumerate(bills[1:])]
    assert steps[at - 1][0] == pytest.approx(steps[at - 1][1] + entries[at].pace.price, rel=0.02)  # type: ignore[union-attr]
    later = [
        step for step, entry in zip(steps[at:], entries[at + 1 :], strict=True) if entry.pace and not entry.pace.trigger
    ]
    assert later
    assert all(paid < free for paid, free in later)


def growing_policies() -> tuple[Policy, ...]:
    return preset("generational")


def test_what_is_decided_is_in_the_journal_with_the_figures_it_was_decided_by() -> None:
    with memory() as store:
        growing = Growing(kit(store, growing_policies(), tariff=lambda _: FREE))
        growing.say(LISTING)
        growing.turns(6)
        entries = paces(growing.used, growing.session)
        calls = {
            entry.call
            for entry in (decode(stored.body) for stored in store.entries(growing.session.key))
            if isinstance(entry, Collection)
        }
    collecting = [entry for entry in entries if entry.pace and entry.pace.trigger]
    assert {entry.call for entry in collecting} == calls
    for entry in collecting:
        assert entry.pace is not None
        assert entry.pace.dead > 0
        assert (entry.pace.read, entry.pace.write) == (FREE.read, FREE.write)


# Cold or warm


def sent(state_of: Session, at: float, model: str = "gpt-5") -> bool:
    head = len(state_of.state.nodes) - 1
    return cold(state_of.state, replace(WARM, ttl=300), head, model, at)


def test_a_cache_is_cold_after_its_time_and_with_another_model() -> None:
    with memory() as store:
        session = fresh(kit(store))
        send(session, body([system(), user()]))
        assert not sent(session, 301.0)
        assert sent(session, 301.5)
        assert sent(session, 2.0, "gpt-4o")


def test_a_history_never_sent_is_cold() -> None:
    assert cold(State(), WARM, -1, "gpt-5", 1.0)


def test_a_helper_call_with_another_model_does_not_make_the_main_history_cold() -> None:
    with memory() as store:
        growing = Growing(kit(store, growing_policies(), tariff=lambda _: WARM))
        growing.say(LISTING)
        growing.turns(5)
        send(growing.session, body([system("name it"), user("x")], model="gpt-5-mini"))
        growing.turns(1)
        last = paces(growing.used, growing.session)[-1].pace
    assert last is not None
    assert not last.cold


def test_a_helper_call_does_not_keep_the_main_history_warm() -> None:
    clock = [0.0]
    with memory() as store:
        growing = Growing(kit(store, growing_policies(), tariff=lambda _: WARM, clock=lambda: clock[0]))
        growing.turns(2)
        clock[0] = 290.0
        send(growing.session, body([system("name it"), user("x")]))
        clock[0] = 500.0
        growing.turns(1)
        last = paces(growing.used, growing.session)[-1].pace
    assert last is not None
    assert last.cold


def settled(session: Session, call: bytes, **usage: int) -> None:
    session.settle(Settlement(at=1.0, call=call, outcome="ok", status=200, usage=Usage(**usage)))


@pytest.mark.parametrize(
    ("usages", "cacheless"),
    [
        ([{"uncached": 9000}] * CACHELESS, True),
        ([{"uncached": 9000}] * (CACHELESS - 1), False),
        ([{"uncached": 9000}] * CACHELESS + [{"uncached": 1000, "cached": 8000}], False),
        ([{"uncached": 100}] * 9, False),
        ([], False),
    ],
)
def test_a_provider_that_reads_nothing_from_a_cache_charges_all_alike(
    usages: list[dict[str, int]], cacheless: bool
) -> None:
    with memory() as store:
        used = kit(store, ())
        session, messages = fresh(used), [system(), user()]
        send(session, body(messages))
        for number, usage in enumerate(usages):
            messages = [*messages, user(json.dumps(number))]
            settled(session, session.prepare(body(messages)).call, **usage)
        assert (tariff_for(session.state, WARM).read == WARM.write) is cacheless
        session.flush()
        assert (tariff_for(restored(used).state, WARM).read == WARM.write) is cacheless
