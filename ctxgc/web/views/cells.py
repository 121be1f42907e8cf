"""The cells of a session as the page has them: a column for each figure.

Rule: columns are of one length and in the order of cell ids; names stand once, and columns hold their numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgc.web.views.figures import GENERATIONS, costs, generations, retained
from ctxgc.web.views.plain import Document

if TYPE_CHECKING:
    from ctxgc.web.views.session import SessionView

SCHEMA = "ctxgc.page.cells/1"


def document(view: SessionView) -> Document:
    """The document: see ``ctxgc.web.views``."""
    found, fixed, count = view.figures(), view.fixed, len(view.state.cells)
    view.references.grow(count)
    pinned = [1 if cell.pinned else 0 for cell in view.state.cells]
    verdicts, verdict = view.verdicts.column(view.newest, found.resident, view.residents.out, pinned)
    return {
        "schema": SCHEMA,
        "id": view.key.hex(),
        "requests": view.turns.count,
        "tags": list(fixed.tags.names),
        "sites": list(fixed.sites.names),
        "kinds": list(fixed.kinds.names),
        "generations": list(GENERATIONS),
        "verdicts": verdicts,
        "columns": {
            "id": list(range(count)),
            "turn": list(view.links.arrivals),
            "tag": list(fixed.tag),
            "site": list(fixed.site),
            "kind": list(fixed.kind),
            "tokens": list(fixed.tokens),
            "sent": found.sent,
            "resident": found.resident,
            "retained": retained(found),
            "token_turns": found.token_turns,
            "sent_turns": found.sent_turns,
            "cost": costs(view.carried()),
            "references": list(view.references.count),
            "referenced": list(view.references.newest),
            "generation": generations(view.carried(), fixed, found.resident, pinned, view.links.arrivals),
            "pinned": pinned,
            "verdict": verdict,
            "handle": list(view.handles),
        },
        "usd": bool(view.gc.usd),
        "kept_by": dict(view.references.kept_by),
    }
