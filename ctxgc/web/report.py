"""The page as one file that needs nothing else: its scripts, its style and the documents it shows, in one HTML.

Rule: it loads nothing from anywhere, and a strict policy in it sees to that; content is in it only where that was asked
for.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import IO, Any

from ctxgc.assemble import ledgers, prices
from ctxgc.core.journal import AnyEntry, decode
from ctxgc.core.pacer import Pacer
from ctxgc.store import Store
from ctxgc.tokens.tariffs import tariffs
from ctxgc.web.files import INDEX, static
from ctxgc.web.frames import encoded
from ctxgc.web.redacting import Redacting, named, redacted_books
from ctxgc.web.views import SessionView, books_document, diff_document
from ctxgc.web.views.replies import listen

LEAST, WORK = 20, 100_000
"""How many diffs of one session are in a report at least; and how many entries are read for them, else."""
CELLS = 500
"""How many cells of one session, the largest, are in a report one by one."""

_LINK = re.compile(r'<link rel="stylesheet" href="static/([^"]+)">')
_SCRIPT = re.compile(r'<script src="static/([^"]+)"></script>')
_CHARSET = '<meta charset="utf-8">'
_BODY = "<body>"


def write_report(
    store: Store, keys: Sequence[bytes], out: IO[str], *, content: bool, pacer: Pacer | None = None, ledger: str = ""
) -> None:
    """Write a report of some sessions (by their keys) as one HTML file, to be written in UTF-8.

    Texts of messages, arguments of tools and statements of facts are in it only with ``content``. ``pacer`` is the one
    whose marks are drawn, ``ledger`` the name of one that all sessions share (empty: each has its own).
    Raises ``StoreError``, ``OSError``.
    """
    head, tail = _page()
    out.write(head)
    out.write('<script type="application/json" id="documents">{')
    for number, (path, document) in enumerate(_Documents(store, content, pacer or Pacer(), ledger).all(keys)):
        out.write("," if number else "")
        out.write(f"{_inline(path)}:{_inline(document)}")
    out.write("}</script>\n")
    out.write(tail)


@dataclass(frozen=True, slots=True)
class _Documents:
    """What the page would ask for, by the path it would ask at."""

    store: Store
    content: bool
    pacer: Pacer
    ledger: str

    def all(self, keys: Sequence[bytes]) -> Iterator[tuple[str, Any]]:
        """Those of each session, and the list of them."""
        lines = []
        for key in keys:
            entries = list(_entries(self.store, key, content=self.content))
            view = self._view(key, entries)
            lines.append(view.line())
            path, summary, cells = f"sessions/{key.hex()}", view.summary(), view.cells()
            yield path, summary
            yield f"{path}/cells", cells
            yield f"{path}/books", self._books(key)
            yield from _details(path, view, entries, self.store if self.content else None)
        yield "sessions", {"schema": "ctxgc.page.sessions/1", "sessions": sorted(lines, key=_last, reverse=True)}

    def _view(self, key: bytes, entries: Sequence[AnyEntry]) -> SessionView:
        price = prices()
        view = SessionView(key, price, tariffs(price), self.pacer)
        for entry in entries:
            view.take(entry)
        view.end()
        listen(view, self.store, str if self.content else lambda name: named(self.store.secret, name))
        return view

    def _books(self, key: bytes) -> dict[str, Any]:
        books = books_document(ledgers(self.store, self.ledger)(key), key)
        return books if self.content else redacted_books(books, self.store.secret)


def _entries(store: Store, key: bytes, *, content: bool) -> Iterator[AnyEntry]:
    redact = Redacting(store.secret)
    for stored in store.entries(key):
        entry = decode(stored.body)
        yield entry if content else redact(entry)


def _details(
    path: str, view: SessionView, entries: Sequence[AnyEntry], store: Store | None
) -> Iterator[tuple[str, Any]]:
    """The newest turns that changed something, and the largest cells. Each diff takes a pass over the journal."""
    made: Any = view.summary()["collections"]
    turns = sorted({one["turn"] for one in made})
    for turn in turns[-max(LEAST, WORK // max(len(entries), 1)) :]:
        yield f"{path}/diff?turn={turn}", diff_document(entries, turn, None, store, key=view.key)
    columns: Any = view.cells()["columns"]
    for _, cell in nlargest(CELLS, zip(columns["tokens"], columns["id"], strict=True)):
        yield f"{path}/cells/{cell}", view.cell(cell, store)


def _last(line: Mapping[str, Any]) -> float:
    return float(line["last"])


def _inline(value: object) -> str:
    """JSON that may stand in HTML: nothing in it ends the element it is in."""
    return encoded(value).decode().replace("<", "\\u003c")


def _page() -> tuple[str, str]:
    """The page in one piece, cut where the documents go."""
    files = {name: file.body.decode() for name, file in static().items()}
    styles: list[str] = []
    scripts: list[str] = []

    def style(found: re.Match[str]) -> str:
        styles.append(_harmless(files[found[1]]))
        return f"<style>{styles[-1]}</style>"

    def script(found: re.Match[str]) -> str:
        scripts.append(_harmless(files[found[1]]))
        return f"<script>{scripts[-1]}</script>"

    html = _SCRIPT.sub(script, _LINK.sub(style, files[INDEX]))
    policy = f'<meta http-equiv="content-security-policy" content="{policy_of(scripts, styles)}">'
    head, body, tail = html.replace(_CHARSET, f"{_CHARSET}\n{policy}", 1).partition(_BODY)
    return f"{head}{body}\n", tail


def policy_of(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The content security policy under which these scripts and styles, inlined, are all that is loaded."""
    allowed = {name: " ".join(map(_hash, texts)) for name, texts in (("script", scripts), ("style", styles))}
    return (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _harmless(text: str) -> str:
    """A script or style that can stand inside an element: it must not end it, or hide what follows."""
    if re.search(r"</(?:script|style)|<!--|<script", text, re.IGNORECASE):
        raise ValueError("a file of the page cannot be inlined: it holds the end or the beginning of an element")
    return text.replace("\r\n", "\n")
