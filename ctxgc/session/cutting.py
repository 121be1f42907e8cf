"""Where a history may be cut: which span of it can be left out, and which messages of that span stay nevertheless.

Rule: cuts are made between turns and never inside a tool transaction. What is pinned stays, system messages stay, and
so do the user's first message, the last, and those that show something.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from ctxgc.core.block import Kind, Message
from ctxgc.core.nodes import Node
from ctxgc.core.state import State
from ctxgc.session.drafts import Span
from ctxgc.session.eden import clean

_TOOLS = ("tool", "function")
_SYSTEM = ("system", "developer")
_MEDIA = (Kind.IMAGE, Kind.AUDIO, Kind.FILE)


Read = Callable[[Node], Message]
"""The message of a node, as it came."""


def cut(state: State, head: int, tail: int, until: int = -1, *, read: Read) -> Span | None:
    """The longest span of a history before its last ``tail`` tokens (and up to the node ``until``, if one is given).

    It begins where the agent first spoke. None where there is no place to cut that leaves out more than is by now.
    Only results that answer no call right before them are ``read``, for the call that they answer late.
    """
    path = state.path(head)
    start = next((at for at, node in enumerate(path) if _agent(state, node)), 0)
    limit = path[-1].depth if until < 0 else state.nodes[until].depth
    made = state.node(head).compacted
    least = state.nodes[made.upto].depth + 1 if made else start
    total = sum(state.left(head).values())
    late = _late(state, path, read)
    ends = (
        at
        for at in range(min(limit, len(path) - 2), max(least, start) - 1, -1)
        if _ends(state, path, at) and total - _sent(state, path, at) >= tail and not _parts(late, at)
    )
    end = next(ends, None)
    span = _span(state, path, start, end, late) if end is not None and start else None
    return span if span and span.dropped else None


def _span(state: State, path: Sequence[Node], start: int, end: int, late: Mapping[int, int]) -> Span:
    inside = path[start : end + 1]
    # Histories that leave right behind the span have no later request than its last one, unless that is answered.
    asked = path[end + 1].role == "user" and _agent(state, path[end])
    kept = _kept(state, inside, late, asked=asked)
    kept = sorted((*kept, *_between(state, inside, kept, path[end + 1])), key=lambda node: node.depth)
    before, total = _sent(state, path, start - 1), sum(state.left(path[-1].id).values())
    gone = _sent(state, path, end) - before - sum(state.cells[cell].sent for node in kept for cell in node.cells)
    stays = {node.id for node in kept}
    dropped = tuple(node.id for node in inside if node.id not in stays)
    ids = tuple(node.id for node in kept)
    return Span(path[start - 1].id, inside[0].id, inside[-1].id, dropped, ids, gone, total - before)


def _late(state: State, path: Sequence[Node], read: Read) -> dict[int, int]:
    """By depth, the results that do not stand right behind their call, and where that is: the newest one of that id
    before them, since clients use ids again."""
    apart = list(_apart(state, path))
    depths = {node.id: node.depth for node in path} if apart else {}
    asked: dict[str, list[int]] = {}
    for caller, call in state.call_sites if apart else ():
        if call and caller in depths:
            asked.setdefault(call, []).append(depths[caller])
    found: dict[int, int] = {}
    for node in apart:
        for block in read(node).blocks:
            calls = sorted(asked.get(clean(block.call_id), ()))
            before = bisect_left(calls, node.depth)
            found.update({node.depth: calls[before - 1]} if before else {})
    return found


def _apart(state: State, path: Sequence[Node]) -> Iterator[Node]:
    """Results that do not answer the calls right before them: those have the sites of their calls."""
    called = frozenset[str]()
    for node in path:
        if node.role not in _TOOLS:
            called = frozenset(state.cells[cell].site for cell in node.cells if _is_call(state, cell))
        elif not all(state.cells[cell].site in called for cell in node.cells):
            yield node


def _parts(late: Mapping[int, int], at: int) -> bool:
    """Whether a cut there comes between a call and its late result."""
    return any(call <= at < result for result, call in late.items())


def _sent(state: State, path: Sequence[Node], at: int) -> int:
    """Tokens sent of a history up to a message, with what of ours stands behind it."""
    return sum(state.sent(path[at].id, path[at + 1].id).values())


def _ends(state: State, path: Sequence[Node], at: int) -> bool:
    """Whether a turn ends with a message: what follows asks, or speaks, and answers nothing."""
    here, following = path[at], path[at + 1]
    speaks = following.role == "user" or (_agent(state, following) and not _agent(state, here))
    return speaks and (_agent(state, here) or here.role in _TOOLS)


def _kept(state: State, inside: Sequence[Node], late: Mapping[int, int], *, asked: bool) -> list[Node]:
    """The messages of a span that stay; ``asked`` says that what the user said in it is answered."""
    found: list[Node] = []
    for unit in _units(state, inside, late):
        pinned = any(state.cells[cell].pinned for node in unit for cell in node.cells)
        found += unit if pinned or unit[0].role in _SYSTEM or _shows(state, unit[0]) else ()
    last = next((node for node in reversed(inside) if node.role == "user"), None)
    if last is not None and not asked and last not in found:
        found.append(last)
    return sorted(found, key=lambda node: node.depth)


def _between(state: State, inside: Sequence[Node], kept: Sequence[Node], following: Node) -> Iterator[Node]:
    """Answers of the agent's that stay, since a user's message behind them would else come right behind a tool's result
    or another user's: there are providers that refuse that."""
    for before, node in zip(kept, (*kept[1:], following), strict=False):
        answer = state.node(node.parent)
        apart = before.role in (*_TOOLS, "user") and node.role == "user" and answer is not before
        if apart and answer.depth >= inside[0].depth and _agent(state, answer) and not _calls(state, answer):
            yield answer


def _units(state: State, inside: Sequence[Node], late: Mapping[int, int]) -> Iterator[list[Node]]:
    """Messages that go or stay together: a call and its results, late ones too."""
    units: dict[int, list[Node]] = {}
    head = -1
    for node in inside:
        if node.role not in _TOOLS:
            head = node.depth
        unit = late.get(node.depth, head)
        if node.role in _TOOLS and unit in units and _calls(state, units[unit][0]):
            units[unit].append(node)
        else:
            units[node.depth] = [node]
    yield from units.values()


def _shows(state: State, node: Node) -> bool:
    """Whether the user shows something in a message that no text can stand for."""
    return node.role == "user" and any(state.cells[cell].kind in _MEDIA for cell in node.cells)


def _calls(state: State, node: Node) -> bool:
    return any(_is_call(state, cell) for cell in node.cells)


def _is_call(state: State, cell: int) -> bool:
    return state.cells[cell].kind is Kind.TOOL_CALL


def _agent(state: State, node: Node) -> bool:
    return node.turn > state.node(node.parent).turn
