"""Journal entries without what anybody wrote: for reports that are shown to others.

Rule: texts go, and of a site the arguments; figures, tags, tools and handles stay. The same site is recognised by a
short hash, which says nothing to those who do not have the store.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction, Summary
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Marking, Settlement

LEFT_OUT = "(left out of this report)"
_DIGITS = 8


class Redacting:
    """Takes texts out of entries; ``secret`` is the store's."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._sites: dict[str, str] = {}

    def __call__(self, entry: AnyEntry) -> AnyEntry:
        """The entry without texts."""
        match entry:
            case Allocation():
                return self._allocation(entry)
            case Collection():
                return structs.replace(entry, edits=tuple(replace(edit, text="") for edit in entry.edits))
            case Insertion() | Compaction():
                return structs.replace(entry, messages=(), cells=self._cells(entry.cells))
            case Marking():
                return structs.replace(entry, edges=tuple(structs.replace(one, evidence="") for one in entry.edges))
            case Summary():
                items = tuple(structs.replace(one, text="", quote="") for one in entry.items)
                return structs.replace(entry, items=items)
            case Settlement():
                return structs.replace(entry, headers={})
        return entry

    def _allocation(self, entry: Allocation) -> Allocation:
        nodes = tuple(structs.replace(node, cells=self._cells(node.cells)) for node in entry.nodes)
        return structs.replace(entry, nodes=nodes, before=(), after=())

    def _cells(self, cells: tuple[NewCell, ...]) -> tuple[NewCell, ...]:
        return tuple(structs.replace(cell, site=self._site(cell.site)) for cell in cells)

    def _site(self, site: str) -> str:
        if site not in self._sites:
            tool, opened, _ = site.partition("(")
            self._sites[site] = f"{tool}(#{digest(self._secret, site)})" if opened else site
        return self._sites[site]


def digest(secret: bytes, text: str) -> str:
    """A few hex digits that stand for a text, the same ones each time in one store."""
    return hmac.digest(secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:_DIGITS]


def redacted_books(books: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    """The document of a ledger without its statements, and without where the originals live."""
    facts = [{**fact, "statement": LEFT_OUT} for fact in books["facts"]]
    vouchers = [{**voucher, "ref": f"#{digest(secret, voucher['ref'])}"} for voucher in books["vouchers"]]
    return {**books, "facts": facts, "vouchers": vouchers}
