"""Server-sent events, cut out of a byte stream while it is relayed: https://html.spec.whatwg.org/#parsing-an-event-stream

Rule: bytes in, bytes out. Each byte is looked at once, whatever the chunks, and no event holds more than its cap.
"""

from __future__ import annotations

CAP = 16 * 1024 * 1024
"""The most bytes one event (its data and the line being read) may hold."""

BLANK = b" \t\r\n\xef\xbb\xbf"
EVENT_FIELDS = b":deir"
"""How events begin: a comment, data, event, id, retry."""
_BOM = b"\xef\xbb\xbf"


class EventSplitter:
    """Splits a stream into the ``data`` of its events; every other field and every comment is left out.

    An event of more than ``cap`` bytes is dropped, whatever it says, and ``overflowed`` is set.
    """

    def __init__(self, cap: int = CAP) -> None:
        self.overflowed = False
        self._cap = cap
        self._line = bytearray()
        self._data = bytearray()
        self._dropping = False
        self._first = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that ``chunk`` completes. Lines may end in CRLF, LF or CR, and be cut anywhere."""
        if not chunk:
            return []
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        events: list[bytes] = []
        for line in chunk.splitlines(keepends=True):
            self._take(line, events)
        return events

    def close(self) -> list[bytes]:
        """The event the stream broke off in, if any: the standard drops it, servers forget its last empty line."""
        events: list[bytes] = []
        if self._line:
            self._end_line(events)
        self._dispatch(events)
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        text = line.rstrip(b"\r\n")
        if len(self._line) + len(self._data) + len(text) > self._cap:
            self._drop()
        # In an event that is dropped one byte of a line is kept: it is not the empty one that ends the event.
        self._line += text[: 1 - len(self._line)] if self._dropping else text
        if len(text) < len(line):
            self._end_line(events)

    def _drop(self) -> None:
        self.overflowed = self._dropping = True
        del self._line[1:]
        self._data.clear()

    def _end_line(self, events: list[bytes]) -> None:
        line = bytes(self._line)
        self._line.clear()
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        if not line:
            self._dispatch(events)
            return
        name, _, value = line.partition(b":")
        if name == b"data" and not self._dropping:
            self._data += value.removeprefix(b" ") + b"\n"

    def _dispatch(self, events: list[bytes]) -> None:
        if self._data:
            events.append(bytes(self._data[:-1]))
        self._data.clear()
        self._dropping = False


class Pieces:
    """Cuts a stream into pieces that can be passed on or left out by themselves: their bytes, and the data in them.

    A data line that is an object by itself, or ``[DONE]``, ends a piece, since some servers leave out the empty lines;
    any other lasts to the empty line that ends its event. Empty lines and comments are pieces without data. What grows
    beyond ``cap`` bytes is passed on as a piece without data.
    """

    def __init__(self, cap: int = CAP) -> None:
        self._cap = cap
        self._line = bytearray()
        self._raw = bytearray()
        self._data: list[bytes] = []
        self._after_cr = False

    @property
    def between(self) -> bool:
        """Whether nothing has begun that has not ended."""
        return not (self._line or self._raw or self._after_cr)

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        """The pieces that ``chunk`` completes."""
        found: list[tuple[bytes, bytes]] = []
        for line in chunk.splitlines(keepends=True):
            self._take(line, found)
        return found

    def rest(self) -> tuple[bytes, bytes]:
        """What the stream broke off in."""
        if self._line:
            self._see(bytes(self._line))
        return self._end()

    def _take(self, line: bytes, found: list[tuple[bytes, bytes]]) -> None:
        half = self._after_cr and line == b"\n"  # the other half of a line end, and no line
        self._after_cr = line.endswith(b"\r")
        self._line += line
        if half:
            self._raw += self._line
            self._line.clear()
            if not self._data:
                found.append(self._end())
        elif line.endswith((b"\r", b"\n")):
            whole = bytes(self._line)
            self._line.clear()
            if self._see(whole):
                found.append(self._end())
        elif len(self._line) + len(self._raw) > self._cap:
            found.append((bytes(self._raw + self._line), b""))
            self._line.clear()
            self._end()

    def _see(self, line: bytes) -> bool:
        """Take a whole line; whether it ends a piece."""
        text = line.rstrip(b"\r\n")
        self._raw += line
        if not text or len(self._raw) > self._cap:
            return True
        name, _, value = text.removeprefix(_BOM).partition(b":")
        if name != b"data":
            return not name and not self._data and len(self._raw) == len(line)
        self._data.append(value.strip())
        alone = self._data[0] if len(self._data) == 1 else b""
        return alone == b"[DONE]" or (alone[:1] == b"{" and alone[-1:] == b"}")

    def _end(self) -> tuple[bytes, bytes]:
        piece = bytes(self._raw), b"\n".join(self._data) if len(self._raw) <= self._cap else b""
        self._raw.clear()
        self._data = []
        return piece
