"""Which session a request belongs to: by the id its client sends, else by the history it carries.

Rule: a session is only ever found within its credential; a history joins a session without an id only if they share
more than an opening, that is a user's message.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.core.state import State
from ctxgc.session.admission import begun
from ctxgc.session.identity import Identity, credential, from_fields, from_headers, scope_of
from ctxgc.session.kit import Kit, Resumed
from ctxgc.session.recognise import SLICE, chain_of, raw_messages, scoped
from ctxgc.session.session import Session
from ctxgc.session.steps import drain
from ctxgc.store import StoreError

LIVE = 256
"""Sessions kept in memory; the least recently used one makes room and is restored from its journal when it goes on."""
MEMORY = 512 * 1024 * 1024
"""Bytes of histories that all sessions together keep ready to be resumed; the others are recognised by their hashes."""


@dataclass(frozen=True, slots=True)
class Found:
    """The session of a request, and where its body goes on from, if that is known already."""

    session: Session
    resumed: Resumed | None = None


class Sessions:
    """The sessions of a process. Not thread-safe: one event loop, or one lock."""

    def __init__(self, kit: Kit, live: int = LIVE) -> None:
        self.kit = kit
        self._limit = live
        self._live: OrderedDict[bytes, Session] = OrderedDict()
        self._of_credential: dict[bytes, list[bytes]] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._live.values()))

    def __len__(self) -> int:
        return len(self._live)

    def finding(self, headers: Mapping[str, str], text: bytes, query: bytes = b"") -> Generator[None, None, Found]:
        """The session for a request (header names in lower case), in slices. Raises ``Malformed``."""
        owner = credential(headers, query)
        named = from_headers(headers)
        if named:
            return Found((yield from self._get(owner, scope_of(owner, named), named)))
        resumed = self._resume(owner, headers, text)
        if resumed:
            return resumed
        body = self.kit.codec.split(text)
        named = from_fields(body.fields, headers)
        if named:
            return Found((yield from self._get(owner, scope_of(owner, named), named)))
        scope = scope_of(owner, Identity())
        raws = [raw for _, raw in raw_messages(body)]
        known = yield from self._deepest(owner, scope, raws)
        if known:
            return Found(known)
        return Found((yield from self._by_chain(owner, scope, raws)))

    def strays(self, headers: Mapping[str, str], query: bytes = b"") -> Session:
        """Where requests of a credential are booked that belong to no conversation, since they could not be read."""
        owner = credential(headers, query)
        key = hashlib.sha256(b"ctxgc strays\0" + owner).digest()
        live = self._live.get(key)
        if live is not None and not live.broken:
            return live
        try:
            return drain(self._new(owner, key, bytes(32)))
        except StoreError:  # it cannot be read now; what is to be noted here builds on nothing that is in it
            return self._keep(owner, Session(key, bytes(32), Identity().origin, self.kit))

    def get(self, key: bytes) -> Generator[None, None, Session | None]:
        """The session of that key, from memory or from its journal."""
        live = self._live.get(key)
        if live is not None and not live.broken:
            return live
        return (yield from Session.restoring(key, self.kit))

    def _get(self, owner: bytes, key: bytes, identity: Identity) -> Generator[None, None, Session]:
        session = yield from self.get(key)
        return self._keep(owner, session or Session(key, key, identity.origin, self.kit))

    def _resume(self, owner: bytes, headers: Mapping[str, str], text: bytes) -> Found | None:
        """A live session, not named by a header, that has a track which this body begins with."""
        for key in reversed(self._of_credential.get(owner, ())):
            session = self._live[key]
            resumed = None if session.broken else session.resume(text)
            if resumed is None:
                continue
            identity = from_fields(resumed.body.fields, headers) or Identity()
            if scope_of(owner, identity) == session.scope:
                self._live.move_to_end(key)
                self._lighten(session)
                return Found(session, resumed)
        return None

    def _deepest(self, owner: bytes, scope: bytes, raws: Sequence[bytes]) -> Generator[None, None, Session | None]:
        """The live session without an id that knows most of the history, by the bytes of its messages."""
        best, depth = None, 0
        digests = []
        for raw in raws:
            digests.append(hashlib.sha256(raw).digest())
            yield
        for key in self._of_credential.get(owner, ()):
            session = self._live[key]
            if session.scope != scope or session.broken:
                continue
            head, known = _known(session.state, digests)
            if known > depth and begun(session.state, head):
                best, depth = session, known
        return best

    def _by_chain(self, owner: bytes, scope: bytes, raws: Sequence[bytes]) -> Generator[None, None, Session]:
        """A session, in memory or in the store, that knows the history's beginning, or a new one.

        What a session knows of a history is a prefix of it, so the end of that is found by bisection.
        """
        chains: list[bytes] = []
        for number, raw in enumerate(raws):
            digest = scoped(scope, self.kit.codec.decode(raw))
            chains.append(chain_of(chains[-1] if chains else bytes(32), digest))
            if number % SLICE == SLICE - 1:
                yield
        low, high, found = 0, len(chains), None
        while low < high:
            middle = (low + high) // 2
            key = self._holder(owner, chains[middle])
            low, high, found = (middle + 1, high, key) if key else (low, middle, found)
        if found is not None:
            session = yield from self.get(found)
            if session and begun(session.state, session.state.by_chain.get(chains[low - 1], -1)):
                return self._keep(owner, session)
        key = hashlib.sha256(scope + (chains[-1] if chains else b"")).digest()
        return (yield from self._new(owner, key, scope))

    def _holder(self, owner: bytes, chain: bytes) -> bytes | None:
        """The key of a session that holds a history; what was booked lately need not be in the store yet."""
        for key in reversed(self._of_credential.get(owner, ())):
            if chain in self._live[key].state.by_chain and not self._live[key].broken:
                return key
        return self.kit.store.find(chain)

    def _new(self, owner: bytes, key: bytes, scope: bytes) -> Generator[None, None, Session]:
        session = yield from self.get(key)
        return self._keep(owner, session or Session(key, scope, Identity().origin, self.kit))

    def _keep(self, owner: bytes, session: Session) -> Session:
        """Have the session in memory as the newest one, and let the oldest go.

        Of two that were restored at once, the first is kept.
        """
        live = self._live.get(session.key)
        if live is not None and not live.broken:
            session = live
        else:
            keys = self._of_credential.setdefault(owner, [])
            if session.key not in keys:
                keys.append(session.key)
            self._live[session.key] = session
            session.recover(live)
        self._live.move_to_end(session.key)
        surplus = len(self._live) - self._limit
        for key in [key for key, kept in self._live.items() if kept.idle and kept is not session][: max(surplus, 0)]:
            self._drop(key)
        self._lighten(session)
        return session

    def _lighten(self, session: Session) -> None:
        """Let the histories that sessions keep ready go, oldest session first, until the rest fits in memory.

        Where no session in use has more than its share, they fit.
        """
        if session.weight <= MEMORY // self._limit:
            return
        weights = {key: kept.weight for key, kept in self._live.items()}
        surplus = sum(weights.values()) - MEMORY
        for key, weight in weights.items():
            if surplus > 0 and self._live[key] is not session:
                self._live[key].tracks.clear()
                surplus -= weight

    def _drop(self, key: bytes) -> None:
        del self._live[key]
        for owner, keys in tuple(self._of_credential.items()):
            if key in keys:
                keys.remove(key)
            if not keys:
                del self._of_credential[owner]


def _known(state: State, digests: Sequence[bytes]) -> tuple[int, int]:
    """The node at which the known part of a history ends, and how many messages that part has."""
    head, known = -1, 0
    for digest in digests:
        node = state.by_blob.get((head, digest))
        if node is None:
            break
        head, known = node, known + 1
    return head, known
