"""In which form a history is told something of ours: as a recall and its answer, or in words.

Rule: the form is one that the history's provider takes. A recall is what every provider takes, where the history offers
the tool, but those that sign calls or thinking; words of the user's or the agent's are for the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxgc.core.block import Kind
from ctxgc.core.nodes import Node
from ctxgc.core.state import State
from ctxgc.session.reading import TOOL_NAME

_SIGNS_CALLS = ("gemini",)
"""Models whose provider refuses a call that it has not signed itself (Gemini 3's thought signatures)."""


def tool(state: State, head: int, *, signed: bool) -> str:
    """The tool that a history is told something by; empty where it is told in words. ``signed`` says that it holds
    thinking that is bound to what was said before."""
    known = state.heads.get(head)
    signs = known is not None and any(name in known.model.lower() for name in _SIGNS_CALLS)
    return TOOL_NAME if state.node(head).offer >= 0 and not (signs or signed) else ""


def signed(state: State, nodes: Iterable[Node]) -> bool:
    """Whether any of these messages holds thinking that nothing may come between or before."""
    cells = (state.cells[cell] for node in nodes for cell in node.cells)
    return any(cell.kind is Kind.THINKING and cell.fixed for cell in cells)


def reasons(state: State, nodes: Iterable[Node]) -> bool:
    """Whether agent messages among these carry their reasoning: some providers then insist on it in all."""
    return any(state.cells[cell].kind is Kind.THINKING for node in nodes for cell in node.cells)
