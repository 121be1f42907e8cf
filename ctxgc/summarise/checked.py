"""Whether what a model said is a record of the span: complete, in the schema, smaller, with pointers that resolve.

Rule: all of it is taken or nothing. Where a quote does not stand, the item stays, and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from ctxgc.core.block import Author
from ctxgc.core.compaction import Item
from ctxgc.core.record import FIELDS, Original
from ctxgc.summarise.asking import Said
from ctxgc.summarise.prompt import ITEMS, QUOTE, TEXT

LONGEST = 500_000
"""Characters of the longest answer that is looked at."""

_MEMBERS = frozenset({"text", "source", "quote"})
_FENCED = re.compile(r"\s*```(?:json|JSON)?[ \t]*\r?\n(.*)\n?[ \t]*```\s*", re.DOTALL)
_SOURCE = re.compile(r"c(\d{1,12})")
_SORRY = re.compile(
    r"\W{0,4}(?:i(?:['’]?m| am)? (?:so |very )?(?:sorry|apologi|unable)|i (?:do not|don['’]?t|cannot|can['’]?t"
    r"|could not) (?:see|find|have|access|help|read|assist)|as an ai\b|please (?:provide|share|send|paste)"
    r"|there (?:is|are|were) no (?:events?|messages?|conversation|content|data)"
    r"|(?:the )?conversation (?:is|was) empty|empty conversation"
    r"|no (?:events?|conversation|messages?|content) (?:was|were|to|provided|found|given))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a model said of a span, and the numbers of earlier open items that it calls done with."""

    items: tuple[Item, ...]
    resolved: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was taken, on one line and in our own words."""

    reason: str


class _Wrong(Exception):
    """What is wrong with an answer, in plain words."""


def checked(
    said: Said,
    originals: Sequence[Original],
    still_open: Sequence[tuple[int, str]],
    *,
    span_tokens: int,
    count: Callable[[str], int],
    share: float = 0.5,
) -> Taken | Refused:
    """What of an answer is taken for the record of ``originals``.

    It has to take less than ``share`` of ``span_tokens`` by ``count``, and every pointer must name one of the originals
    (or of the numbers in ``still_open``). Never raises, whatever the answer.
    """
    try:
        record = _parsed(_complete(said))
        if count(said.text) >= share * span_tokens:
            raise _Wrong("it is not smaller than what it stands for")
        known = {one.cell: one for one in originals}
        texts = {one.cell: one.text for one in originals}
        items = tuple(_filed(item, known[item.cell]) for field in FIELDS for item in _items(record, field, texts))
        resolved = tuple(_resolved(record, {number for number, _ in still_open}))
    except _Wrong as wrong:
        return Refused(str(wrong))
    return Taken(items, resolved) if items or resolved else Refused("it says nothing")


def _complete(said: Said) -> str:
    """The text of an answer that has ended as it should."""
    if said.error:
        raise _Wrong(f"no answer: {' '.join(said.error.split())[:200]}")
    if said.calls:
        raise _Wrong("it called a tool")
    if not isinstance(said.text, str) or not said.text.strip():
        raise _Wrong("it is empty")
    if said.finish != "stop":
        raise _Wrong(f"it did not end by itself but by {str(said.finish)[:20]!r}")
    if len(said.text) > LONGEST:
        raise _Wrong("it is far too long")
    return said.text


def _parsed(text: str) -> Mapping[str, object]:
    fenced = _FENCED.fullmatch(text)
    try:
        found = json.loads(fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_constant)
    except (ValueError, RecursionError, MemoryError):
        sorry = _SORRY.match(text) is not None
        raise _Wrong("it is an apology and not a record" if sorry else "it is not one JSON object") from None
    if not isinstance(found, dict):
        raise _Wrong("it is not one JSON object")
    if set(found) - {*FIELDS, "resolved"}:
        raise _Wrong("it has members that the schema does not have")
    return found


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Wrong("a member stands in it twice")
    return found


def _constant(name: str) -> object:
    raise _Wrong(f"{name} is not JSON")


def _items(record: Mapping[str, object], field: str, texts: Mapping[int, str]) -> Iterator[Item]:
    found = record.get(field, [])
    if not isinstance(found, list) or len(found) > ITEMS:
        raise _Wrong(f"{field} is not a list of at most {ITEMS} items")
    for each in found:
        if not isinstance(each, dict) or set(each) != _MEMBERS:
            raise _Wrong(f"an item of {field} has other members than text, source and quote")
        text, quote = _string(each, "text", field, TEXT), _string(each, "quote", field, QUOTE)
        cell = _cell(_string(each, "source", field, TEXT), texts)
        if not text:
            raise _Wrong(f"an item of {field} says nothing")
        if _SORRY.match(text):
            raise _Wrong("it is an apology and not a record")
        yield Item(field, text, cell, quote, stands=bool(quote) and quote in texts[cell])


def _filed(item: Item, original: Original) -> Item:
    """An item where it belongs: what a tool or the agent says is no constraint, whatever a model makes of it."""
    binds = original.author in (Author.USER, Author.SYSTEM)
    return item if item.field != "constraints_learned" or binds else structs.replace(item, field="facts")


def _string(item: Mapping[str, object], name: str, field: str, limit: int) -> str:
    found = item[name]
    if not isinstance(found, str) or len(found) > 2 * limit:  # models do not count characters well
        raise _Wrong(f"the {name} of an item of {field} is no string of at most {limit} characters")
    plain = found.encode("utf-8", "replace").decode()
    return plain.strip() if name == "quote" else " ".join(plain.split())


def _cell(source: str, texts: Mapping[int, str]) -> int:
    named = _SOURCE.fullmatch(source)
    if named is None or int(named[1]) not in texts:
        raise _Wrong(f"the source {source[:20]!r} is none of the labels")
    return int(named[1])


def _resolved(record: Mapping[str, object], numbers: set[int]) -> Iterator[int]:
    found = record.get("resolved", [])
    if not isinstance(found, list):
        raise _Wrong("resolved is not a list of numbers")
    for number in found:
        if type(number) is not int or number not in numbers:
            raise _Wrong("resolved names what is not among the open items")
    yield from dict.fromkeys(found)
