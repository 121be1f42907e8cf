"""Faults of ours: a request goes on as it came, and the journal says why. Or, if audit is strict, it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from ctxgc.core.journal import Allocation, Bypass, Gap, Open, Settlement
from ctxgc.core.state import State
from ctxgc.proxy import tickets
from ctxgc.proxy.booking import Bookings
from ctxgc.session import Session, Sessions
from ctxgc.store import StoreBusy, StoreFull, StoreRefused, StoreUnavailable
from ctxgc.telemetry.counting import Counting
from tests.proxy.bodies import SMALL, agent, body, calling, result, tooled, user
from tests.proxy.client import KEY, request
from tests.proxy.stores import Refusal
from tests.proxy.upstream import DONE, completion, event, finish, stream

UNAVAILABLE = Refusal(StoreUnavailable("the disk is gone"))


def fault(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("sk-test-key")


def later_fault(*args: Any, **kwargs: Any) -> Any:
    yield
    raise RuntimeError("sk-test-key")


FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "preparing": (Session, "preparing", later_fault),
    "preparing, inside": (Session, "_prepare", later_fault),
    "recognising": ("ctxgc.session.coming", "recognise", later_fault),
    "projecting": ("ctxgc.session.projecting", "project", fault),
    "finding a session": (Sessions, "finding", later_fault),
    "finding, inside": (Sessions, "_by_chain", later_fault),
    "reading the credential's history": (Sessions, "_resume", fault),
    "admitting": (Session, "admitting", later_fault),
    "admission": ("ctxgc.session.booking", "admission", later_fault),
    "folding": (State, "_allocate", fault),
    "settling": (Session, "settle", fault),
    "estimating": (Session, "estimated", fault),
    "figures": (Counting, "_allocated", fault),
    "a policy": ("ctxgc.policies.truncate.Truncate", "propose", fault),
    "counting": ("ctxgc.tokens.measure.Meter", "measure", fault),
}


def break_(patch: pytest.MonkeyPatch, name: str) -> None:
    place, attribute, broken = FAULTS[name]
    if isinstance(place, str):
        patch.setattr(f"{place}.{attribute}", broken)
    else:
        patch.setattr(place, attribute, broken)


def arrives(call: Any, sent: bytes) -> None:
    assert call.body == sent


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_of_ours_lets_requests_and_answers_through(eden, upstream, monkeypatch, name):
    said = event("hello") + finish() + DONE
    upstream.answers(stream(said))
    sent = [body(user("one")), body(user("one"), agent(), user("two"))]
    with monkeypatch.context() as patch:
        break_(patch, name)
        for text in sent:
            answer = await eden.chat(text)
            assert (answer.status, answer.body, answer.whole) == (200, said, True)
            arrives(upstream.calls[-1], text)
    longer = body(user("one"), agent(), user("two"), agent(), user("three"))
    assert (await eden.chat(longer)).body == said
    arrives(upstream.calls[-1], longer)
    await eden.store.until(Settlement, 1)
    eden.check()


@pytest.mark.parametrize("name", FAULTS)
async def test_a_session_that_met_with_a_fault_goes_on_after_a_restart(start, upstream, monkeypatch, name):
    session = [KEY, ("x-ctxgc-session", "one-session")]
    messages = [user(), calling(), result()]
    async with start(**SMALL) as running:
        with monkeypatch.context() as patch:
            break_(patch, name)
            await running.chat(body(*messages), session)
        messages += [agent(), user()]
        await running.chat(body(*messages), session)
        running.check()
    async with start(**SMALL) as running:
        messages += [agent(), calling("call_2"), result("call_2")]
        await running.chat(body(*messages), session)
        await running.store.until(Settlement)
        states = running.check()
        assert max(state.calls for state in states) >= 2
        assert all(state.opened for state in states)


async def test_the_journal_says_what_was_wrong_and_not_more(observing, upstream, monkeypatch):
    monkeypatch.setattr(Session, "_prepare", later_fault)
    await observing.chat(body(user()))
    (bypass,) = observing.store.of(Bypass)
    assert bypass.reason == "fault: RuntimeError"


async def test_figures_that_fail_are_counted(observing, monkeypatch):
    monkeypatch.setattr(Counting, "_allocated", fault)
    await observing.chat(body(user()))
    metrics = (await observing.ask(request(method="GET", target="/metrics"))).body.decode()
    assert [line for line in metrics.splitlines() if "fault" in line and line.endswith(" 1.0")]


ERRORS = {
    "unavailable": UNAVAILABLE,
    "full": Refusal(StoreFull("no space")),
    "busy": Refusal(StoreBusy("locked")),
    "refused": Refusal(StoreRefused("never")),
    "raising": StoreUnavailable("at once"),
    "a fault": RuntimeError("of the store's own"),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_a_store_that_takes_nothing_does_not_stop_an_answer(eden, upstream, name):
    eden.store.error = ERRORS[name]
    for text in (body(user()), body(user(), agent(), user())):
        answer = await eden.chat(text)
        assert (answer.status, answer.body) == (200, completion())
        arrives(upstream.calls[-1], text)
    eden.store.error = None
    await eden.chat(body(user(), agent(), user(), agent(), user()))
    await eden.store.until(Settlement)
    eden.check()


@pytest.mark.parametrize("name", ["unavailable", "full", "busy", "raising", "a fault"])
async def test_once_the_store_is_back_nothing_is_missing_and_a_gap_says_how_much_was_late(eden, upstream, name):
    eden.store.error = ERRORS[name]
    first = [user(), calling(), result()]
    await eden.chat(body(*first))
    eden.store.error = None
    await eden.chat(body(*first, agent(), user("again")))
    (gap,) = await eden.store.until(Gap)
    assert gap.calls >= 1
    assert (len(eden.store.of(Open)), len(eden.store.of(Allocation))) == (1, 2)
    assert len(await eden.store.until(Settlement, 2)) == 2
    (state,) = eden.check()
    assert state.calls == 2


async def test_a_store_that_cannot_be_read_either_does_not_stop_an_answer(eden, upstream):
    eden.store.error, eden.store.reading = UNAVAILABLE, StoreUnavailable("gone")
    for headers in ([KEY], [KEY, ("x-ctxgc-session", "named-session")]):
        for text in (tooled(), b"{"):
            answer = await eden.chat(text, headers)
            assert answer.status == 200
            arrives(upstream.calls[-1], text)
    eden.store.error = eden.store.reading = None
    await eden.chat(b"{")
    reasons = [bypass.reason for bypass in await eden.store.until(Bypass, 5)]
    assert [reason.partition(":")[0] for reason in reasons] == ["fault", "malformed", "fault", "fault", "malformed"]
    await eden.chat(tooled())
    assert eden.store.of(Allocation)
    eden.check()


async def test_a_store_that_never_answers_holds_the_end_for_so_long_and_no_longer(observing, monkeypatch):
    monkeypatch.setattr("ctxgc.proxy.slices.PATIENCE", 0.01)
    observing.store.held = True
    answer = await observing.chat(body(user()))
    assert (answer.body, answer.whole) == (completion(), True)
    observing.store.release()


# Strict


@pytest.mark.parametrize("name", ["unavailable", "full", "busy", "refused", "raising", "a fault"])
async def test_strict_answers_503_and_sends_nothing(start, upstream, name):
    async with start(audit="strict", **SMALL) as running:
        running.store.error = ERRORS[name]
        answer = await running.chat(tooled())
        assert (answer.status, answer.error["code"]) == (503, "audit_unavailable")
        assert not upstream.calls
        running.store.error = None
        assert (await running.chat(tooled())).status == 200
        assert len(upstream.calls) == 1
        await running.store.until(Settlement)
        for state in running.check():
            assert not state.unsettled


async def test_strict_does_not_wait_for_ever(start, upstream, monkeypatch):
    monkeypatch.setattr("ctxgc.proxy.slices.PATIENCE", 0.01)
    async with start(audit="strict") as running:
        running.store.held = True
        assert (await running.chat(body(user()))).status == 503
        assert not upstream.calls
        running.store.release()


@pytest.mark.parametrize("name", ["finding a session", "preparing", "projecting", "admission", "a policy"])
async def test_strict_lets_a_fault_of_ours_through_if_it_is_on_record(start, upstream, monkeypatch, name):
    async with start(audit="strict", **SMALL) as running:
        break_(monkeypatch, name)
        assert (await running.chat(tooled())).status == 200
        assert running.store.of(Bypass)


async def test_strict_sends_nothing_of_what_cannot_be_booked(start, upstream, monkeypatch):
    monkeypatch.setattr(Session, "admitting", later_fault)
    async with start(audit="strict") as running:
        assert (await running.chat(body(user()))).status == 503
        assert not upstream.calls


async def waits_for_the_intent(running, upstream) -> None:
    """Nothing leaves while the store has not said that the intent is on disk."""
    running.store.held = True
    asking = asyncio.create_task(running.chat(body(user())))
    await running.store.until(Allocation)
    await running.ask(request(method="GET", target="/healthz"))
    connections = upstream.connections
    running.store.release()
    assert (await asking).status == 200
    assert connections == 0, "it left before its intent was on disk"


async def test_with_strict_the_intent_is_on_disk_before_the_first_byte_leaves(start, upstream):
    async with start(audit="strict") as running:
        await waits_for_the_intent(running, upstream)


async def test_waiting_for_the_intent_is_our_time_and_not_the_upstreams(start, upstream, monkeypatch):
    late, wait = [0.0], Bookings.intent

    async def slow(self, ticket):
        late[0] = 1000.0
        return await wait(self, ticket)

    monkeypatch.setattr(Bookings, "intent", slow)
    monkeypatch.setattr(tickets, "perf_counter", lambda: perf_counter() + late[0])
    async with start(audit="strict") as running:
        assert (await running.chat(body(user()))).status == 200
        (settled,) = running.store.of(Settlement)
    assert settled.overhead > 1000
    assert settled.duration < 500


async def test_the_check_finds_that_available_does_not_wait(observing, upstream):
    with pytest.raises(AssertionError, match="before its intent"):
        await waits_for_the_intent(observing, upstream)


async def test_what_a_failing_store_did_not_take_is_offered_again_though_nothing_more_is_asked(
    start, upstream, monkeypatch
):
    monkeypatch.setattr("ctxgc.proxy.server._RETRY", 0.01)
    async with start(**SMALL) as running:
        running.store.error = UNAVAILABLE
        assert (await running.chat(tooled())).status == 200
        assert not running.store.of(Allocation)
        running.store.error = None
        assert len(await running.store.until(Settlement)) == 1
        (state,) = running.check()
        assert state.calls == 1


async def test_what_a_failing_store_did_not_take_is_offered_again_at_the_end(start, upstream):
    async with start(**SMALL) as running:
        running.store.error = UNAVAILABLE
        assert (await running.chat(tooled())).status == 200
        running.store.error = None
    assert len(running.store.of(Settlement)) == 1
