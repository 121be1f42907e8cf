"""The typed record of a span of a conversation: what code can say of it, and what a model said of it, kept apart.

Rule: made from the originals alone, never from an earlier record; what code can tell is never asked of a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxgc.core import failures
from ctxgc.core.block import Author, Kind
from ctxgc.core.compaction import Item
from ctxgc.core.resource_tables import UNKNOWN, Verb
from ctxgc.core.resources import accesses

FIELDS = ("decisions_made", "constraints_learned", "open_items", "facts")
"""What a model fills in."""

_SPOKEN = (Kind.TEXT, Kind.REFUSAL)
_ASKED = (Kind.TEXT, Kind.IMAGE, Kind.AUDIO, Kind.FILE)
_CHANGES = (Verb.WRITE, Verb.EDIT)


@dataclass(frozen=True, slots=True)
class Original:
    """A cell of the span as it came. Of a result, ``arguments`` are those of its call, in its own words.

    ``handle`` reads it back; ``node`` is the number of its message in the journal (-1: not known). ``failed`` says that
    its call failed, where that is known from something else than its text.
    """

    cell: int
    handle: str
    kind: Kind
    author: Author
    tag: str
    site: str
    text: str
    turn: int
    pinned: bool
    arguments: str = ""
    failed: bool = False
    node: int = -1

    @property
    def tool(self) -> str:
        """The tool's name, of a call or a result."""
        return self.site.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked within the span. It is ``open`` until the agent has answered it without calling a tool.

    A ``pinned`` one stays in the window word for word. An ``overtaken`` one is open, but the agent has answered a later
    one since: whether that was an answer to both, nobody but the model can tell.
    """

    cell: int
    handle: str
    text: str
    open: bool
    pinned: bool = False
    overtaken: bool = False


@dataclass(frozen=True, slots=True)
class ToolUse:
    """How often a tool was called in the span, and how often in vain; ``handle`` is that of its newest result."""

    tool: str
    calls: int
    failed: int
    last_turn: int
    handle: str


@dataclass(frozen=True, slots=True)
class Touched:
    """A file (or URL) that calls in the span read or wrote, and how often; ``handle`` is that of the newest result."""

    path: str
    reads: int
    writes: int
    last_turn: int
    handle: str


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a span. ``items`` are a model's, numbered from 0 in the order of the log; ``resolved`` are the
    numbers of those that are done with.

    ``handles`` gives the handle of every cell, ``pinned`` the cells that stay in the window word for word; ``turns``
    are the first and the last turn, both included; ``tokens`` is what the span took.
    """

    requests: tuple[Request, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    files: tuple[Touched, ...] = ()
    items: tuple[Item, ...] = ()
    resolved: frozenset[int] = frozenset()
    handles: Mapping[int, str] = field(default_factory=dict)
    turns: tuple[int, int] = (0, 0)
    cells: int = 0
    tokens: int = 0
    pinned: tuple[int, ...] = ()


def deterministic(originals: Sequence[Original], *, running: bool, tokens: int = 0) -> Record:
    """What code can tell of a span, whose cells are given in order.

    ``running`` says that the answer to its last request is not in it. ``tokens`` is what it took, where that is known.
    """
    turns = [one.turn for one in originals]
    return Record(
        requests=tuple(_requests(originals, running)),
        tools=tuple(sorted(_tools(originals), key=lambda use: use.last_turn)),
        files=tuple(_files(originals)),
        handles={one.cell: one.handle for one in originals},
        turns=(min(turns, default=0), max(turns, default=0)),
        cells=len(originals),
        tokens=tokens,
        pinned=tuple(one.cell for one in originals if one.pinned),
    )


def with_items(record: Record, items: Iterable[Item], resolved: Iterable[int] = ()) -> Record:
    """The record with more items of a model behind those it has, so that their numbers stay what they were."""
    return replace(record, items=(*record.items, *items), resolved=record.resolved | frozenset(resolved))


def standing(record: Record) -> tuple[tuple[int, Item], ...]:
    """The items that are to be shown, with their numbers: no duplicates, and no open item that is resolved.

    What says the same of the same cell in the same field is one item, and resolved with any of its numbers.
    """
    over = {_key(record.items[number]) for number in record.resolved if 0 <= number < len(record.items)}
    found: dict[tuple[str, str, int], int] = {}
    for number, item in enumerate(record.items):
        if item.field != "open_items" or _key(item) not in over:
            known = found.setdefault(_key(item), number)
            if item.fact and not record.items[known].fact:
                found[_key(item)] = number
    return tuple((number, record.items[number]) for number in found.values())


def still_open(record: Record) -> tuple[tuple[int, str], ...]:
    """The open items that nobody has resolved: number and text, as a summariser is asked about them."""
    return tuple((number, item.text) for number, item in standing(record) if item.field == "open_items")


def _key(item: Item) -> tuple[str, str, int]:
    return item.field, item.text, item.cell


def _requests(originals: Sequence[Original], running: bool) -> Iterator[Request]:
    asked = list(_askings(originals))
    ended = max((at for at, (_, answered) in enumerate(asked) if answered), default=-1)
    for at, (group, answered) in enumerate(asked):
        unanswered = not answered or (running and at == len(asked) - 1)
        for one in group:
            text = one.text if one.kind is Kind.TEXT else f"({one.kind})"
            yield Request(one.cell, one.handle, text, unanswered, one.pinned, unanswered and at < ended)


def _askings(originals: Sequence[Original]) -> Iterator[tuple[list[Original], bool]]:
    """What a user said before the agent did, taken together, and whether the agent answered it."""
    calling = {_message(one) for one in originals if one.kind is Kind.TOOL_CALL}
    group: list[Original] = []
    heard, answered = False, False
    for one in originals:
        if one.author is Author.USER and one.kind in _ASKED and (one.text.strip() or one.kind is not Kind.TEXT):
            if heard and group:
                yield group, answered
                group, answered = [], False
            heard = False
            group.append(one)
        elif one.author is Author.AGENT:
            heard = True
            spoken = one.kind in _SPOKEN and one.text.strip() != ""
            answered = answered or (spoken and _message(one) not in calling)
    if group:
        yield group, answered


def _message(one: Original) -> tuple[int, int]:
    """What the blocks of one message of the agent have in common: its node, or where that is not known its turn."""
    return one.node, one.turn if one.node < 0 else -1


def _failed(one: Original) -> bool:
    return one.failed or failures.failed(one.text)


def _tools(originals: Sequence[Original]) -> Iterator[ToolUse]:
    called: dict[str, list[Original]] = {}
    given: dict[str, list[Original]] = {}
    for one in originals:
        if one.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT):
            (called if one.kind is Kind.TOOL_CALL else given).setdefault(one.tool, []).append(one)
    for tool in dict.fromkeys(one.tool for one in originals if one.tool in called or one.tool in given):
        calls, results = called.get(tool, []), given.get(tool, [])
        turn = max(one.turn for one in (*calls, *results))
        handle = results[-1].handle if results else ""
        yield ToolUse(tool, max(len(calls), len(results)), sum(map(_failed, results)), turn, handle)


def _files(originals: Sequence[Original]) -> Iterator[Touched]:
    found: dict[str, Touched] = {}
    for one in originals:
        for path, reads, writes in _touched(one):
            before = found.pop(path, Touched(path, 0, 0, 0, ""))  # popped, so that the newest stands last
            found[path] = Touched(path, before.reads + reads, before.writes + writes, one.turn, one.handle)
    yield from found.values()


def _touched(one: Original) -> Iterator[tuple[str, int, int]]:
    """The paths that the call of a result read or wrote, each once: a call that failed touched nothing."""
    if one.kind is not Kind.TOOL_RESULT or _failed(one):
        return
    reads: dict[str, bool] = {}
    writes: dict[str, bool] = {}
    for access in accesses(one.tool, one.arguments):
        if not access.resource.startswith(UNKNOWN) and access.verb in (Verb.READ, *_CHANGES):
            (writes if access.verb in _CHANGES else reads)[access.resource] = True
    for path in {**reads, **writes}:
        yield path, path in reads, path in writes
