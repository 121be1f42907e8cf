"""Journal entries without what anybody wrote: for reports that are shown to others.

Rule: texts go, of a site the arguments, and of a reason all but its kind; figures, tags, tools and handles stay, as far
as they are names. The same text is recognised by a short hash, which says nothing to those who do not have the store.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Insertion,
    Marking,
    NewNode,
    Recall,
    Settlement,
)
from ctxgc.lab.collected import TAKEN

LEFT_OUT = "(left out of this report)"
_DIGITS = 8
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""What may be the name of a tool or a tag: models make up both, and could say anything in them."""
_FAULTS = frozenset(
    {
        "fault", "not booked", "not collected", "not told", "not marked", "not planned", "not posted",
        "errand not begun", "policy failed", "stored late", "lost",
    }
)  # fmt: skip
"""How reasons begin that go on with the type of an error."""
_REPEATING = frozenset({"malformed", "invalid", "undecodable", "refused", "validator", "period not closed"})
"""How those begin that may go on with what somebody wrote."""
_ERROR = re.compile(r"[A-Za-z]{1,40}")


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
                return structs.replace(entry, items=items, outcome=reason(entry.outcome))
            case Settlement():
                return structs.replace(entry, headers={})
            case Bypass() | Gap():
                return structs.replace(entry, reason=reason(entry.reason))
            case Milestone():
                return structs.replace(entry, name=hashed(self._secret, entry.name))
            case Recall(found=False):  # a model asks for what it likes
                return structs.replace(entry, handle=named(self._secret, entry.handle))
        return entry

    def _allocation(self, entry: Allocation) -> Allocation:
        schemas = None if entry.schemas is None else self._cells(entry.schemas)
        return structs.replace(entry, nodes=tuple(map(self._node, entry.nodes)), schemas=schemas, before=(), after=())

    def _node(self, node: NewNode) -> NewNode:
        return structs.replace(node, cells=self._cells(node.cells), role=named(self._secret, node.role), gap=b"")

    def _cells(self, cells: tuple[NewCell, ...]) -> tuple[NewCell, ...]:
        return tuple(
            structs.replace(cell, site=self._site(cell.site), tag=self._tag(cell.tag), call_id=self._call(cell.call_id))
            for cell in cells
        )

    def _site(self, site: str) -> str:
        if site not in self._sites:
            tool, opened, _ = site.partition("(")
            tool = named(self._secret, tool)
            self._sites[site] = f"{tool}(#{digest(self._secret, site)})" if opened else tool
        return self._sites[site]

    def _tag(self, tag: str) -> str:
        """Its family and its source, each as far as it is a name."""
        family, divided, source = tag.partition(":")
        return f"{named(self._secret, family)}{divided}{named(self._secret, source)}"

    def _call(self, call_id: str) -> str:
        """Calls and results are paired by it, and that is all it is for."""
        return call_id and digest(self._secret, call_id)


def digest(secret: bytes, text: str) -> str:
    """A few hex digits that stand for a text, the same ones each time in one store."""
    return hmac.digest(secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:_DIGITS]


def hashed(secret: bytes, text: str) -> str:
    """What stands for a text: marked as a hash; nothing for nothing."""
    return text and f"#{digest(secret, text)}"


def named(secret: bytes, text: str) -> str:
    """A name as it is, and what stands for a text that is none."""
    return text if _NAME.fullmatch(text) else hashed(secret, text)


def reason(text: str) -> str:
    """The kind of a reason that ctxgc gave; of a fault of ours the type of the error, too."""
    kind, _, rest = text.partition(": ")
    if text == TAKEN or (kind in _FAULTS and _ERROR.fullmatch(rest)):
        return text
    return kind if kind in _FAULTS | _REPEATING else LEFT_OUT


def redacted_books(books: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    """The document of a ledger without its statements, and without what its originals are and where they live."""
    return {
        **books,
        "facts": [_fact(fact, secret) for fact in books["facts"]],
        "vouchers": [_voucher(voucher, secret) for voucher in books["vouchers"]],
        "periods": [{**period, "milestone": hashed(secret, period["milestone"])} for period in books["periods"]],
    }


def _fact(fact: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    names = ("verifier", "version")
    source = [{**one, **{name: named(secret, one[name]) for name in names}} for one in fact["source"]]
    return {**fact, "statement": LEFT_OUT, "author": named(secret, fact["author"]), "source": source}


def _voucher(voucher: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    """Its hash goes too: who knows what a short original may say could try."""
    hashes = {name: hashed(secret, voucher[name]) for name in ("ref", "sha256")}
    return {**voucher, **hashes, "type": named(secret, voucher["type"])}
