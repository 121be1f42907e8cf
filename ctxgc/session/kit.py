"""What sessions are given and what they give: the kit that a process shares, and the answer to a request.

Rule: values only; everything that reads a clock, makes an id or opens a file is in the kit, and chosen by the shell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.session.admission import Meter
from ctxgc.session.projection import Track
from ctxgc.store import Store
from ctxgc.wire.codec import Body, Codec


@dataclass(frozen=True, slots=True)
class Kit:
    """What all sessions of a process share. ``clock`` gives Unix seconds, ``new_id`` 16 bytes for a call.

    ``meter`` makes the counter for a model; ``retrieval`` maps a tool's name to a source or None; ``observe`` is told
    every entry, with the session's state after it. ``tariff`` gives a model's prices, ``pacer`` decides by them.
    ``recall`` says that histories may offer the recall tool: only where somebody answers its calls.
    """

    store: Store
    codec: Codec
    policies: Sequence[Policy]
    meter: Callable[[str], Meter]
    clock: Callable[[], float]
    new_id: Callable[[], bytes]
    retrieval: Callable[[str], str | None] = lambda _: None
    observe: Callable[[State, AnyEntry], None] = lambda _state, _entry: None
    tariff: Callable[[str], Tariff] = lambda _model: Tariff()
    pacer: Pacer = field(default_factory=Pacer)
    recall: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """What to send, and whether a stream is asked for.

    ``bypass`` says why the request goes as it came, because of us (empty: it does not). ``recall`` is the name of the
    recall tool, whose calls the client must not see (empty: its history offers none), and ``answered`` says that they
    are answered.
    """

    call: bytes
    body: bytes
    model: str = ""
    bypass: str = ""
    stream: bool = False
    recall: str = ""
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Resumed:
    """A body that is known to begin with a track of this session, split behind it."""

    body: Body
    track: Track
