"""Pointers: what stands for a repeated result points at one that is still there to be read."""

from __future__ import annotations

from ctxgc.core import stub
from ctxgc.core.policy import Policy
from ctxgc.policies.dedup import Dedup
from tests.session.gone import Gone
from tests.session.growing import FREE, LISTING, Growing
from tests.session.scripts import kit, memory, restored


def read_twice(*policies: Policy, forget: bool = False) -> tuple[str, str]:
    """The first result of two that are the same, as it was sent last before the second came; and the second."""
    with memory() as store:
        growing = Growing(kit(store, policies, tariff=lambda _: FREE))
        first = growing.say(LISTING, arguments={"q": 1})
        before = growing.turns(2)[first]["content"]
        if forget:
            growing.session.state.evacuated.clear()
        second = growing.say(LISTING, arguments={"q": 1})
        return before, growing.sent[second]["content"]


def test_a_pointer_never_points_at_what_was_evacuated() -> None:
    first, second = read_twice(Dedup(), Gone())
    assert first.startswith(stub.SIGIL)
    assert second == LISTING


def test_control_what_is_still_there_is_pointed_at() -> None:
    first, second = read_twice(Dedup())
    assert first == LISTING
    assert "unchanged" in second


def test_control_without_looking_it_would_point_at_what_is_gone() -> None:
    first, second = read_twice(Dedup(), Gone(), forget=True)
    assert first.startswith(stub.SIGIL)
    assert "unchanged" in second


def test_what_a_new_pointer_stands_for_does_not_go_with_the_same_request() -> None:
    with memory() as store:
        growing = Growing(kit(store, (Dedup(), Gone()), tariff=lambda _: FREE))
        first = growing.say(LISTING, arguments={"q": 1})
        second = growing.say(LISTING, arguments={"q": 1})
        assert growing.sent[first]["content"] == LISTING
        assert "unchanged" in growing.sent[second]["content"]


def test_after_a_restart_it_is_still_known_what_was_evacuated() -> None:
    with memory() as store:
        growing = Growing(kit(store, (Dedup(), Gone()), tariff=lambda _: FREE))
        growing.say(LISTING, arguments={"q": 1})
        growing.turns(2)
        growing.session.flush()
        growing.session = restored(growing.used)
        again = growing.say(LISTING, arguments={"q": 1})
        assert growing.sent[again]["content"] == LISTING
