"""Where a history may be cut: which span of it can be left out, and which messages of that span stay nevertheless.

Rule: cuts are made between turns and never inside a tool transaction. What is pinned stays, system messages stay, and
so do the first message of the user's and the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxgc.core.block import Kind
from ctxgc.core.nodes import Node
from ctxgc.core.state import State
from ctxgc.session.drafts import Span

_TOOLS = ("tool", "function")
_SYSTEM = ("system", "developer")


def cut(state: State, head: int, tail: int, until: int = -1) -> Span | None:
    """The longest span of a history before its last ``tail`` tokens (and up to the node ``until``, if one is given).

    It begins where the agent first spoke. None where there is no place to cut that leaves out more than is by now.
    """
    path = state.path(head)
    start = next((at for at, node in enumerate(path) if _agent(state, node)), 0)
    limit = path[-1].depth if until < 0 else state.nodes[until].depth
    made = state.node(head).compacted
    least = state.nodes[made.upto].depth + 1 if made else start
    total = sum(state.left(head).values())
    ends = (
        at
        for at in range(min(limit, len(path) - 2), max(least, start) - 1, -1)
        if _ends(state, path, at) and total - _sent(state, path, at) >= tail
    )
    end = next(ends, None)
    return None if end is None or start == 0 else _span(state, path, start, end, total)


def _span(state: State, path: Sequence[Node], start: int, end: int, total: int) -> Span | None:
    inside = path[start : end + 1]
    asked = any(node.role == "user" for node in path[end + 1 :])
    kept = _kept(state, inside, asked=asked)
    before = _sent(state, path, start - 1)
    gone = _sent(state, path, end) - before - sum(state.cells[cell].sent for node in kept for cell in node.cells)
    stays = {node.id for node in kept}
    dropped = tuple(node.id for node in inside if node.id not in stays)
    ids = tuple(node.id for node in kept)
    return Span(path[start - 1].id, inside[0].id, inside[-1].id, dropped, ids, gone, total - before)


def _sent(state: State, path: Sequence[Node], at: int) -> int:
    """Tokens sent of a history up to a message, with what of ours stands behind it."""
    return sum(state.sent(path[at].id, path[at + 1].id).values())


def _ends(state: State, path: Sequence[Node], at: int) -> bool:
    """Whether a turn ends with a message: what follows asks, or speaks, and answers nothing."""
    here, following = path[at], path[at + 1]
    speaks = following.role == "user" or (_agent(state, following) and not _agent(state, here))
    return speaks and (_agent(state, here) or here.role in _TOOLS)


def _kept(state: State, inside: Sequence[Node], *, asked: bool) -> list[Node]:
    """The messages of a span that stay; ``asked`` says that the user speaks behind it."""
    found: list[Node] = []
    for unit in _units(state, inside):
        pinned = any(state.cells[cell].pinned for node in unit for cell in node.cells)
        found += unit if pinned or unit[0].role in _SYSTEM else ()
    last = next((node for node in reversed(inside) if node.role == "user"), None)
    if last is not None and not asked and last not in found:
        found.append(last)
    return sorted(found, key=lambda node: node.depth)


def _units(state: State, inside: Sequence[Node]) -> list[list[Node]]:
    """Messages that go or stay together: a call and its results."""
    units: list[list[Node]] = []
    for node in inside:
        if units and node.role in _TOOLS and _calls(state, units[-1][0]):
            units[-1].append(node)
        else:
            units.append([node])
    return units


def _calls(state: State, node: Node) -> bool:
    return any(state.cells[cell].kind is Kind.TOOL_CALL for cell in node.cells)


def _agent(state: State, node: Node) -> bool:
    return node.turn > state.node(node.parent).turn
