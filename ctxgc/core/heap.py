"""The heap: cells, where they were allocated, and what a policy may see of them.

Rule: everything here is a value; only the journal's fold makes cells, and only the collector changes what is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from ctxgc.core.block import Author, Block, Kind

_SITE_LENGTH = 120
_TAGS = {
    Kind.THINKING: "agent_reasoning",
    Kind.TOOL_CALL: "tool_call:{}",
    Kind.TOOL_RESULT: "tool_result:{}",
    Kind.TOOL_SCHEMA: "tool_schema:{}",
}
_AUTHORS = {
    Author.SYSTEM: "system_prompt",
    Author.USER: "user_turn",
    Author.AGENT: "agent_reply",
    Author.TOOL: "tool_result:{}",
}


class Cell(msgspec.Struct, frozen=True):
    """A block on the heap, as the journal records it. Tokens are the model's; ``turn`` is the one it arrived in.

    ``sent`` is its tokens as they go upstream: equal to ``tokens`` unless an edit stands for the original.
    """

    id: int
    kind: Kind
    tag: str
    site: str
    tokens: int
    sent: int
    turn: int
    pinned: bool
    content: bytes
    exact: bool = True
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A block that came with this request and was never forwarded: eden. ``text`` is its content as it stands now."""

    id: int
    block: Block
    tag: str
    site: str
    pinned: bool
    text: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Resident:
    """A cell of this history that was forwarded before, as policies see it. It is in the provider's cache, perhaps.

    ``tokens`` is its size as it came and ``sent`` as it is sent now; ``turn`` is the one it arrived in,
    ``referenced`` the newest turn in which something referred to it (its own, if nothing did), ``references`` how
    often that was and ``marks`` where in its text (character offsets). ``stale`` says why it is out of date (empty:
    it is not), ``overcome`` that it is the failure of a call that succeeded later, ``quotable`` that it is the newest
    view of a resource that is being edited, which the next edit may have to quote; ``resurrected`` how often results
    of its tool were recalled after they had been collected; ``edited`` names the policy and
    action of the edit that stands for it, if one does. ``position`` orders the residents as the model reads
    them; ``points`` says that what is sent is a pointer to another.
    """

    id: int
    position: int
    kind: Kind
    tag: str
    site: str
    tokens: int
    sent: int
    turn: int
    pinned: bool
    referenced: int
    references: int = 0
    marks: tuple[int, ...] = ()
    stale: str = ""
    overcome: bool = False
    quotable: bool = False
    resurrected: int = 0
    edited: str = ""
    points: bool = False

    def idle(self, now: int) -> int:
        """Turns since it arrived or was last referred to."""
        return now - self.referenced

    @property
    def tool(self) -> str:
        """The tool's name, of a call or a result."""
        return self.site.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Heap:
    """What a policy sees: the arrivals, whom it may ask for tokens, and what lies before them in this history.

    ``count`` gives the exact tokens of a text; ``same`` the id of the visible cell that holds the result of an
    identical call with identical content, or None; ``stub_tokens`` is an upper bound of what one stub takes.
    ``residents`` are the cells that were forwarded before, oldest first; ``turn`` is that of the agent's next reply.
    ``surplus`` is how many tokens must go because of the window or a quality budget (0: none must).
    """

    eden: Sequence[Arrival]
    count: Callable[[str], int]
    same: Callable[[Arrival], int | None]
    turn: int
    stub_tokens: int
    residents: Sequence[Resident] = ()
    surplus: int = 0


def tag_of(block: Block, retrieval: Callable[[str], str | None]) -> str:
    """The provenance tag of a block; ``retrieval`` maps a tool's name to the source it retrieves from, or None."""
    if block.kind is Kind.TOOL_RESULT or block.author is Author.TOOL:
        source = retrieval(block.name)
        return f"retrieval:{source}" if source else f"tool_result:{block.name or 'unknown'}"
    return _TAGS.get(block.kind, _AUTHORS[block.author]).format(block.name or "unknown")


def site_of(block: Block, arguments: str = "") -> str:
    """The allocation site: tool and canonical arguments, or who wrote it. Two results of one site are re-runs."""
    if block.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT):
        return f"{block.name or 'unknown'}({_canonical(arguments)})"
    return block.name if block.kind is Kind.TOOL_SCHEMA else str(block.author)


def content_digest(text: str) -> bytes:
    """16 bytes that stand for a text when contents are compared. Equal digests are taken for equal contents."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _canonical(arguments: str) -> str:
    try:
        parsed = json.loads(arguments)
        form = json.dumps(parsed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (ValueError, RecursionError):
        form = arguments
    if len(form) <= _SITE_LENGTH:
        return form
    return f"{form[:_SITE_LENGTH]}…{hashlib.sha256(form.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
