"""What a host may pin, so that it is never collected: the cells of its own messages that still stand in a request.

Rule: only a host pins. Nothing that a tool, a user or the model says leads here.
"""

from __future__ import annotations

from ctxgc.core.history import History
from ctxgc.core.state import State


class CannotPin(ValueError):
    """Why a cell cannot be pinned, or let go of, on one line."""


def pinnable(state: State, cell: int, pinned: bool) -> bool:
    """Whether pinning a cell (or letting go of it) changes anything. Raises ``CannotPin`` where it cannot be done.

    What came shortened is pinned as it is sent; what has gone can only be recalled.
    """
    if not 0 <= cell < len(state.cells):
        raise CannotPin(f"the session has no cell {cell}")
    if not _of_a_message(state, cell):
        raise CannotPin(f"cell {cell} stands in no message of the agent's: it is sent as it is anyway")
    if pinned and (why := _gone(state, cell)):
        raise CannotPin(f"cell {cell} {why}: recall it instead")
    return state.cells[cell].pinned is not pinned


def newest_head(state: State) -> int:
    """The last node of the newest request; -1 where there was none."""
    return max(state.heads, key=lambda head: (state.heads[head].at, head), default=-1)


def _of_a_message(state: History, cell: int) -> bool:
    """Tools and what is ctxgc's own belong to no message of the client's."""
    owner = state.owners[cell]
    return owner >= 0 and cell in state.nodes[owner].cells


def _gone(state: State, cell: int) -> str:
    """What has become of a cell that is not sent any more; empty for one that is."""
    edit = state.edits.get(cell)
    if edit is not None and (edit.of is not None or (cell in state.evacuated and edit.after < edit.before)):
        return "was collected"  # a pointer whose target went is shown as a whole again
    made, owner = state.node(newest_head(state)).compacted, state.nodes[state.owners[cell]]
    if made is not None and state.hidden(owner, made) and owner in state.path(made.upto):
        return "is left out of the newest request, and a record stands for it"
    return ""
