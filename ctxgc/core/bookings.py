"""The entries of a ledger's log: vouchers, facts, what overturns them, periods, and what a reconciliation found.

Rule: an entry only adds. A correction names what it corrects, and both stay.
"""

from __future__ import annotations

import msgspec

from ctxgc.core.entry import Entry


class Artifact(Entry, frozen=True, tag="artifact", kw_only=True):
    """A voucher: the original of something that a host's tool really produced.

    ``id`` is its handle: a MAC over where it lives and what it holds, so that one original has one id. ``type`` is
    ``file``, ``query``, ``test`` or ``tool_result``; ``ref`` says where it really lives (a path, a query, a command);
    ``hash`` is ``sha256:`` and the hex digest of its bytes, which the store keeps; ``size`` is in bytes.
    """

    id: str
    type: str
    ref: str
    hash: str
    size: int
    lines: int
    exit_status: int | None = None


class Evidence(msgspec.Struct, frozen=True, array_like=True):
    """What a verifier saw: bytes ``first`` to ``last`` (from 0, the end excluded) of a voucher, their ``sha256:`` hash,
    the lines they stand in (from 1, both included), and which verifier, in which version, asked what of them."""

    artifact: str
    first: int
    last: int
    line_first: int
    line_last: int
    slice: str
    verifier: str
    version: str
    asked: str = ""


class Fact(Entry, frozen=True, tag="fact", kw_only=True):
    """A statement. As a ``claim`` (``type``) somebody says so; as ``verified`` the host has checked it.

    ``source`` of a verified one is never empty. ``pointer`` and ``quote`` are what a claim rests on, in its own
    words; ``of`` names the claim that a fact has come from. ``criticality`` is ``critical`` or ``normal``. ``author``
    says who stated it: ``host``, ``agent`` or ``summariser``.
    """

    id: str
    type: str
    statement: str
    source: tuple[Evidence, ...] = ()
    criticality: str = "normal"
    author: str = "host"
    pointer: str = ""
    quote: str = ""
    of: str = ""


class Supersession(Entry, frozen=True, tag="supersession", kw_only=True):
    """The fact ``old`` is overturned by the fact ``new``, or withdrawn where that is empty."""

    old: str
    new: str = ""
    reason: str = ""


class Restoration(Entry, frozen=True, tag="restoration", kw_only=True):
    """The fact is current again; the one that had superseded it, if it was, is superseded by it now."""

    fact: str
    reason: str = ""


class Period(Entry, frozen=True, tag="period", kw_only=True):
    """A period is closed (``at``): the facts that stand at its end are what the next one begins with.

    ``window_from`` and ``window_to`` say what it covered (positions in the ledger's log, the first one included).
    ``balance`` is the ids of the facts, in the order they were posted; ``opening_balance_ref`` the handle of their
    full list, kept as a voucher. ``lossy`` says that claims were left behind which nobody had verified.
    """

    id: str
    milestone: str
    window_from: int
    window_to: int
    opening_balance_ref: str
    balance: tuple[str, ...]
    lossy: bool = False


class Reconciliation(Entry, frozen=True, tag="reconciliation", kw_only=True):
    """Vouchers and live sources were read again: how many facts agreed, and those that did not, with what was found
    (``drift``, ``corrupt``, ``missing``). ``whole`` is False for a sample."""

    match: int
    findings: dict[str, str] = msgspec.field(default_factory=dict)
    whole: bool = True


AnyBooking = Artifact | Fact | Supersession | Restoration | Period | Reconciliation
