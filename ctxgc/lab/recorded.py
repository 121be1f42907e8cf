"""What some transcripts say besides their messages: reported usage, times, and where the agent compacted.

Rule: all of it is optional; what does not have a known form is left out, and is never a reason to refuse a transcript.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from ctxgc.core.journal import Usage

_MILLISECONDS = 1e11
"""Unix times above this are in milliseconds: in seconds they would lie beyond the year 5000."""

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Extras:
    """Usage by the index of its assistant message, Unix seconds per message, indices of first messages after a cut."""

    usage: tuple[tuple[int, Usage], ...] = ()
    times: tuple[float | None, ...] | None = None
    compactions: tuple[int, ...] = ()


def extras(values: Mapping[str, bytes]) -> Extras:
    """The extras of a transcript, from the raw JSON of its members: they stand in ``meta`` or beside it."""
    meta = _load(values.get("meta"))
    found = dict(meta) if isinstance(meta, dict) else {}
    for key in ("usage", "timestamps", "compact_boundaries"):
        if key in values:
            found.setdefault(key, _load(values[key]))
    times = found.get("timestamps")
    return Extras(
        usage=tuple(_usages(found.get("usage"))),
        times=tuple(_time(value) for value in times) if isinstance(times, list) else None,
        compactions=tuple(sorted({at for at in _list(found.get("compact_boundaries")) if type(at) is int})),
    )


def _usages(value: object) -> Iterator[tuple[int, Usage]]:
    for record in _list(value):
        if isinstance(record, dict) and type(record.get("message_index")) is int:
            usage = _usage(record)
            if usage is not None:
                yield record["message_index"], usage


def _usage(record: Json) -> Usage | None:
    """Anthropic's kinds are disjoint; OpenAI's prompt tokens include those from the cache."""
    if "input_tokens" in record:
        return Usage(
            uncached=_whole(record, "input_tokens"),
            cached=_whole(record, "cache_read_input_tokens"),
            written=_whole(record, "cache_creation_input_tokens"),
            output=_whole(record, "output_tokens"),
        )
    if "prompt_tokens" in record:
        details = record.get("prompt_tokens_details")
        cached = _whole({**record, **(details if isinstance(details, dict) else {})}, "cached_tokens")
        uncached = max(_whole(record, "prompt_tokens") - cached, 0)
        return Usage(uncached=uncached, cached=cached, output=_whole(record, "completion_tokens"))
    return None


def _whole(record: Json, key: str) -> int:
    value = record.get(key)
    return value if type(value) is int and value >= 0 else 0


def _time(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > _MILLISECONDS else float(value)
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _load(raw: bytes | None) -> object:
    try:
        return json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return None
