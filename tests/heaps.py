"""Small heaps to try policies and the collector on, with a count that is easy to follow."""

from __future__ import annotations

from collections.abc import Callable

from ctxgc.core import stub
from ctxgc.core.block import Author, Block, Kind
from ctxgc.core.collector import Edit, collect_eden
from ctxgc.core.heap import Arrival, Heap, content_digest
from ctxgc.core.policy import Policy

SECRET, SESSION = b"s" * 32, b"session"


def count(text: str) -> int:
    """Tokens: a quarter of the bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def arrival(
    text: str,
    tool: str = "search",
    *,
    cell: int = 0,
    pinned: bool = False,
    kind: Kind = Kind.TOOL_RESULT,
    author: Author = Author.TOOL,
) -> Arrival:
    block = Block(kind, author, text, ("content",), tool, "call_1")
    return Arrival(cell, block, f"tool_result:{tool}", f'{tool}({{"q":1}})', pinned, text, content_digest(text))


def heap(
    *eden: Arrival,
    same: Callable[[Arrival], int | None] = lambda _arrival: None,
    count: Callable[[str], int] = count,
) -> Heap:
    return Heap(eden, count, same, turn=1, stub_tokens=stub.TOKENS)


def mint(content: bytes) -> str:
    return stub.mint(SECRET, SESSION, content)


def collect(found: Heap, *policies: Policy) -> tuple[Edit, ...]:
    return collect_eden(found, policies, mint, lambda cell: f"call {cell}")
