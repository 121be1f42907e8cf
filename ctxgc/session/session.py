"""One conversation: ``prepare`` decides the bytes that go upstream, ``admit`` books them, ``settle`` books the answer.

Rule: only what decides the outgoing bytes is done before they leave; everything else waits for ``admit``. Whatever goes
wrong in here, the request leaves as it came.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TypeVar

from msgspec import structs

from ctxgc.core import stub
from ctxgc.core.journal import Bypass, Recall, Recovery, Settlement, decode
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.errors import UnknownHandle
from ctxgc.session.admission import Meter, Pending, begun, model_of, new_schemas, warmed
from ctxgc.session.booking import Books, Unread
from ctxgc.session.eden import Eden, Planned, Rules, clean
from ctxgc.session.kit import Kit, Prepared, Resumed
from ctxgc.session.offering import Offering, offering
from ctxgc.session.originals import content
from ctxgc.session.projection import Invalid, Outgoing, Track, project
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.recalling import recalls
from ctxgc.session.recognise import Recognised, raw_messages, recognise
from ctxgc.store import StoreMissing
from ctxgc.wire.codec import Asking, Body

T = TypeVar("T")

TRACKS = 8
"""Histories of one session that are kept ready to be resumed: the main one, its branches, helper calls."""


class Session:
    """See the module. Not thread-safe: shells hold a lock around its verbs."""

    def __init__(self, key: bytes, scope: bytes, origin: str, kit: Kit, state: State | None = None) -> None:
        self.key, self.scope, self.origin, self.kit = key, scope, origin, kit
        self.state = state or State()
        self.tracks: deque[Track] = deque(maxlen=TRACKS)
        self._pending: deque[Pending | Unread] = deque()
        self._durable: dict[bytes, Future[None]] = {}
        self._preparing = 0
        self._books = Books(key, scope, origin, kit, self.state)
        self._mint = partial(stub.mint, kit.store.secret, key)

    @classmethod
    def restoring(cls, key: bytes, kit: Kit) -> Generator[None, None, Session | None]:
        """The session of that key as its journal tells it, in slices; None if there is none."""
        state = State()
        for entry in kit.store.entries(key):
            state.apply(decode(entry.body))
            yield
        if state.opened is None:
            return None
        return cls(key, state.opened.scope, state.opened.origin, kit, state)

    def recover(self, broken: Session | None = None) -> None:
        """Close the calls that a process before this one left open, and say what a broken session has lost."""
        if broken is not None and (gap := broken._books.journal.loss()):
            self._books.write(self._books.line(gap))
        for call in tuple(self.state.unsettled):
            self._books.write(self._books.line(Recovery(at=self.kit.clock(), call=call)))

    @property
    def broken(self) -> bool:
        """Whether the journal lost something, so that the session must be restored before it goes on."""
        return self._books.journal.broken

    @property
    def idle(self) -> bool:
        """Whether nothing is under way, so that the session may be let go and restored from its journal later."""
        return not (self._preparing or self._pending or self.state.unsettled or self._books.journal.waiting)

    @property
    def weight(self) -> int:
        """Bytes of the histories that are kept ready."""
        return sum(len(track.known.prefix) + len(track.sent) for track in self.tracks)

    def prepare(self, text: bytes) -> Prepared:
        """Decide what to send for a request body. Never raises: at worst the body goes as it came."""
        return drain(self.preparing(text))

    def preparing(
        self, text: bytes, resumed: Resumed | None = None, *, again: bool = False
    ) -> Generator[None, None, Prepared]:
        """``prepare`` in slices: yields where others may be served meanwhile.

        ``again`` says that no client asks: the body goes out once more, with what the model recalled in its reply.
        """
        call = self.kit.new_id()
        self._preparing += 1
        try:
            yield from self.admitting()
            if resumed is None or resumed.track not in self.tracks:  # what was found before may be gone by now
                resumed = self.resume(text)
            return (yield from self._prepare(call, text, resumed, again))
        except (Malformed, Invalid) as error:
            reason = f"{type(error).__name__.lower()}: {error}"
        except Exception as error:  # fail open: no fault of ours may stop a request
            reason = f"fault: {type(error).__name__}"
        finally:
            self._preparing -= 1
        return self.bypass(call, text, reason)

    def resume(self, text: bytes) -> Resumed | None:
        """The track that a body begins with, newest first. Raises ``Malformed``."""
        for track in self.tracks:
            body = self.kit.codec.resume(text, track.known)
            if body is not None:
                return Resumed(body, track)
        return None

    def bypass(self, call: bytes, text: bytes, reason: str) -> Prepared:
        """Let a request go as it came, and have the journal say why."""
        self._pending.append(Unread(call, self.kit.clock(), reason, text))
        return Prepared(call, text, bypass=reason)

    def go_plain(self, call: bytes, reason: str) -> None:
        """The provider refused what we made of a request: from now on, this session's requests go as they come."""
        self.admit()
        self.tracks.clear()
        self._books.write(self._books.line(Bypass(at=self.kit.clock(), call=call, reason=reason, plain=True)))

    def admit(self) -> None:
        """Book all that was prepared and not booked yet."""
        drain(self.admitting())

    def admitting(self) -> Generator[None, None, None]:
        """``admit`` in slices. What one caller leaves halfway, since its client went, the next one begins anew."""
        while self._pending:
            pending = self._pending[0]
            try:
                lines = yield from self._books.lines(pending)
                if self._take(pending):
                    self._durable[pending.call] = self._books.write(*lines)
            except Exception as error:  # fail open: it was sent; the journal says that it is not booked
                self._take(pending)
                self.tracks.clear()
                self._durable[pending.call] = self._books.write(
                    self._books.line(
                        Bypass(at=pending.at, call=pending.call, reason=f"not booked: {type(error).__name__}")
                    )
                )

    def durable(self, call: bytes) -> Future[None] | None:
        """Done when the intent of a call is on disk (or holds the store's error); None if nothing of it was booked."""
        return self._durable.get(call)

    def estimated(self, call: bytes) -> int:
        """The input tokens that a call was counted to send; 0 if it was not booked."""
        self.admit()
        entry = self.state.unsettled.get(call)
        if not entry:
            return 0
        return sum(self.state.sent(entry.head).values()) + sum(self.state.tools(entry).values())

    def settle(
        self, settlement: Settlement, reply: bytes = b"", asking: Asking | None = None, *, limited: bool = False
    ) -> Future[None]:
        """Book how a call ended, with the reply's bytes. Done when that, and all before it, is on disk.

        What the call was estimated at, and the reply's hash, are filled in. The recalls that a reply is ``asking`` for
        are answered into the call's history; where they are ``limited``, only with that.
        """
        digest = hashlib.sha256(reply).digest() if reply else b""
        with self._books.journal.together():
            estimated = self.estimated(settlement.call)
            self._durable.pop(settlement.call, None)
            settlement = structs.replace(settlement, estimated=estimated, reply=digest)
            lines = [self._books.line(settlement, (reply,) if reply else ())]
            if asking is not None and self.answerable(settlement.call):
                request = self.state.unsettled[settlement.call]
                lines += map(self._books.line, recalls(self.state, self.kit, request, asking, limited=limited))
            return self._books.write(*lines)

    def answerable(self, call: bytes) -> bool:
        """Whether the recalls in the reply to a call can be answered into its history."""
        self.admit()
        return call in self.state.unsettled and self.state.unsettled[call].offered and not self.state.plain

    def flush(self) -> None:
        """Book what is not booked yet, and wait until all of it is on disk. Raises ``StoreError``."""
        self.admit()
        self._books.journal.flush()

    def retry(self) -> Future[None] | None:
        """Try once more to store what a failing store has not taken; nothing else would, while nothing is asked.

        Done when that is on disk; None if nothing waits.
        """
        return self._books.journal.write() if self._books.journal.waiting else None

    def recall(self, handle: str, *, by: str = "host") -> str:
        """The content behind a handle, exactly as it came. Raises ``UnknownHandle``, ``StoreError``."""
        self.admit()
        cell = self.state.by_handle.get(handle, -1)
        recall = Recall(at=self.kit.clock(), handle=clean(handle), by=by, cell=cell, found=cell >= 0)
        self._books.write(self._books.line(recall))
        if cell < 0:
            raise UnknownHandle(f"no content of this session has the handle {handle!r}")
        try:
            return content(self.state, self.kit.store, self.kit.codec, cell)
        except StoreMissing:  # it is on its way to the store
            self._books.journal.flush()
            return content(self.state, self.kit.store, self.kit.codec, cell)

    def _prepare(
        self, call: bytes, text: bytes, resumed: Resumed | None, again: bool
    ) -> Generator[None, None, Prepared]:
        body, track = (resumed.body, resumed.track) if resumed else (self.kit.codec.split(text), None)
        raws, head = raw_messages(body), track.head if track else -1
        found = yield from recognise(self.state, self.kit.codec, self.scope, raws, head)
        found.variants[:0] = track.variants if track else ()
        model = model_of(body)
        meter = self.kit.meter(model)
        start = begun(self.state, found.parent)
        offers = offering(self.state, self.kit.codec, found, body, wanted=self.kit.recall, begun=start)
        eden = self._eden(found, body, meter, start, offers)
        planned = yield from _plan(eden, found, meter)
        planned, outgoing = self._project(body, track, raws, found, planned, eden.faults, offers)
        for fault in eden.faults:
            self._pending.append(Unread(call, self.kit.clock(), fault))
        kept = self._track(body, track, outgoing, found)
        at = self.kit.clock()
        self._pending.append(
            Pending(call, at, model, body, outgoing, found, planned, track, kept, meter, offers, again)
        )
        stream = body.fields.get("stream") == b"true"
        name = TOOL_NAME if offers.tool else ""
        return Prepared(call, outgoing.text, model, "; ".join(eden.faults), stream, name, offers.answered)

    def _eden(self, found: Recognised, body: Body, meter: Meter, start: bool, offers: Offering) -> Eden:
        rules = Rules(() if self.state.plain else self.kit.policies, meter.count, self._mint, self.kit.retrieval)
        cell = len(self.state.cells) + new_schemas(self.state, body, self.kit.codec) + offers.begins
        return Eden(self.state, rules, found.parent, cell, start)

    def _project(
        self,
        body: Body,
        track: Track | None,
        raws: list[tuple[bytes, bytes]],
        found: Recognised,
        planned: tuple[Planned, ...],
        faults: list[str],
        offers: Offering,
    ) -> tuple[tuple[Planned, ...], Outgoing]:
        """What is sent; a projection that breaks a rule is made again without the edits of this request."""
        tool = offers.tool if offers.spliced else b""
        try:
            return planned, project(body, track, raws, self.state, found, planned, self.kit.codec, tool)
        except (Invalid, Malformed) as error:
            faults.append(f"validator: {error}")
            plain = tuple(replace(plan, edits=()) for plan in planned)
            return plain, project(body, track, raws, self.state, found, plain, self.kit.codec, tool)

    def _track(self, body: Body, track: Track | None, outgoing: Outgoing, found: Recognised) -> Track:
        head = len(self.state.nodes) + len(found.drafts) - 1 if found.drafts else found.parent
        kept = Track(body, outgoing, head, tuple(found.variants))
        if track is not None and track in self.tracks:
            self.tracks.remove(track)
        self.tracks.appendleft(kept)
        return kept

    def _take(self, pending: Pending | Unread) -> bool:
        """Take a request out of those that wait to be booked; False if another caller has been faster."""
        if not self._pending or self._pending[0] is not pending:
            return False
        self._pending.popleft()
        return True


def drain(steps: Generator[None, None, T]) -> T:
    """Run slices to their end."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


def _plan(eden: Eden, found: Recognised, meter: Meter) -> Generator[None, None, tuple[Planned, ...]]:
    planned = []
    for draft in found.drafts:
        if draft.eden and eden.rules.policies:
            yield from warmed(meter, draft)
        planned.append(eden.plan(draft))
        yield
    return tuple(planned)
