"""Reading transcripts: recorded conversations as files, in the shapes people have them in.

Rule: a message's bytes are kept as they stand in the file, whatever keys they hold; what cannot be read is one
``InputError`` that names the file, the line and what would be accepted.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ctxgc.core.journal import Usage
from ctxgc.core.spans import Malformed, elements, members
from ctxgc.errors import InputError
from ctxgc.lab.recorded import Extras, extras

ACCEPTED = 'accepted: {"messages": [...]}, a list of messages, or JSON lines of either kind, also gzipped'
_BYTE = re.compile(r"\(byte (\d+)\)|at byte (\d+)")
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded conversation.

    ``messages`` and ``tools`` are raw JSON, byte for byte as in the file; ``roles`` has one role per message.
    ``model`` is empty where the file names none. ``usage`` maps the index of an assistant message to what its provider
    reported; ``times`` are Unix seconds per message. ``compactions`` are the messages before which the recorded agent
    began a new context: what came before was not sent again.
    """

    id: str
    messages: tuple[bytes, ...]
    roles: tuple[str, ...]
    model: str = ""
    tools: bytes | None = None
    usage: tuple[tuple[int, Usage], ...] = ()
    times: tuple[float | None, ...] | None = None
    compactions: tuple[int, ...] = ()


def read(path: Path) -> Iterator[Transcript]:
    """The transcripts of a file. Raises ``InputError`` for what is missing, malformed or of no known shape."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; {ACCEPTED}") from None
    yield from parse(data, str(path), _stem(path))


def parse(data: bytes, source: str, name: str) -> Iterator[Transcript]:
    """The transcripts in a file's bytes; ``source`` names the file in errors, ``name`` those that have no id."""
    text = _text(data, source)
    lines = [(number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()]
    if len(lines) > 1 and _stands_alone(lines[0][1]):
        yield from _lines(lines, source, name)
        return
    where = _Place(source, 1, text)
    if text.lstrip()[:1] == b"[":
        yield _transcript(where, text, _Parts(), name)
    else:
        yield _object(where, text, name)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands in its file, for errors: it begins on ``line``; ``whole`` is all of it."""

    source: str
    line: int
    whole: bytes

    def error(self, what: str, at: int = 0) -> InputError:
        """The error for something wrong at byte ``at`` of the text."""
        line = self.line + self.whole.count(b"\n", 0, at)
        return InputError(f"{self.source}, line {line}: {what}; {ACCEPTED}")

    def malformed(self, error: Malformed) -> InputError:
        """The error for what is not JSON; where the parser says at which byte, on the line of that."""
        what = str(error).removeprefix("JSON is malformed: ")
        found = _BYTE.search(what)
        at = int(found[1] or found[2]) if found else len(self.whole.rstrip()) if "truncated" in what else 0
        return self.error(f"not readable as JSON ({what})", at)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What stands beside the messages."""

    id: str = ""
    model: str = ""
    tools: bytes | None = None
    extras: Extras = field(default_factory=Extras)


def _text(data: bytes, source: str) -> bytes:
    text = (_unzipped(data, source) if data.startswith(_GZIP) else data).removeprefix(_BOM)
    if not text.strip():
        raise InputError(f"{source}, line 1: the file is empty; {ACCEPTED}")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise _Place(source, 1, text).error("binary data, or text that is not UTF-8", error.start) from None
    return text


def _unzipped(data: bytes, source: str) -> bytes:
    try:
        text, rest = b"", data
        while rest.startswith(_GZIP):  # gzip files may follow each other in one
            member = zlib.decompressobj(wbits=31)
            text += member.decompress(rest)
            if not member.eof:
                raise InputError(f"{source}: the gzip file is cut off; {ACCEPTED}")
            rest = member.unused_data
    except zlib.error as error:
        raise InputError(f"{source}: damaged gzip file ({error}); {ACCEPTED}") from None
    return text


def _stands_alone(line: bytes) -> bool:
    """Whether a line is a JSON object by itself, so that the file is one of JSON lines."""
    try:
        return bool(members(line))
    except Malformed:
        return False


def _lines(lines: list[tuple[int, bytes]], source: str, name: str) -> Iterator[Transcript]:
    """A transcript a line, or one message a line: what the first is, all are."""
    number, first = lines[0]
    if any(span.key == "messages" for span in members(first)):
        for count, (number, line) in enumerate(lines, 1):
            yield _object(_Place(source, number, line), line, f"{name}#{count}")
        return
    found = [_message(_Place(source, number, line), line, "this line") for number, line in lines]
    yield Transcript(name, tuple(raw for raw, _ in found), tuple(role for _, role in found))


def _object(place: _Place, text: bytes, name: str) -> Transcript:
    """A transcript from an object with its messages, or from a single message."""
    try:
        spans = {span.key: span for span in members(text)}
    except Malformed as error:
        raise place.malformed(error) from None
    if "messages" not in spans and "role" in spans:
        raw, role = _message(place, text, "this line")
        return Transcript(name, (raw,), (role,))
    if "messages" not in spans:
        keys = ", ".join(sorted(spans)[:6]) or "none"
        raise place.error(f"an object without messages (its keys: {keys})")
    if "system" in spans:
        raise place.error("a request of another wire format (it has a system prompt beside its messages)")
    values = {key: span.of(text) for key, span in spans.items()}
    tools = values.get("tools") or values.get("functions")  # the legacy name of the same list
    parts = _Parts(
        _string(values.get("id")),
        _string(values.get("model")),
        tools if tools is not None and tools.startswith(b"[") else None,
        extras(values),
    )
    return _transcript(place, values["messages"], parts, name, spans["messages"].start)


def _transcript(place: _Place, array: bytes, parts: _Parts, name: str, offset: int = 0) -> Transcript:
    try:
        spans = elements(array)
    except Malformed as error:
        raise place.malformed(error) from None
    if not spans:
        raise place.error("a transcript without messages", offset)
    found = [
        _message(place, span.of(array), f"message {number}", offset + span.start)
        for number, span in enumerate(spans, 1)
    ]
    return Transcript(
        id=parts.id or name,
        messages=tuple(raw for raw, _ in found),
        roles=tuple(role for _, role in found),
        model=parts.model,
        tools=parts.tools,
        usage=parts.extras.usage,
        times=parts.extras.times,
        compactions=tuple(at for at in parts.extras.compactions if 0 < at < len(found)),
    )


def _message(place: _Place, raw: bytes, what: str, at: int = 0) -> tuple[bytes, str]:
    """A message's bytes and role."""
    try:
        spans = members(raw)
    except Malformed as error:
        if raw.lstrip()[:1] == b"{":
            raise place.malformed(error) from None
        raise place.error(f"{what} is not an object", at) from None
    role = next((_string(span.of(raw)) for span in spans if span.key == "role"), "")
    if not role:
        raise place.error(f"{what} has no role", at)
    return raw.strip(), role


def _string(raw: bytes | None) -> str:
    """The value of a raw JSON string as UTF-8 can carry it; empty for anything else."""
    value = json.loads(raw) if raw is not None and raw.startswith(b'"') else ""
    return str(value).encode("utf-8", "replace").decode()


def _stem(path: Path) -> str:
    """A file's name without the endings that transcripts have."""
    name = path.name
    for ending in (".gz", ".jsonl", ".json"):
        name = name.removesuffix(ending)
    return name or path.name
