"""What the model sees of a request: the body that was sent, read back by itself.

Rule: bytes in, facts out. A line is visible where a tool's result that was sent holds it verbatim, or a message that
stands in the place of others; nothing else is asked, neither the collector nor its journal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxgc.core.spans import Malformed
from ctxgc.lab.needs import Need
from ctxgc.lab.texts import said
from ctxgc.wire.body import split
from ctxgc.wire.codec import Body

_HANDLE = re.compile(rb"\[ctxgc:([a-z2-7]{16}) ")
RECORD = "record of turns "
"""What the full text of a record begins with, and one that stands for messages behind its handle."""
_FRAME = re.compile(rb"\[ctxgc:[a-z2-7]{16} " + RECORD.encode())
_LISTED = re.compile(r"\[([a-z2-7]{16})\]")


class Reader:
    """Reads bodies of one session; the results of a message are read once."""

    def __init__(self) -> None:
        self._results: dict[bytes, tuple[str, ...]] = {}
        self._texts: dict[bytes, tuple[str, ...]] = {}

    def results(self, raw: bytes) -> tuple[str, ...]:
        """The texts of a tool's result; none for any other message."""
        found = self._results.get(raw)
        if found is None:
            found = self._results[raw] = said(raw).results if b'"' in raw else ()
        return found

    def texts(self, raw: bytes) -> tuple[str, ...]:
        """What a message says, and what it gives to tools."""
        found = self._texts.get(raw)
        if found is None:
            found = self._texts[raw] = tuple(text for _, text in said(raw).texts)
        return found


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it left: its body, and the raw messages in it."""

    text: bytes
    messages: Sequence[bytes]

    def shows(self, need: Need, received: Sequence[bytes], reader: Reader) -> bool:
        """Whether the line that is needed stands in a result that was sent, or in what was sent instead of messages.

        Nothing else that somebody says makes it visible.
        """
        at = need.result
        if at < len(self.messages) and self.messages[at] == received[at]:  # the usual case, and it is quick to see
            return True
        if any(need.line in text for raw in reversed(self.messages) for text in reader.results(raw)):
            return True
        return any(need.line in text for raw in instead(received, self.messages) for text in reader.texts(raw))

    def names(self, term: str) -> bool:
        """Whether a term stands anywhere in the body."""
        return term.encode() in self.text or term.replace("/", "\\/").encode() in self.text

    def handles(self) -> tuple[str, ...]:
        """The handles in the body, the last ones first, each once."""
        found = dict.fromkeys(handle.decode() for handle in _HANDLE.findall(self.text))
        return tuple(reversed(found))


def instead(came: Sequence[bytes], sent: Sequence[bytes]) -> tuple[bytes, ...]:
    """The messages of a request that stand in the place of others: a record, with the call that it answers, if any."""
    at = next((at for at, raw in enumerate(sent) if _FRAME.search(raw) and raw not in came), None)
    if at is None:
        return ()
    return tuple(sent[at - 1 : at + 1]) if said(sent[at]).results else (sent[at],)


def listed(text: str) -> tuple[str, ...]:
    """The handles that the full text of a record lists, each once."""
    return tuple(dict.fromkeys(_LISTED.findall(text)))


def read_back(text: bytes) -> tuple[Body, tuple[bytes, ...]] | None:
    """A body that was sent, split, and its messages; None where it is no request."""
    try:
        body = split(text, "messages")
    except Malformed:
        return None
    return body, tuple(span.of(text) for span in body.messages)
