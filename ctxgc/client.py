"""``ctxgc.wrap``: an OpenAI client whose chat completions go through ctxgc, sync or async, streamed or not.

Rule: only ``chat.completions.create`` is changed, on a copy of the client; what it returns is what the client returned.
"""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ctxgc.assemble import make_kit
from ctxgc.background import Background
from ctxgc.core.policy import Policy
from ctxgc.errors import UnknownHandle
from ctxgc.library import Observe, encode, finish, ledger_of, outgoing, request_body, settle, summariser_from
from ctxgc.session import Prepared, Session, Sessions, drain
from ctxgc.session.errands import Access
from ctxgc.store import Store, open_store

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger
    from ctxgc.summarise import Asker

Client = TypeVar("Client")
_FIELDS = ("tools", "functions", "metadata", "prompt_cache_key")


def wrap(
    client: Client,
    *,
    store: str | Store = "sqlite://",
    policies: Sequence[Policy] | str = "generational",
    tags: Mapping[str, str] | None = None,
    ledger: str | Ledger | None = None,
    summariser: str | Asker | None = "session",
    observe: Observe = lambda _state, _entry: None,
) -> Client:
    """A copy of an OpenAI client (``OpenAI``, ``AsyncOpenAI`` or alike) whose completions are measured and collected.

    Conversations are told apart by the histories that are sent. Copies made by ``copy`` and ``with_options`` are
    wrapped too; ``parse`` and other helpers that do not call ``create`` go around ctxgc. The copy has an attribute
    ``ctxgc`` with ``recall(handle)``, ``milestone(name)`` and ``flush()``. ``store``, ``policies``, ``tags`` and
    ``ledger`` are as for ``open_session``, and so are ``observe`` and ``summariser``; by default the latter is each
    conversation's own model, asked where the client asks it, but not through the client. Raises ``TypeError`` for what
    has no ``chat.completions.create``, ``StoreError``, ``PolicyError``.
    """
    from ctxgc.policies import from_config

    if not callable(getattr(client, "copy", None)) or not hasattr(getattr(client, "chat", None), "completions"):
        raise TypeError(f"{type(client).__name__} is not an OpenAI client: it has no chat.completions")
    opened = open_store(store) if isinstance(store, str) else store
    books, own = ledger_of(opened, ledger), from_config(policies) if isinstance(policies, str) else policies
    shared = (lambda _key: books) if books else None
    sessions = Sessions(make_kit(opened, own, tags, observe, summariser=summariser_from(summariser), ledger=shared))
    base, key = getattr(client, "base_url", ""), getattr(client, "api_key", "")
    calls = _Calls(sessions, Access(str(base), key if isinstance(key, str) else ""))
    wrapped = _wrapped(client.copy(), calls)  # type: ignore[attr-defined]
    weakref.finalize(wrapped, finish, sessions, opened if isinstance(store, str) else None)
    return wrapped  # type: ignore[no-any-return]


def _wrapped(client: Any, calls: _Calls) -> Any:
    """A client whose calls are ``calls``, and so are those of its copies; each has the same ``ctxgc``."""
    client.ctxgc = Books(calls)
    completions = client.chat.completions
    completions.create = _create(calls, completions.create)
    copy = client.copy

    @functools.wraps(copy)
    def copied(*args: Any, **given: Any) -> Any:
        other = _wrapped(copy(*args, **given), calls)
        other.__dict__["_ctxgc_origin"] = client  # while a copy lives, so does the store that its origin opened
        return other

    client.copy = client.with_options = copied
    return client


class Books:
    """What a wrapped client offers besides its calls, as its attribute ``ctxgc``."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def recall(self, handle: str) -> str:
        """The content behind a stub's handle, exactly as it came. Raises ``UnknownHandle``, ``StoreError``."""
        return self._calls.recall(handle)

    @property
    def new_window_advised(self) -> str:
        """As ``Conversation.new_window_advised``, of the call that was prepared last."""
        return self._calls.advice

    def milestone(self, name: str) -> None:
        """A sub-task of the conversation that was used last is done; see ``Conversation.milestone``."""
        self._calls.milestone(name)

    def flush(self) -> None:
        """Wait until everything so far is on disk. Raises ``StoreError``."""
        self._calls.flush()


class _Calls:
    """Prepares and settles calls of any conversation, from any thread."""

    def __init__(self, sessions: Sessions, access: Access) -> None:
        self._sessions = sessions
        self._lock = threading.Lock()
        self.advice = ""
        self._background = Background(self._lock, access)

    def prepare(self, messages: Sequence[Any], given: Mapping[str, Any]) -> tuple[list[Any], _Open | None]:
        """What to send, and what to settle; on any fault of ours, what came and nothing."""
        try:
            fields = {key: given[key] for key in _FIELDS if _is_given(given.get(key))}
            body = request_body([encode(message) for message in messages], str(given.get("model", "")), fields)
            with self._lock:
                found = drain(self._sessions.finding({}, body))
                prepared = drain(found.session.preparing(body, found.resumed))
                self.advice = prepared.new_window_advised
            return outgoing(messages, prepared.body), _Open(self, found.session, prepared)
        except Exception:  # fail open: the client library will say what is wrong with a call, if anything is
            return list(messages), None

    def recall(self, handle: str) -> str:
        """The content behind a handle of any of the conversations in memory."""
        with self._lock:
            for session in self._sessions:
                session.admit()
                if handle in session.state.by_handle:
                    return session.recall(handle)
        raise UnknownHandle(f"no content here has the handle {handle!r}")

    def milestone(self, name: str) -> None:
        """End a period of the conversation that was used last."""
        with self._lock:
            session = next(reversed(tuple(self._sessions)), None)
            if session is not None:
                session.milestone(name)
                session.admit()
        if session is not None:
            self._background.run(session)

    def flush(self) -> None:
        """Wait until everything so far is on disk."""
        with self._lock:
            for session in self._sessions:
                session.flush()

    def settle(self, session: Session, prepared: Prepared, reply: bytes, error: str, stream: bool) -> None:
        """Book how a call ended; no fault of ours may come between the application and its answer."""
        try:
            with self._lock:
                settle(session, prepared, reply, error=error, stream=stream)
            self._background.run(session)
        except Exception:  # the answer has been paid for; what could not be booked is missing in the journal
            pass


class _Open:
    """A call that was prepared and not settled yet."""

    def __init__(self, calls: _Calls, session: Session, prepared: Prepared) -> None:
        self._calls = calls
        self._session = session
        self._prepared = prepared
        self._open = True

    def settle(self, reply: bytes, error: str = "", *, stream: bool = False) -> None:
        """Book how it ended, once."""
        if self._open:
            self._open = False
            self._calls.settle(self._session, self._prepared, reply, error, stream)


def _create(calls: _Calls, create: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(create)
    def wrapped(*, messages: Sequence[Any], **given: Any) -> Any:
        sent, call = calls.prepare(list(messages), given)
        try:
            reply = create(messages=sent, **given)
        except BaseException as error:
            if call:
                call.settle(b"", type(error).__name__)
            raise
        if call is None:
            return reply
        # Decorators hide from inspection whether a client's method is a coroutine function; what it returns does not.
        return _awaited(call, reply, given) if inspect.isawaitable(reply) else _settled(call, reply, given)

    return wrapped


async def _awaited(call: _Open, reply: Awaitable[Any], given: Mapping[str, Any]) -> Any:
    try:
        found = await reply
    except BaseException as error:
        call.settle(b"", type(error).__name__)
        raise
    return _settled(call, found, given)


def _settled(call: _Open, reply: Any, given: Mapping[str, Any]) -> Any:
    """The reply, booked; of a stream, a stand-in that books it when it ends. What cannot be read has no usage."""
    if given.get("stream") is True and (hasattr(reply, "__iter__") or hasattr(reply, "__aiter__")):
        return _Stream(reply, call)
    call.settle(_encoded(reply))
    return reply


class _Stream:
    """A client's stream, with a copy of each chunk kept until the stream ends, breaks or is closed."""

    def __init__(self, stream: Any, call: _Open) -> None:
        self._stream = stream
        self._call = call
        self._copy: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            for chunk in self._stream:
                yield self._taken(chunk)
        finally:
            self._settle()

    def __next__(self) -> Any:
        try:
            return self._taken(next(self._stream))
        except BaseException:  # its end, or a fault of the upstream's
            self._settle()
            raise

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for chunk in self._stream:
                yield self._taken(chunk)
        finally:
            self._settle()

    async def __anext__(self) -> Any:
        try:
            return self._taken(await anext(self._stream))
        except BaseException:
            self._settle()
            raise

    def close(self) -> Any:
        """End the stream early, as the client's own does; of an asynchronous one, to be awaited."""
        self._settle()
        return self._stream.close()

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> _Stream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def _taken(self, chunk: Any) -> Any:
        self._copy.append(b"data: " + _encoded(chunk) + b"\n\n")
        return chunk

    def _settle(self) -> None:
        self._call.settle(b"".join(self._copy), stream=True)


def _encoded(reply: Any) -> bytes:
    """A reply or chunk as it came, nearly; empty for what is none, such as a raw response."""
    try:
        return encode(reply) if hasattr(reply, "model_dump") else b""
    except Exception:  # a foreign object that cannot be dumped is booked as a reply without content
        return b""


def _is_given(value: Any) -> bool:
    """Whether a parameter was given; the client's markers for "not given" are not JSON."""
    return isinstance(value, list | tuple | dict | str) and bool(value)
