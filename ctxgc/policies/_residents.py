"""What policies over residents share: which cells they may name, how they name them, and how parameters are checked.

Rule: what is pinned is never named, and neither is what would hardly become smaller.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Urgency, Verdict


def results(heap: Heap) -> Iterator[Resident]:
    """The tool results that are not pinned, in the order of ``heap.residents``."""
    return (one for one in heap.residents if one.kind is Kind.TOOL_RESULT and not one.pinned)


def in_order(heap: Heap) -> list[Resident]:
    """All tool results that were sent before, pinned ones too, as the model reads them."""
    return sorted((one for one in heap.residents if one.kind is Kind.TOOL_RESULT), key=lambda one: one.position)


def arrived(heap: Heap) -> int:
    """How many tool results came with this request: they are the newest, behind all residents."""
    return sum(one.block.kind is Kind.TOOL_RESULT for one in heap.eden)


def shortened(
    policy: str, heap: Heap, one: Resident, share: float, reason: str, since: int, urgency: Urgency = "priced"
) -> Iterator[Verdict]:
    """The verdict that leaves an excerpt of ``share`` (0 to 1) of a result, or a stub; none where that saves nothing.

    ``since`` is the first turn at which it was dead.
    """
    if one.points or one.sent > left_of(heap, one, share):
        action = "excerpt" if share else "stub"
        yield Verdict(one.id, policy, action, reason, excerpt=share, since=since, urgency=urgency)


def left_of(heap: Heap, one: Resident, share: float) -> int:
    """The tokens that an excerpt of ``share`` of a cell may take: never less than a stub does."""
    return max(heap.stub_tokens, int(share * one.tokens))


def spared(one: Resident, now: int, quotable_idle: int = 0) -> bool:
    """Whether an edit may have to quote it: not after ``quotable_idle`` turns without a reference (0: always)."""
    return one.quotable and not (quotable_idle and one.idle(now) >= quotable_idle)


def turns(number: int) -> str:
    """``1 turn``, ``7 turns``."""
    return "1 turn" if number == 1 else f"{number} turns"


def check_shares(**shares: float) -> None:
    """Raise ``ValueError`` for a parameter that is no share between 0 and 1."""
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise ValueError(f"{name} is a share between 0 and 1, not {share}")


def check_least(least: int, **numbers: int) -> None:
    """Raise ``ValueError`` for a parameter that is below ``least``."""
    for name, number in numbers.items():
        if number < least:
            raise ValueError(f"{name} is at least {least}, not {number}")
