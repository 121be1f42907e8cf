"""A witness: sees every request of a session beside its journal, and says what was wrong with what was sent for it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ctxgc.core import stub
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, decode
from ctxgc.core.state import State
from ctxgc.session import Kit, Prepared, Session
from ctxgc.session.originals import content
from ctxgc.wire import openai_chat_compacted, openai_chat_rules
from tests.session import rules
from tests.session.scripts import history


@dataclass(slots=True)
class Counted:
    """What was seen: ``faults`` must stay empty; ``refused`` are requests of which the last check threw edits away."""

    histories: int = 0
    requests: int = 0
    edits: int = 0
    residents: int = 0
    refused: int = 0
    bypassed: int = 0
    compacted: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Counted) -> None:
        for name in ("histories", "requests", "edits", "residents", "refused", "bypassed", "compacted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults


RECORDED = re.compile(r"\[(?:ctxgc:)?([a-z2-7]{16})[\] ]")
"""Handles in a record: in brackets of their own, or in the frame line."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A request of before: its messages as they came and left, and how many entries the journal had then."""

    came: list[bytes]
    left: list[bytes]
    entries: int


class _Request:
    """A request as messages, what became of each (``numbers``, ``pairs``), and the journal with it."""

    def __init__(self, came: list[bytes], left: list[bytes], entries: Sequence[AnyEntry], state: State) -> None:
        self.came, self.left, self.entries = came, left, entries
        head = next((entry.head for entry in reversed(entries) if isinstance(entry, Allocation)), -1)
        self.path, made = state.path(head), state.node(head).compacted
        self.gone = [node.depth for node in self.path if made and state.hidden(node, made)]
        self.placed = rules.place([json.loads(raw) for raw in came], [json.loads(raw) for raw in left], self.gone)
        self.numbers = self.placed.pairs if self.placed else ()
        self.pairs = [(came[one], left[other]) for one, other in self.numbers]
        self.record = [left[at] for at in self.placed.record] if self.placed else []
        self._depths = {node.id: node.depth for node in self.path}

    def covers(self, entry: AnyEntry, depth: int) -> bool:
        """Whether an entry says that the message of that number is left out of this history, or of one beside it."""
        if not isinstance(entry, Compaction) or entry.after not in self._depths:
            return False
        return self._depths[entry.after] < depth


def _rewrites(entry: AnyEntry) -> bool:
    """Whether what was sent before may be sent otherwise from here on."""
    return isinstance(entry, Compaction | Bypass) or (isinstance(entry, Collection) and entry.generation != "eden")


@dataclass(slots=True)
class Witness:
    """Sees every request of a session, and says what was wrong with what was sent for it."""

    used: Kit
    counted: Counted = field(default_factory=Counted)
    _sent: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)
    _seen: list[_Seen] = field(default_factory=list)

    def see(self, session: Session, received: bytes, prepared: Prepared) -> None:
        session.flush()
        entries = [decode(stored.body) for stored in self.used.store.entries(session.key)]
        self.counted.requests += 1
        said = [entry.reason for entry in entries if isinstance(entry, Bypass) and entry.call == prepared.call]
        self.counted.refused += any("validator" in reason or "invalid" in reason for reason in said)
        self.counted.bypassed += any("policy failed" not in reason for reason in said)
        request = _Request(history(received), history(prepared.body), entries, session.state)
        self.counted.faults += rules.broken(received, prepared.body, request.gone)
        if request.placed is not None:
            self.counted.faults += self._problems(request)
            self.counted.faults += self._ways_back(session, request)
            self.counted.faults += self._pins(request)
            self.counted.faults += self._pointers(session, request)
            self.counted.faults += self._prefix(request, edited=prepared.body != received)
            self.counted.faults += self._same(request, prepared)

    def _problems(self, request: _Request) -> Iterator[str]:
        if not request.record:
            yield from openai_chat_rules.problems(request.came, request.left)
        else:
            yield from openai_chat_compacted.problems(request.came, request.left, request.record)

    def _ways_back(self, session: Session, request: _Request) -> Iterator[str]:
        decoded = self.used.codec.decode
        for raw, out in request.pairs:
            for old, new in zip(decoded(raw).blocks, decoded(out).blocks, strict=True) if raw != out else ():
                for handle in stub.handles(new.text) if new.text != old.text else ():
                    if self._behind(session, handle) != old.text:
                        yield "a handle leads to something else"
        for text in (block.text for raw in request.record for block in decoded(raw).blocks):
            for handle in RECORDED.findall(text):
                if self._behind(session, handle) is None:
                    yield "a handle of a record leads nowhere"

    def _behind(self, session: Session, handle: str) -> str | None:
        """What a handle leads to, read without a trace: recalls change what is planned."""
        cell = session.state.by_handle.get(handle)
        return None if cell is None else content(session.state, self.used.store, self.used.codec, cell)

    def _pins(self, request: _Request) -> Iterator[str]:
        decoded = self.used.codec.decode
        for raw, out in request.pairs:
            pinned = raw != out and decoded(raw).mark.pin
            if pinned and [one.text for one in decoded(raw).blocks] != [one.text for one in decoded(out).blocks]:
                yield "what the application pinned changed"

    def _pointers(self, session: Session, request: _Request) -> Iterator[str]:
        """What says that it is the same as an earlier result: that one is sent, and shown."""
        state, path = session.state, request.path
        shown = {cell for at, _ in request.numbers if at < len(path) for cell in path[at].cells}
        for cell in shown:
            edit = state.edits.get(cell)
            if edit is not None and edit.of is not None and edit.of not in shown:
                yield "a result points to what is not sent"

    def _prefix(self, request: _Request, *, edited: bool) -> Iterator[str]:
        """What was sent for a history is sent again; what is left out of it, the journal has in a span."""
        exact, path = b"", request.path
        sent = dict(request.numbers)
        for depth, raw in enumerate(request.came):
            exact = hashlib.sha256(exact + raw).digest()
            out = request.left[sent[depth]] if depth in sent else b""
            before, since = self._sent.get(exact, (out, 0))
            if before != out and edited and not (before and out):
                if not any(request.covers(entry, depth) for entry in request.entries):
                    yield "a message went or came back and the journal does not say why"
            elif before != out:
                collected = (entry for entry in request.entries[since:] if isinstance(entry, Collection))
                cells = {edit.cell for entry in collected if entry.generation != "eden" for edit in entry.edits}
                if edited and not cells.intersection(path[depth].cells):
                    yield "the prefix changed and the journal does not say why"
            if out or exact not in self._sent:  # what a branch shows, another may leave out
                self._sent[exact] = out, len(request.entries)

    def _same(self, request: _Request, prepared: Prepared) -> Iterator[str]:
        """As long as nothing is collected or compacted, a history that goes on is sent as it was, to the byte."""
        came, left = request.came, request.left
        earlier = [one for one in self._seen if one.came == came[: len(one.came)]]
        last = max(earlier, key=lambda one: (len(one.came), one.entries), default=None)
        changed = last is not None and left[: len(last.left)] != last.left and not prepared.bypass
        if last and changed and not any(map(_rewrites, request.entries[last.entries :])):
            yield "what was sent is not sent again"
        self._seen.append(_Seen(came, left, len(request.entries)))
