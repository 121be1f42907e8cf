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

from msgspec import structs

from ctxgc.core import stub
from ctxgc.core.bookings import Period
from ctxgc.core.journal import Bypass, Pin, Recovery, Settlement, decode
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.session.admission import Pending, model_of
from ctxgc.session.afterwards import Afterwards
from ctxgc.session.booking import Books, Unread
from ctxgc.session.changes import came_of
from ctxgc.session.coming import coming, planning
from ctxgc.session.cycle import TRACKS, Cycle
from ctxgc.session.eden import clean
from ctxgc.session.errands import Closing, Errand, Ran
from ctxgc.session.kit import Kit, Prepared, Resumed
from ctxgc.session.pacing import tariff_for
from ctxgc.session.pinning import pinnable
from ctxgc.session.projecting import keep, projected, unpointed
from ctxgc.session.projection import Invalid, Track
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.recalling import recalled, recalls
from ctxgc.session.steps import drain
from ctxgc.wire.codec import Asking


class Session:
    """See the module. Not thread-safe: shells hold a lock around its verbs."""

    def __init__(self, key: bytes, scope: bytes, origin: str, kit: Kit, state: State | None = None) -> None:
        self.key, self.scope, self.origin, self.kit = key, scope, origin, kit
        self.state = state or State()
        self.tracks: deque[Track] = deque(maxlen=TRACKS)
        self._pending: deque[Pending | Unread] = deque()
        self._durable: dict[bytes, Future[None]] = {}
        self._preparing = self._out = 0
        self._books = Books(key, scope, origin, kit, self.state)
        self._mint = partial(stub.mint, kit.store.secret, key)
        self._cycle = Cycle(key, self.state, kit, self._mint)
        self._afterwards = Afterwards(self._cycle, self._books, restored=bool(self.state.nodes))

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
        under_way = self._preparing or self._out or self._pending or self._afterwards or self.state.unsettled
        return not (under_way or self._books.journal.waiting)

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
            yield from self.reflecting()
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
        self._book()
        self.tracks.clear()
        self._books.write(self._books.line(Bypass(at=self.kit.clock(), call=call, reason=reason, plain=True)))

    def admit(self) -> None:
        """Book all that was prepared and not booked yet, and do what can wait until a request has left."""
        self._book()
        drain(self.reflecting())

    def reflecting(self) -> Generator[None, None, None]:
        """Mark what is new and plan for the next request, in slices: anyone may go on where another left off.

        It must be done before the next request is decided; nothing else waits for it.
        """
        yield from self._afterwards.doing(wanted=bool(self.kit.policies) and not self.state.plain)

    def _book(self) -> None:
        drain(self.admitting())

    def admitting(self) -> Generator[None, None, None]:
        """``admit`` in slices. What one caller leaves halfway, since its client went, the next one begins anew."""
        while self._pending:
            pending = self._pending[0]
            try:
                lines = yield from self._books.lines(pending)
                if self._take(pending):
                    self._durable[pending.call] = self._books.write(*lines)
                    self._reflect_on(pending)
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
        self._book()
        entry = self.state.unsettled.get(call)
        return self.state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered) if entry else 0

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
                request, ledger = self.state.unsettled[settlement.call], self._cycle.telling.ledger
                lines += map(self._books.line, recalls(self.state, self.kit, request, asking, ledger, limited=limited))
            return self._books.write(*lines)

    def answerable(self, call: bytes) -> bool:
        """Whether the recalls in the reply to a call can be answered into its history."""
        self._book()
        return call in self.state.unsettled and self.state.unsettled[call].offered and not self.state.plain

    def flush(self) -> None:
        """Book what is not booked yet, and wait until all of it is on disk. Raises ``StoreError``."""
        self.admit()
        self._books.journal.flush()

    def retry(self) -> Future[None] | None:
        """Try once more to store what a failing store has not taken; None if nothing waits. Nothing else would."""
        return self._books.journal.write() if self._books.journal.waiting else None

    def recall(self, handle: str, *, by: str = "host") -> str:
        """The content behind a handle, exactly as it came; without ``by``, for who only looks on, nothing is booked.
        Raises ``UnknownHandle``, ``StoreError``."""
        self._book()
        return recalled(self.state, self.kit, self._books, handle, by=by, ledger=self._cycle.telling.ledger)

    def pin(self, cell: int, pinned: bool = True) -> Future[None] | None:
        """Have a cell stay as it is sent, or let go of it. Done when that is on disk; None where it is so by now.

        Only a host's code calls this. Raises ``CannotPin``, which says why not.
        """
        self._book()
        if not pinnable(self.state, cell, pinned):
            return None
        self._cycle.forget()
        self._afterwards.again()
        return self._books.write(self._books.line(Pin(at=self.kit.clock(), cell=cell, pinned=pinned)))

    def milestone(self, name: str) -> Period | None:
        """A sub-task is done: close the ledger's period, if there is a ledger, and let what led there be compacted.

        Raises ``LedgerError`` where a critical fact does not agree, and says which; then nothing is booked.
        """
        self._book()
        ledger = self._cycle.telling.ledger
        closed = ledger.close(clean(name)).period if ledger else None
        self._out += 1
        self.ran(Ran(milestone=clean(name)))
        return closed

    def closing(self, name: str) -> Closing:
        """``milestone`` as an errand, for shells that must not wait."""
        self._out += 1
        return Closing(self._cycle.telling.ledger, clean(name))

    def errands(self) -> list[Errand]:
        """What is to be run off the request's way, in a thread; what comes of each goes to ``ran``."""
        found = self._cycle.errands()
        self._out += len(found)
        return found

    def ran(self, ran: Ran) -> None:
        """Book what came of an errand, and plan anew by it."""
        self._out = max(self._out - 1, 0)
        if ran.asked:
            self._cycle.compacting.questions.answered()
        self._book()
        for entry in came_of(self.state, self.kit, ran):
            self._books.write(self._books.line(entry))
        if ran.summaries or ran.milestone:  # for whichever history: it is looked into anew
            self._cycle.compacting.forget()
            self._afterwards.again()

    def _prepare(
        self, call: bytes, text: bytes, resumed: Resumed | None, again: bool
    ) -> Generator[None, None, Prepared]:
        came = yield from coming(self.state, self.kit, self.scope, text, resumed)
        found, body = came.found, came.body
        model = model_of(body)
        meter, at, tariff = self.kit.meter(model), self.kit.clock(), tariff_for(self.state, self.kit.tariff(model))
        planned, faults = yield from planning(self.state, self.kit, self._mint, came, meter)
        collected = yield from self._cycle.collected(found, planned, body, model, meter, tariff, at)
        planned, collected = unpointed(planned, collected), self._cycle.told(collected, came, model, meter)
        wanted = collected.compaction
        planned, collected, outgoing = projected(self.state, self.kit, came, planned, collected, faults)
        self._cycle.reported.update(faults)
        if wanted and not collected.compaction:
            self._cycle.compacting.refused()
        self._pending += (Unread(call, at, fault) for fault in faults)
        if collected.edits or collected.compaction:  # other histories may hold the same: their bytes are made anew
            self.tracks.clear()
        kept = keep(self.tracks, self.state, came, outgoing)
        pending = Pending(call, at, model, body, outgoing, found, planned, came.track, kept, meter, tariff, collected)
        self._pending.append(replace(pending, offering=came.offers, again=again))
        stream, name = body.fields.get("stream") == b"true", TOOL_NAME if came.offers.tool else ""
        advice = self._cycle.compacting.advice.get(found.parent, "")
        return Prepared(call, outgoing.text, model, "; ".join(faults), stream, name, came.offers.answered, advice)

    def _reflect_on(self, pending: Pending | Unread) -> None:
        if isinstance(pending, Pending) and self.kit.policies and not self.state.plain:
            self._afterwards.add(pending)

    def _take(self, pending: Pending | Unread) -> bool:
        """Take a request out of those that wait to be booked; False if another caller has been faster."""
        if not self._pending or self._pending[0] is not pending:
            return False
        self._pending.popleft()
        return True
