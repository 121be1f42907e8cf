"""Facts as lines of text, and what is left of many facts where there is no room for them.

Rule: a fact is one line that ends with our pointer into its voucher; its statement can break no line, hide nothing and
pass for no stub. What only names facts has a bounded length, however many they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ctxgc.core import stub
from ctxgc.core.bookings import Evidence, Fact

SHORT = 400
"""Characters of a statement in a window; the whole one stands in the full list and in the ledger."""
RANGES = 8
"""Ranges of ids that are named at most."""
POINTERS = 3
"""Pointers of a fact in a window."""
LEDGER = "ledger"
"""What stands in the frame where there is no handle yet."""

_ODD = re.compile(r"[^\x20-\x7e]")
_JOINERS = "\u200c\u200d"


def plain(text: str) -> str:
    """Text of others on one line: no control or hidden characters, no lone surrogates, and nothing like a stub."""
    return stub.defuse(_ODD.sub(_seen, " ".join(text.split())))


def _seen(found: re.Match[str]) -> str:
    letter = found[0]
    category = unicodedata.category(letter)
    if category == "Cs":
        return "\ufffd"
    return "" if category[0] == "C" and letter not in _JOINERS else letter


def cut(statement: str, limit: int) -> str:
    """At most ``limit`` characters of a statement (0: all) as ``plain`` text, and how many it has if that is more."""
    if not limit or len(statement) <= limit:
        return plain(statement)
    return f"{plain(statement[:limit])}… ({len(statement):,} characters in all)"


def by_weight(facts: Sequence[Fact]) -> list[Fact]:
    """Facts in the order of posting as they are told: critical ones first, and the newest first of each kind."""
    newest = facts[::-1]
    return sorted(newest, key=lambda fact: fact.criticality != "critical")


def line(fact: Fact, limit: int = SHORT, mark: str = "") -> str:
    """A fact as it stands in a window: id, what there is to say of it, statement, and pointers into its vouchers."""
    critical = fact.criticality if fact.criticality == "critical" else ""
    head = " ".join(filter(None, (fact.id, critical, mark)))
    return f"{head}: {cut(fact.statement, limit)} {pointers(fact.source, POINTERS if limit else 0)}"


def pointers(source: Iterable[Evidence], most: int = 0) -> str:
    """Where facts rest: voucher and lines of each evidence, ``most`` of them at most (0: all)."""
    found = list(dict.fromkeys(f"[{one.artifact} lines {one.line_first}-{one.line_last}]" for one in source))
    shown = found[:most] if most else found
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return " ".join(shown) + more


def ranges(facts: Iterable[str]) -> str:
    """Ids of facts in the order of posting, as in ``F1-F37, F40``: the newest 8 ranges, and how many come before."""
    runs = list(_runs(int(name[1:]) for name in facts))
    shown = ", ".join(f"F{first}" if first == last else f"F{first}-F{last}" for first, last in runs[-RANGES:])
    before = sum(last - first + 1 for first, last in runs[:-RANGES])
    return f"{before:,} older ones, {shown}" if before else shown


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = 0
    for number in numbers:
        if first and number == last + 1:
            last = number
            continue
        if first:
            yield first, last
        first = last = number
    if first:
        yield first, last
