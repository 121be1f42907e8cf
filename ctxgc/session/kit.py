"""What sessions are given and what they give: the kit that a process shares, and the answer to a request.

Rule: values only; everything that reads a clock, makes an id or opens a file is in the kit, and chosen by the shell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.session.admission import Meter
from ctxgc.session.projection import Track
from ctxgc.session.timing import Timer, Untimed
from ctxgc.store import Store
from ctxgc.wire.codec import Body, Codec

if TYPE_CHECKING:
    from ctxgc.ledger import Ledger
    from ctxgc.session.watching import Watch
    from ctxgc.summarise import Asker


@dataclass(frozen=True, slots=True)
class Kit:
    """What all sessions of a process share. ``clock`` gives Unix seconds, ``new_id`` 16 bytes for a call.

    ``meter`` makes the counter for a model; ``retrieval`` maps a tool's name to a source or None; ``observe`` is told
    every entry, with the session's state after it. ``tariff`` gives a model's prices, ``pacer`` decides by them.
    ``recall`` says that histories may offer the recall tool: only where somebody answers its calls. ``summariser``
    has a part in compacting, if there is one, and ``ledger`` gives the ledger of the session with that key.
    ``milestones`` are what ends a period by itself. ``timer`` is told how long the parts of the work take.
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
    summariser: Summariser | None = None
    ledger: Callable[[bytes], Ledger] | None = None
    milestones: Sequence[Watch] = ()
    timer: Timer = field(default_factory=Untimed)


@dataclass(frozen=True, slots=True)
class Summariser:
    """Who fills in a model's part of a record: what asks, which model (empty: the session's own), and its window in
    tokens (0: as the tariff of that model says)."""

    ask: Asker
    model: str = ""
    window: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """What to send, and whether a stream is asked for.

    ``bypass`` says why the request goes as it came, because of us (empty: it does not). ``recall`` is the name of the
    recall tool, whose calls the client must not see (empty: its history offers none), and ``answered`` says that they
    are answered. ``new_window_advised`` is the opening balance for a new window, where this history has been compacted
    as often as may be (empty: go on).
    """

    call: bytes
    body: bytes
    model: str = ""
    bypass: str = ""
    stream: bool = False
    recall: str = ""
    answered: bool = False
    new_window_advised: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A body that is known to begin with a track of this session, split behind it."""

    body: Body
    track: Track
