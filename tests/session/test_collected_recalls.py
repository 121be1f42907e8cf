"""What was collected of the residents is recalled, and the session goes on collecting: both in one history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from ctxgc.core import stub
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.journal import Allocation, Insertion
from ctxgc.core.pacer import Tariff
from ctxgc.core.policy import Verdict
from ctxgc.lab.carried import carried
from ctxgc.policies.keep_last_n import KeepLastN
from ctxgc.session import pacing, projection
from ctxgc.session.originals import disagreements
from ctxgc.session.recalling import TAG
from ctxgc.store import Store
from tests.session import checks
from tests.session.growing import FREE, LISTING
from tests.session.recalls import Reading, recalling
from tests.session.scripts import EAGER, Known, Script, memory, scripts
from tests.session.test_recalls import RECALLS, figures, play

WARM = Tariff(least=0)
POLICIES = (KeepLastN(n=4),)
OTHER = LISTING.replace("row", "line").replace("shelf", "drawer")


def reading(store: Store, **changes: Any) -> Reading:
    """A conversation in which whatever is dead goes at once."""
    return Reading(recalling(store, POLICIES, **{"tariff": lambda _: FREE, **changes}))


def handle(messages: Iterable[dict[str, Any]]) -> str:
    """The first handle that the model sees."""
    return next(found for one in messages for found in stub.handles(str(one.get("content"))))


def story(store: Store, *, restarts: bool = False) -> Iterator[Reading]:
    """A listing is collected, and recalled; then another is collected. Given after each of the three."""
    told = reading(store)
    told.say(LISTING)
    told.turns(6)
    yield told
    if restarts:
        told.restart()
    told.recall(handle(told.sent))
    told.say(OTHER)
    yield told
    if restarts:
        told.restart()
    told.turns(6)
    yield told


def answers(messages: Iterable[dict[str, Any]]) -> list[str]:
    """What the model was given back."""
    return [one["content"] for one in messages if str(one.get("content")).startswith("recalled from")]


def test_a_recall_stays_in_the_history_that_goes_on_being_collected() -> None:
    with memory() as store:
        *_, told = story(store)
        assert len(told.collections()) >= 2
        (answer,) = answers(told.sent)
        assert LISTING in answer
        assert not any(OTHER in str(one["content"]) for one in told.sent)
        kinds = [type(entry) for entry in told.entries()]
        assert kinds.index(Insertion) < len(kinds) - 1 - kinds[::-1].index(type(told.collections()[-1]))
        assert told.reasons() == []


def test_the_session_holds_together() -> None:
    with memory() as store:
        for told in story(store):
            told.session.flush()
            checks.rebuilds(told.session, told.used)
            checks.originals(told.session, told.used)
            checks.attribution(told.session.state)
            figures(told.used, told.session)


def test_a_collection_that_forgets_what_was_recalled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a projection of the whole history without what is ours in it."""
    ours = projection._ours
    forgetful = lambda state, track, *rest: ours(state, track, *rest) if track else [[] for _ in range(rest[1] + 1)]  # noqa: E731
    monkeypatch.setattr(projection, "_ours", forgetful)
    with memory() as store:
        *_, told = story(store)
        assert answers(told.sent) == []
        assert list(disagreements(told.entries(), store, told.used.codec)) != []


def test_restarts_in_between_change_no_byte() -> None:
    with memory() as one, memory() as other:
        *_, live = story(Known(one))
        *_, forgetful = story(Known(other), restarts=True)
        assert live.left == forgetful.left


def test_without_a_collection_what_was_sent_stays_the_beginning() -> None:
    with memory() as store:
        _, told, _ = story(store)
        begun = told.sent
        assert told.say("x")
        assert told.sent[: len(begun)] == begun


def test_what_was_recalled_is_never_collected() -> None:
    with memory() as store:
        *_, told = story(store)
        told.turns(30)
        ours = {cell for one in told.session.state.own.inserted.values() for each in one for cell in each.cells}
        assert {told.session.state.cells[cell].tag for cell in ours} == {TAG}
        assert not ours & {edit.cell for one in told.collections() for edit in one.edits}
        assert LISTING in answers(told.sent)[0]


# What stubs say


@pytest.mark.parametrize("offered", [True, False])
def test_only_where_the_tool_is_not_offered_does_a_stub_say_how_to_see_the_rest(offered: bool) -> None:
    with memory() as store:
        told = reading(store, recall=offered)
        told.say(LISTING)
        told.turns(6)
        texts = [edit.text for one in told.collections() for edit in one.edits]
        assert texts
        assert all(("call again" in text) is not offered for text in texts)


def test_a_history_keeps_to_what_it_was_offered_when_the_setting_changes() -> None:
    with memory() as store:
        told = reading(store)
        told.say(LISTING)
        told.used = replace(told.used, recall=False)
        told.restart()
        told.turns(6)
        assert not any("call again" in edit.text for one in told.collections() for edit in one.edits)


# What a recall teaches


class Watching:
    """A policy that only notes what it is shown."""

    name = "watching"

    def __init__(self) -> None:
        self.seen: dict[str, Resident] = {}

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        self.seen |= {one.tool: one for one in heap.residents}
        return ()


def test_a_recall_by_the_model_raises_what_is_known_of_the_tool() -> None:
    with memory() as store:
        watching = Watching()
        told = Reading(recalling(store, (*POLICIES, watching), tariff=lambda _: FREE))
        told.say(LISTING)
        told.turns(6)
        assert watching.seen["lookup"].resurrected == 0
        told.recall(handle(told.sent))
        told.turns(1)
        assert (watching.seen["lookup"].resurrected, watching.seen["ping"].resurrected) == (1, 0)


# What it costs


def bills(told: Reading) -> tuple[list[float], list[float]]:
    """The bills by hand, request by request, of a session each of whose requests goes on from the one before."""
    paid, untouched = [0.0], [0.0]
    left = came = 0
    for one in carried(told.entries()).requests:
        paid.append(paid[-1] + WARM.read * left + WARM.write * (one.total_sent - left))
        left = one.total_sent
        if one.total:
            untouched.append(untouched[-1] + WARM.read * came + WARM.write * (one.total - came))
            came = one.total
    return paid[1:], untouched[1:]


def recalled_once(store: Store) -> Reading:
    told = Reading(recalling(store, EAGER, tariff=lambda _: WARM))
    told.say(LISTING)
    told.recall(handle(told.sent))
    told.turns(2)
    return told


def test_the_tool_and_what_was_recalled_count_as_paid_and_not_as_untouched() -> None:
    with memory() as store:
        told = recalled_once(store)
        paces = [one.pace for one in told.entries() if isinstance(one, Allocation) and one.pace]
        paid, untouched = bills(told)
        assert told.collections() == []
        assert [one.paid for one in paces] == pytest.approx(paid)
        assert sorted({one.untouched for one in paces}) == pytest.approx(untouched)


def test_the_bills_by_hand_find_a_pace_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_paid", lambda pending, state, *rest: pacing._untouched(pending, state, *rest[:3]))
    with memory() as store:
        told = recalled_once(store)
        paces = [one.pace for one in told.entries() if isinstance(one, Allocation) and one.pace]
        assert [one.paid for one in paces] != pytest.approx(bills(told)[0])


def test_what_was_recalled_is_fresh_until_it_has_left() -> None:
    with memory() as store:
        told = recalled_once(store)
        state = told.session.state
        inserted = next(iter(state.own.inserted))
        assert state.fresh(inserted) == 0
        first, second = _rounds(told, inserted)
        ours = sum(state.cells[cell].sent for each in state.own.behind(inserted) for cell in each.cells)
        assert sum(state.left(inserted).values()) - sum(state.left(inserted, second.call).values()) == ours
        assert state.left(inserted, first.call) == state.sent(inserted)


def _rounds(told: Reading, head: int) -> list[Allocation]:
    """The request in whose reply the model asked, and the one with the answer."""
    return [one for one in told.entries() if isinstance(one, Allocation) and one.head == head][-2:]


# Any script


@given(scripts(own=True), RECALLS)
@settings(max_examples=40)
def test_a_session_that_collects_and_recalls_holds_together(script: Script, recalls: list[bool]) -> None:
    with memory() as store:
        used = recalling(store, (*EAGER, KeepLastN(n=1)), tariff=lambda _: FREE)
        session, _ = play(script, used, recalls)
        checks.rebuilds(session, used)
        checks.originals(session, used)
        checks.attribution(session.state)
        figures(used, session)
