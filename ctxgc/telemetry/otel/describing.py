"""Attributes: what a span or an event says of a call, taken from its journal entries and from nothing else.

Rule: strings are short and can be encoded; counts of tags have a fixed set of names. ``gen_ai.conversation.compacted``
is only ever true. Nothing of a message's content is in here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Collection, Settlement
from ctxgc.core.nodes import Tally
from ctxgc.telemetry.labels import NONE, OTHER, TAGS, collected_by, reason_of

from . import names as n
from .seen import Call, Change, Sent

Attributes = dict[str, bool | int | float | str | tuple[str, ...]]

LENGTH = 200
"""Characters of a string at most: what clients send goes in here, too."""
_RANK = {"major": 3, "minor": 2, "eden": 1}


def short(text: str) -> str:
    """A text as an attribute: cut, and without lone surrogates, which no exporter can write."""
    return text[:LENGTH].encode("utf-8", "replace").decode()


def of_session(key: str) -> Attributes:
    """Which conversation it is."""
    return {n.CONVERSATION: key, n.SESSION: key} if key else {}


def collect(call: Call, window: int) -> Attributes:
    """What the collector did with a call, and what the call carries as it came and as it left."""
    entry = call.entry
    assert entry is not None
    trigger, generation, outcome = gc(call)
    pace = entry.pace
    said: Attributes = {
        n.SPAN_KIND: n.CHAIN,
        **of_session(call.key),
        n.ENTRY: call.id.hex(),
        n.TURN: call.number,
        n.GC_ID: call.number,
        n.GC_TRIGGER: trigger,
        n.GC_GENERATION: generation,
        n.GC_OUTCOME: outcome,
        n.GC_POLICY: ",".join(policies(call.changes)),
        n.GC_ITEMS: sum(map(items, call.changes)),
        n.GC_TOKENS: sum(map(gone, call.changes)),
        n.RECEIVED: total(call.received),
        n.FORWARDED: total(call.sent),
        n.MESSAGES_RECEIVED: call.messages[0],
        n.MESSAGES_FORWARDED: call.messages[1],
        n.INVALIDATED: pace.live if pace and pace.trigger else 0,
    }
    if window:
        said[n.WINDOW] = window
    if entry.again:
        said[n.AGAIN] = True
    families = by_family(call.sent)
    return {**said, **{n.TAG_TOKENS + family: tokens for family, tokens in families.items()}}


def gc(call: Call) -> tuple[str, str, str]:
    """Trigger, generation and outcome of a call's collection, as the metrics call them: of several, the largest."""
    found = [_collected(call, change) for change in call.changes]
    if found:
        return max(found, key=lambda one: _RANK.get(one[1], 0))
    invalid = any(reason_of(one.reason) == "invalid" for one in call.bypasses)
    return NONE, NONE, "aborted" if invalid else "noop"


def _collected(call: Call, change: Change) -> tuple[str, str, str]:
    if isinstance(change.entry, Compaction):
        return collected_by("major", change.entry.trigger)
    pace = call.entry.pace if call.entry else None
    return collected_by(change.entry.generation, pace.trigger if pace else "")


def change(call: Call, one: Change) -> Attributes:
    """One collection, as an event."""
    trigger, generation, outcome = _collected(call, one)
    return {
        **of_session(call.key),
        n.ENTRY: call.id.hex(),
        n.GC_ID: call.number,
        n.GC_TRIGGER: trigger,
        n.GC_GENERATION: generation,
        n.GC_OUTCOME: outcome,
        n.GC_POLICY: ",".join(policies([one])),
        n.GC_ITEMS: items(one),
        n.GC_TOKENS: gone(one),
        n.BEFORE: total(one.before),
        n.AFTER: total(one.after),
    }


def items(one: Change) -> int:
    """How many items a collection took, in whole or in part: cells; a compaction took one span."""
    return len(one.entry.edits) if isinstance(one.entry, Collection) else 1


def gone(one: Change) -> int:
    """The tokens that a collection took out of its own request; a record that came instead of them is none."""
    record = sum(cell.tokens for cell in one.entry.cells) if isinstance(one.entry, Compaction) else 0
    return max(total(one.before) - total(one.after) + record, 0)


def policies(changes: Iterable[Change]) -> list[str]:
    """The policies that had a part in collections, by name."""
    found: set[str] = set()
    for one in changes:
        found |= {edit.policy for edit in one.entry.edits} if isinstance(one.entry, Collection) else {"compact"}
    return sorted(map(short, found))


def total(tokens: Sent) -> int:
    """The tokens of a request: of its history and its tools."""
    return sum(sum(tally.values()) for tally in tokens)


def by_family(tokens: Sent) -> Mapping[str, int]:
    """The tokens of a request by family of tags: a few fixed ones, and ``other``."""
    found: dict[str, int] = {}
    for tally in tokens:
        _add(found, tally)
    return found


def family(tag: str) -> str:
    """The family of a tag: one of a few."""
    name = tag.partition(":")[0]
    return name if name in TAGS else OTHER


def _add(found: dict[str, int], tally: Tally) -> None:
    for tag, tokens in tally.items():
        if tokens:
            found[family(tag)] = found.get(family(tag), 0) + tokens


def usage(settlement: Settlement) -> Attributes:
    """Tokens as the provider reported them. Input includes what was read from and written to the cache."""
    used = settlement.usage
    if used is None:
        return {}
    return {
        n.INPUT: used.input,
        n.OUTPUT: used.output,
        n.CACHE_READ: used.cached,
        n.CACHE_WRITE: used.written,
        n.CACHE_CREATION: used.written,
        n.REASONING: used.reasoning,
    }


def ending(settlement: Settlement, *, stream: bool, counted: bool) -> Attributes:
    """How a call ended."""
    said: Attributes = {n.OVERHEAD: settlement.overhead} if settlement.overhead else {}
    if settlement.status:
        said[n.STATUS] = settlement.status
    if settlement.outcome == "ok" or settlement.usage:
        said[n.RESPONSE_MODEL] = short(settlement.model)
    if stream and settlement.first_byte:
        said[n.FIRST_CHUNK] = settlement.first_byte
    if settlement.first_token:
        said[n.FIRST_TOKEN] = settlement.first_token
    return {**said, **(usage(settlement) if counted else {})}


def failure(settlement: Settlement) -> str:
    """Why a call did not end well, in one word; empty if it did."""
    match settlement.outcome:
        case "ok":
            return ""
        case "partial":
            return "incomplete"
        case "aborted":
            return "aborted"
        case _:
            return str(settlement.status) if settlement.status >= 400 else "upstream_error"
