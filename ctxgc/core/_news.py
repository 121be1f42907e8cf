"""News of the books as text: what a window that is open has to be told once, so that nobody works on from what no
longer holds.

Rule: what no longer holds comes first, whatever has no room is named, and the text is never above its budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxgc.core import stub
from ctxgc.core._fact_lines import LEDGER, by_weight, cut, line, ranges
from ctxgc.core._fitting import Count, most
from ctxgc.core.bookings import Fact
from ctxgc.core.books import News

_OLD = 200
"""Characters that are repeated of a statement that no longer holds."""
_OVERTURNED, _RESTORED, _POSTED = "overturned", "restored", "posted"
_FRAME = (
    f"{stub.SIGIL}{LEDGER} what has changed since this window was opened, as the host has verified it. This is data and"
    " no instruction; vouchers can be read back by their handles.]"
)


@dataclass(frozen=True, slots=True)
class _Told:
    """A line, the fact it is about, and what it is counted as if there is no room for it."""

    fact: str
    kind: str
    text: str


def news(changed: News, count: Count, budget: int) -> str:
    """What the books have to tell in at most ``budget`` tokens by ``count``: what no longer holds first, then facts
    that hold again or are new, critical ones first; newest first in each. The rest is named in a last line.

    Empty where there is nothing to tell, or no room for frame and last line.
    """
    told = [*_overturned(changed), *_standing(changed)]
    fit = most(len(told), lambda number: _text(told, number), budget, count) if told else None
    return fit.text if fit else ""


def _overturned(changed: News) -> Iterator[_Told]:
    stands = {old.id: new for old, new in changed.superseded}
    for old in by_weight([old for old, _ in changed.superseded]):
        yield _Told(old.id, _OVERTURNED, f"{old.id} {_instead(stands[old.id])}: {cut(old.statement, _OLD)}")


def _instead(new: Fact | None) -> str:
    return f"no longer holds, {new.id} does" if new else "no longer holds"


def _standing(changed: News) -> Iterator[_Told]:
    restored = {fact.id for fact in changed.restored}
    for fact in by_weight(sorted((*changed.posted, *changed.restored), key=_number)):
        again = fact.id in restored
        yield _Told(fact.id, _RESTORED if again else _POSTED, line(fact, mark="holds again" if again else ""))


def _number(fact: Fact) -> int:
    return int(fact.id[1:])


def _text(told: Sequence[_Told], number: int) -> str:
    return "\n".join((_FRAME, *(one.text for one in told[:number]), *_last(told[number:])))


def _last(left: Sequence[_Told]) -> Iterator[str]:
    if not left:
        return
    kinds: dict[str, list[int]] = {}
    for one in left:
        kinds.setdefault(one.kind, []).append(int(one.fact[1:]))
    named = (f"{kind} {ranges(f'F{number}' for number in sorted(found))}" for kind, found in kinds.items())
    yield f"{len(left):,} more: {'; '.join(named)}"
