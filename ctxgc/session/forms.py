"""In which form a history is told something of ours: as a recall and its answer, or in words.

Rule: the form is one that the history's provider takes. A recall is what every provider takes, where the history offers
the tool, but those that sign calls or thinking; words of the user's or the agent's are for the others.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxgc.core.block import Author, Kind, Message
from ctxgc.core.nodes import Node
from ctxgc.core.state import State
from ctxgc.session.reading import TOOL_NAME

_SIGNS_CALLS = ("gemini",)
"""Models whose provider refuses a call that it has not signed itself (Gemini 3's thought signatures)."""
_ANSWERS_TOOLS = ("mistral", "ministral", "magistral", "mixtral", "devstral", "codestral", "pixtral")
"""Models whose provider refuses a user's message right behind a tool's result (Mistral's error 3230)."""


def tool(state: State, head: int, *, signed: bool, model: str = "") -> str:
    """The tool that a history is told something by; empty where it is told in words. ``signed`` says that it holds
    thinking that is bound to what was said before. ``model`` is the one that is asked now, if another than before."""
    known = state.heads.get(head)
    signs = any(_named(name, _SIGNS_CALLS) for name in (model, known.model if known else ""))
    return TOOL_NAME if state.node(head).offer >= 0 and not (signs or signed) else ""


def hears(model: str, last: Message) -> bool:
    """Whether words of the user's may stand behind a message."""
    return last.author is not Author.TOOL or not _named(model, _ANSWERS_TOOLS)


def signed(state: State, nodes: Iterable[Node], new: Iterable[Message] = ()) -> bool:
    """Whether any of these messages, or of the ``new`` ones, holds thinking that nothing may come between or before."""
    cells = (state.cells[cell] for node in nodes for cell in node.cells)
    blocks = (block for message in new for block in message.blocks)
    return any(cell.kind is Kind.THINKING and cell.fixed for cell in cells) or any(
        block.kind is Kind.THINKING and block.path is None for block in blocks
    )


def reasons(state: State, nodes: Iterable[Node], new: Iterable[Message] = ()) -> bool:
    """Whether agent messages among these carry their reasoning: some providers then insist on it in all."""
    kinds = (state.cells[cell].kind for node in nodes for cell in node.cells)
    return Kind.THINKING in kinds or any(block.kind is Kind.THINKING for message in new for block in message.blocks)


def _named(model: str, names: Iterable[str]) -> bool:
    return any(name in model.lower() for name in names)
