"""The entries of compaction: what a host declared done, what a model said of a span, and a span that was compacted.

Rule: texts stand here as they are sent, so that the same journal sends the same; what a model said stays a claim.
"""

from __future__ import annotations

import msgspec

from ctxgc.core.cells import NewCell
from ctxgc.core.entry import Entry


class Milestone(Entry, frozen=True, tag="milestone", kw_only=True):
    """The host says that a sub-task is done, with all that stands up to the node ``head``."""

    name: str
    head: int


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One thing that a model says of a span: under which ``field`` of the record, in what words, and by which evidence.

    ``cell`` is the cell it points at and ``quote`` the words that are to stand there. ``stands`` says that they do, and
    ``fact`` names the fact that the host made of it in the ledger (empty: it is a claim).
    """

    field: str
    text: str
    cell: int
    quote: str = ""
    stands: bool = False
    fact: str = ""


class Summary(Entry, frozen=True, tag="summary", kw_only=True):
    """What a model said of the cells of the nodes behind ``after`` up to ``upto``, or why nothing of it was taken.

    ``resolved`` are items of earlier summaries (their numbers in the order of the log, from 0) that are done with.
    """

    after: int
    upto: int
    model: str
    outcome: str
    items: tuple[Item, ...] = ()
    resolved: tuple[int, ...] = ()
    attempts: int = 1
    input: int = 0
    output: int = 0


class Compaction(Entry, frozen=True, tag="compaction", kw_only=True):
    """From the request ``call`` on, histories through the node ``upto`` are sent without the nodes behind ``after``,
    but for those ``kept``; in their place stand ``messages``, whose cells are ``cells``.

    ``record`` is the sha256 of the whole record, kept as a blob and read back under ``handle``; ``handles`` are those
    of what is not sent any more, with their cells. ``before`` and ``tokens`` are what the span took and what stands for
    it. ``trigger`` says why: ``milestone``, ``window`` or ``quality``; ``by`` which model had a part in it, if any.
    ``told`` is the position in the ledger's log up to which the record says what stands there (-1: it has no ledger).
    """

    call: bytes
    after: int
    upto: int
    kept: tuple[int, ...]
    messages: tuple[bytes, ...]
    cells: tuple[NewCell, ...]
    record: bytes
    handle: str
    handles: dict[str, int]
    before: int
    tokens: int
    trigger: str
    by: str = ""
    told: int = -1
