"""ctxgc in process: a conversation around a list of messages, and a client whose calls go through one.

Rule: the same two verbs as the proxy, over the same session. What was not changed is returned as the very objects that
came in.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from ctxgc.assemble import make_kit, summariser_of
from ctxgc.background import Background
from ctxgc.core.bookings import Period
from ctxgc.core.journal import AnyEntry, Settlement
from ctxgc.core.policy import Policy
from ctxgc.core.spans import elements, find
from ctxgc.core.state import State
from ctxgc.session import Kit, Prepared, Session, drain
from ctxgc.session.kit import Summariser
from ctxgc.session.reading import Asked, excerpt
from ctxgc.store import Store, open_store

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger
    from ctxgc.summarise import Asker

OWN = "own"
"""The model that an application's own summariser is asked for: it knows better."""

Observe = Callable[[State, AnyEntry], None]
"""Who is told every journal entry, with the state after it: figures, or tracing."""
Messages = Sequence[Any]
"""Messages as the application has them: dictionaries, or the objects that its client library returns."""


class Conversation:
    """One conversation in process. Make it with ``open_session``; it is a context manager. Thread-safe.

    ``prepare`` is called with the messages before each model call, ``settle`` with the reply after it.
    """

    def __init__(
        self, session: Session, store: Store, model: str, *, owns_store: bool, ledger: Ledger | None = None
    ) -> None:
        self._current = [session]
        self._store = store
        self._owns_store = owns_store
        self._model = model
        self._lock = threading.RLock()
        self._background = Background(self._lock)
        self._ledger = ledger
        self._advice = ""
        self._last: Prepared | None = None
        # A program may end without closing: what its last call left on the way to the disk must get there.
        self._finish = weakref.finalize(self, finish, self._current, store if owns_store else None)

    @property
    def _session(self) -> Session:
        return self._current[0]

    @property
    def state(self) -> State:
        """What the conversation's journal comes to: cells, tags, tokens, edits. To be read, not changed."""
        with self._lock:
            self._session.admit()
            return self._session.state

    @property
    def id(self) -> str:
        """The session's key in the store, in hex: what ``ctxgc profile --session`` takes."""
        return self._session.key.hex()

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that it was opened with."""
        return self._ledger

    @property
    def new_window_advised(self) -> str:
        """The opening balance for a new window, since the last prepared history was compacted as often as may be; empty
        while it can go on."""
        return self._advice

    def milestone(self, name: str) -> Period | None:
        """A sub-task is done: close the ledger's period, if there is a ledger, and let what led there be compacted.

        Raises ``LedgerError`` where a critical fact does not agree with its voucher or live file, and says which.
        """
        with self._lock:
            self._mend()
            closed = self._session.milestone(name)
            self._session.admit()
        self._background.run(self._session, self._is_current(self._session))
        return closed

    def _is_current(self, session: Session) -> Callable[[], bool]:
        current, finish = self._current, self._finish  # and not the conversation, which a thread would keep alive
        return lambda: current[0] is session and finish.alive

    def _mend(self) -> None:
        if self._session.broken:  # its journal has lost an entry, or another process has added one
            self._current[0] = _reopened(self._session.key, self._session.kit, self._session)

    def prepare(
        self,
        messages: Messages,
        *,
        tools: Sequence[Any] = (),
        model: str = "",
        tags: Mapping[int, str] | None = None,
        pins: Sequence[int] = (),
    ) -> list[Any]:
        """The messages to send instead of ``messages``, in a new list; those unchanged are the same objects.

        ``tags`` gives messages (by index) tags of the application's own, ``pins`` keeps messages byte for byte.
        ``tools`` and ``model`` are those of the call, to be counted. Never raises for anything that is in a message.
        """
        messages = list(messages)
        with self._lock:
            return self._prepare(messages, tools, model or self._model, tags or {}, frozenset(pins))

    def _prepare(
        self, messages: Messages, tools: Sequence[Any], model: str, tags: Mapping[int, str], pins: frozenset[int]
    ) -> list[Any]:
        self._last = None
        try:
            self._mend()
            raws = [encode(_marked(message, tags.get(at), at in pins)) for at, message in enumerate(messages)]
            self._last = self._session.prepare(request_body(raws, model, {"tools": tools} if tools else {}))
            self._advice = self._last.new_window_advised
            return outgoing(messages, self._last.body)
        except Exception as error:  # fail open: what JSON cannot hold is for the client library to refuse
            if self._last is None:
                reason = f"fault: {type(error).__name__}"
                self._last = self._session.bypass(self._session.kit.new_id(), b"", reason)
            return list(messages)

    def settle(self, reply: Any = None, *, error: str = "") -> None:
        """Book the reply to the last prepared call: a response object or dictionary with ``usage``, or an error."""
        with self._lock:
            if self._last is not None:
                settle(self._session, self._last, b"" if reply is None else encode(reply), error=error)
                self._last = None
        self._background.run(self._session, self._is_current(self._session))

    def recall(self, handle: str, lines: tuple[int, int] | None = None, search: str = "") -> str:
        """The content behind a stub's handle, exactly as it came. Raises ``UnknownHandle``.

        With ``lines`` (from 1, both ends included) or ``search`` it is what the model's own recall tool would give: a
        part of at most 20,000 characters, whose last line says what it is a part of.
        """
        with self._lock:
            text = self._session.recall(handle)
        return excerpt(text, Asked(handle, lines, None, search)) if lines or search else text

    def close(self) -> None:
        """Wait until all is on disk, and let go of a store that was opened here. Raises ``StoreError``."""
        self._background.wait()
        with self._lock:
            self._finish.detach()
            try:
                self._session.flush()
            finally:
                if self._owns_store:
                    self._store.close()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_session(
    name: str = "",
    *,
    model: str = "gpt-5",
    store: str | Store = "sqlite://",
    policies: Sequence[Policy] | str = "generational",
    tags: Mapping[str, str] | None = None,
    ledger: str | Ledger | None = None,
    summariser: str | Asker | None = None,
    observe: Observe = lambda _state, _entry: None,
) -> Conversation:
    """Open a conversation. With a ``name`` and a ``store`` on disk it goes on where it was, also after a crash.

    ``store`` is a URL or an open store; by default one in memory. ``policies`` are named as for ``--policy``, or given.
    ``tags`` maps patterns of tool names to sources: their results are tagged ``retrieval:<source>``.
    ``ledger`` is an open ledger, or the name of one in the store: it is consulted at every turn, and what is posted
    there is told to the model. ``summariser`` is a model as litellm names it, or a callable: it has a part in the
    records of spans that are compacted; without one, they hold what code can tell. ``observe`` is told every journal
    entry: ``ctxgc.telemetry.otel.start("auto").observe`` makes spans of them.
    Raises ``StoreError``, ``PolicyError``.
    """
    from ctxgc.policies import from_config
    from ctxgc.session.identity import Identity, scope_of

    opened = open_store(store) if isinstance(store, str) else store
    books, own = ledger_of(opened, ledger), from_config(policies) if isinstance(policies, str) else policies
    shared = (lambda _key: books) if books else None
    kit = make_kit(opened, own, tags, observe, summariser=summariser_from(summariser), ledger=shared)
    key = scope_of(b"in process", Identity(name or uuid4().hex))
    return Conversation(_reopened(key, kit), opened, model, owns_store=isinstance(store, str), ledger=books)


def ledger_of(store: Store, given: str | Ledger | None) -> Ledger | None:
    """The ledger that was given, by its name or open; None for none."""
    from ctxgc.ledger import open_ledger

    return open_ledger(store, given) if isinstance(given, str) else given


def summariser_from(given: str | Asker | None) -> Summariser | None:
    """The summariser that was given, by its model's name or as a callable; None for none."""
    return summariser_of(given) if isinstance(given, str) else Summariser(given, OWN) if given else None


def settle(session: Session, prepared: Prepared, reply: bytes, *, error: str = "", stream: bool = False) -> None:
    """Book the reply to a prepared call, given as the bytes that a provider would have sent."""
    reader = session.kit.codec.reader(stream=stream)
    reader.feed(reply)
    read = reader.finish()
    entry = Settlement(
        at=session.kit.clock(),
        call=prepared.call,
        outcome="error" if error or read.error else "partial" if stream and not read.complete else "ok",
        status=0,
        model=read.model or prepared.model,
        usage=read.usage,
    )
    session.settle(entry, reply)
    session.admit()  # the answer is there: what the next request will need is done now


def request_body(raws: Sequence[bytes], model: str, fields: Mapping[str, Any]) -> bytes:
    """The body that a client would send for these messages, as far as ctxgc looks at it."""
    rest = b"".join(b",%b:%b" % (encode(key), encode(value)) for key, value in {**fields, "model": model}.items())
    return b'{"messages":[' + b",".join(raws) + b"]" + rest + b"}"


def outgoing(messages: Messages, sent: bytes) -> list[Any]:
    """The messages of a body as it is sent: those that were not changed are the objects that came in."""
    found = find(sent, ("messages",))
    history = found.of(sent) if found else b"[]"
    came: dict[bytes, deque[Any]] = {}
    for message in messages:
        came.setdefault(encode(message), deque()).append(message)
    parts = (span.of(history) for span in elements(history))
    return [came[part].popleft() if came.get(part) else json.loads(part) for part in parts]


def encode(value: Any) -> bytes:
    """A value as JSON; objects of client libraries as they would send them. Raises ``TypeError``, ``ValueError``."""
    try:
        return msgspec.json.encode(value, enc_hook=_plain)
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(value, default=_plain).encode()


def _reopened(key: bytes, kit: Kit, broken: Session | None = None) -> Session:
    """The session of that key as the store has it, or a new one."""
    session = drain(Session.restoring(key, kit)) or Session(key, key, "in process", kit)
    session.recover(broken)
    return session


def finish(sessions: Iterable[Session], store: Store | None) -> None:
    """Have everything on disk, as far as the store allows, and close it if it is given: at the end of a program."""
    for session in sessions:
        try:
            session.flush()
        except Exception:  # it was tried to the last
            pass
    if store is not None:
        store.close()


def _marked(message: Any, tag: str | None, pin: bool) -> Any:
    if tag is None and not pin:
        return message
    return {**_plain(message), "ctxgc": {"tag": tag, "pin": pin}}


def _plain(value: Any) -> Any:
    """An object of a client library as plain data: pydantic models dump what was set, as their client sends them."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_unset=True) if dump else dict(value)
