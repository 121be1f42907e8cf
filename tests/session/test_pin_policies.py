"""Policies that pin: what a session asks them when cells are made, and what becomes of a request where one fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ctxgc.core.heap import Heap
from ctxgc.core.journal import Bypass, decode
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies.pin import Pin
from tests.session.gone import Gone
from tests.session.growing import FREE, LISTING, Growing
from tests.session.scripts import EAGER, LONG, body, exchange, fresh, kit, memory, restored, send, system, user, values


def shown(policies: Sequence[Policy]) -> tuple[list[Any], list[bool]]:
    """What is sent of two long results, of ``search`` for 1 and of ``find_pages`` for 2, and whether each is pinned."""
    messages = [system(), user(), *exchange(1), *exchange(2, name="find_pages")]
    with memory() as store:
        session, sent = fresh(kit(store, policies)), []
        for end in (4, 6):  # a request each, so that both are eden
            sent = [message["content"] for message in values(send(session, body(messages[:end])).body)]
        session.flush()
        states = (session.state, restored(kit(store, policies)).state)
        pins = [[state.cells[state.nodes[at].cells[0]].pinned for at in (3, 5)] for state in states]
    assert pins[0] == pins[1], "the same after a restart"
    return [sent[3], sent[5]], pins[0]


@pytest.mark.parametrize(
    ("pin", "pinned"),
    [
        (Pin(tags=("tool_result:search",)), [True, False]),
        (Pin(tags=("retrieval:*",)), [False, True]),
        (Pin(sites=('search({"q":1})',)), [True, False]),
        (Pin(sites=("*:2})",)), [False, True]),
        (Pin(tags=("retrieval:*",), sites=("search(*",)), [True, True]),
        (Pin(tags=("search",), sites=("tool_result:*",)), [False, False]),
    ],
)
def test_a_policy_pins_by_tag_and_by_site(pin: Pin, pinned: list[bool]) -> None:
    sent, found = shown((*EAGER, pin))
    assert found == pinned
    assert [text == LONG for text in sent] == pinned, "what is pinned goes as it came, and nothing else"


def test_control_without_it_both_are_edited() -> None:
    sent, found = shown(EAGER)
    assert found == [False, False]
    assert LONG not in sent


def test_what_a_policy_pinned_is_not_evacuated_later() -> None:
    for pin, stays in ((Pin(sites=("lookup(*",)), True), (Pin(sites=("other(*",)), False)):
        with memory() as store:
            growing = Growing(kit(store, (pin, Gone()), tariff=lambda _: FREE))
            at = growing.say(LISTING)
            assert (growing.turns(3)[at]["content"] == LISTING) is stays


@dataclass(frozen=True, slots=True)
class Broken:
    """A policy that fails when it is asked what to pin, or where it keeps that."""

    fault: type[Exception] = RuntimeError
    name: str = "broken"

    def pins(self, tag: str, site: str) -> bool:
        raise self.fault(tag)

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        return ()


def reported(*policies: Policy) -> tuple[set[str], str, list[Any]]:
    """The faults in the journal and in the answer, and what was sent."""
    with memory() as store:
        used = kit(store, policies)
        session = fresh(used)
        prepared = send(session, body([system(), user(), *exchange(1)]))
        session.flush()
        entries = (decode(stored.body) for stored in store.entries(session.key))
        faults = {entry.reason for entry in entries if isinstance(entry, Bypass)}
        return faults, prepared.bypass, [message["content"] for message in values(prepared.body)]


@pytest.mark.parametrize("fault", [RuntimeError, KeyError, RecursionError])
def test_a_policy_that_fails_pins_and_is_reported(fault: type[Exception]) -> None:
    faults, said, sent = reported(*EAGER, Broken(fault))
    assert faults == {f"policy failed: {fault.__name__}"}
    assert f"policy failed: {fault.__name__}" in said
    assert sent[3] == LONG, "what cannot be asked about is kept"


def test_control_a_policy_that_does_not_fail_is_not_reported_and_pins_nothing() -> None:
    faults, said, sent = reported(*EAGER, Pin())
    assert (faults, said) == (set(), "")
    assert sent[3] != LONG


def test_what_a_failing_policy_pinned_is_pinned_in_the_journal() -> None:
    sent, pinned = shown((*EAGER, Broken()))
    assert (sent, pinned) == ([LONG, LONG], [True, True])
