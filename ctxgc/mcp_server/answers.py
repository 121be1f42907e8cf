"""What the tools of the MCP server answer, as text, from a store that a proxy may be writing to.

Rule: the store is opened read-only, and all that is read is of one session: a handle of any other one is not found, as
one that never was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxgc.cli._journals import SHORT, codec_of, find_session, journal, opened
from ctxgc.cli._ledgers import is_ledger, of_session
from ctxgc.cli._output import printable, shorten, when
from ctxgc.core.block import Kind
from ctxgc.core.heap import Cell
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State, fold
from ctxgc.errors import InputError, UnknownHandle
from ctxgc.ledger import open_ledger
from ctxgc.session.originals import content
from ctxgc.session.reading import decoded, excerpt, search_term
from ctxgc.session.searching import clipped, find
from ctxgc.store import SessionRow, Store, StoreError
from ctxgc.store.rows import entry_row, log_row
from ctxgc.wire.codec import Codec

HITS: Final = 50
"""Hits, and sessions, that one answer shows at most."""

WIDTH: Final = 200
"""Characters of the longest line that is shown whole; of longer ones, what is around the hit is."""

_PART: Final = 256
"""Entries that are looked through at once for the newest of a session's."""

OWN: Final = "ctxgc"
"""What the names of our own tools hold, as agents call them: a search would find itself in what they said and gave."""

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answers:
    """The tools. ``store`` is its URL, None for the configured one; ``session`` the hex of the key of the one to read.

    With an empty ``session`` it is, at each call, the one that was written to last: an agent's own, since its call of
    the tool has just come through the proxy. ``ledger`` names the ledger whose vouchers may be read; by default the
    session's own. Every tool may raise ``StoreError`` and ``CtxgcError``.
    """

    store: str | None = None
    session: str = ""
    ledger: str = ""

    def recall(self, arguments: Arguments) -> str:
        """An original text, or the part of it asked for: see ``session.reading``. Raises also ``ValueError``."""
        asked = decoded(arguments)
        with opened(self.store) as store:
            key = self._key(store)
            state = _state(store, key)
            cell = state.by_handle.get(asked.handle)
            if state.opened is not None and cell is not None:
                return excerpt(content(state, store, codec_of(state.opened.codec), cell), asked)
            text = open_ledger(store, self.ledger or of_session(key)).read(asked.handle)
            if text is None:
                raise UnknownHandle(f"no content of session {key.hex()[:SHORT]} has the handle {asked.handle!r}")
            return excerpt(text, asked)

    def search(self, arguments: Arguments) -> str:
        """The lines of all the session's texts that hold a term, newest text first. Raises also ``ValueError``."""
        term = search_term(arguments.get("term"))
        if not term:
            raise ValueError("term must be the text to look for")
        with opened(self.store) as store:
            key = self._key(store)
            found = _hits(_state(store, key), store, term)
            shown = list(islice(found, HITS))
            total = len(shown) + sum(1 for _ in found)
        counted = f"{total} hit{'s' * (total != 1)} in session {key.hex()[:SHORT]}"
        return "".join(shown) + (f"[the newest {HITS} of {counted}]" if total > HITS else f"[{counted}]")

    def sessions(self, arguments: Arguments) -> str:
        """The sessions that may be read, newest first; the one that is read is marked. Takes no arguments."""
        with opened(self.store) as store:
            rows, key = [row for row in store.sessions()[::-1] if not is_ledger(store, row)], self._key(store)
        rows = [row for row in rows if not self.session or row.key == key]
        lines = "".join(map(_line, rows[:HITS], (row.key == key for row in rows)))
        return f"{lines}[{min(len(rows), HITS)} of {len(rows)} sessions; recall and search read the one marked *]"

    def _key(self, store: Store) -> bytes:
        return find_session(store, self.session).key if self.session else _latest(store)


def _latest(store: Store) -> bytes:
    """The session of the newest entry that is not a ledger's. Raises ``InputError`` for a store without any."""
    ledgers = {row.key for row in store.sessions() if is_ledger(store, row)}
    rows = store.rows()
    upto = rows.counts()[1].entry
    while upto > 0:
        logs = [entry_row(entry).log for entry in rows.select("entry", max(upto - _PART, 0), upto)]
        for log in dict.fromkeys(reversed(logs)):
            key = log_row(next(rows.select("log", log - 1, log))).session
            if key not in ledgers:
                return key
        upto -= _PART
    raise InputError("no sessions yet: nothing has come through the proxy to this store")


def _state(store: Store, key: bytes) -> State:
    return fold(entry for _, entry in journal(store, key))


def _hits(state: State, store: Store, term: str) -> Iterator[str]:
    """A line for each hit: handle, turn, tool or tag, number of the line, line."""
    handles = {cell: handle for handle, cell in state.by_handle.items()}
    handles |= {cell: edit.handle for cell, edit in state.edits.items()}  # equal contents have one handle
    codec = codec_of(state.opened.codec if state.opened else "")
    for cell, text in _texts(state, store, codec):
        where = f"{handles.get(cell.id, 'shown')} turn {cell.turn} {shorten(printable(_source(cell)))}"
        for hit in find(text, term, width=WIDTH):
            yield f"{where} line {hit.line}: {clipped(text, hit, WIDTH)}\n"


def _texts(state: State, store: Store, codec: Codec) -> Iterator[tuple[Cell, str]]:
    """Every cell with the text that came, newest first, without what our own tools were asked and gave."""
    for node in reversed(state.nodes):
        try:
            blocks = codec.decode(store.blob(node.blob)).blocks
        except (StoreError, Malformed):  # what cannot be read is not found; `ctxgc audit verify` says why
            continue
        for number, block in reversed(list(zip(node.cells, blocks, strict=False))):
            cell = state.cells[number]
            if block.text and OWN not in _source(cell):
                yield cell, block.text


def _source(cell: Cell) -> str:
    """The tool that a cell is of, or its tag where it is of none."""
    return cell.site.partition("(")[0] if cell.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else cell.tag


def _line(row: SessionRow, current: bool) -> str:
    return f"{'*' if current else ' '} {row.key.hex()[:SHORT]} begun {when(row.opened / 1000)}, {row.entries} entries\n"
