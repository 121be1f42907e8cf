"""Originals of a small conversation, to be written up: who said what, and what tools gave."""

from __future__ import annotations

from ctxgc.core.block import Author, Kind
from ctxgc.core.record import Original


def original(cell: int, kind: Kind, author: Author, text: str, turn: int, **more: object) -> Original:
    given = {"tag": str(author), "site": str(author), "pinned": False, "node": cell, **more}
    return Original(cell, f"h{cell}", kind, author, text=text, turn=turn, **given)  # type: ignore[arg-type]


def user(cell: int, text: str, turn: int = 0, **more: object) -> Original:
    return original(cell, Kind.TEXT, Author.USER, text, turn, **more)


def agent(cell: int, text: str, turn: int = 1, **more: object) -> Original:
    return original(cell, Kind.TEXT, Author.AGENT, text, turn, **more)


def call(cell: int, tool: str, arguments: str, turn: int = 1, **more: object) -> Original:
    return original(cell, Kind.TOOL_CALL, Author.AGENT, arguments, turn, site=f"{tool}({arguments})", **more)


def result(cell: int, tool: str, arguments: str, text: str, turn: int = 1, **more: object) -> Original:
    given = {"site": f"{tool}({arguments})", "arguments": arguments, **more}
    return original(cell, Kind.TOOL_RESULT, Author.TOOL, text, turn, **given)
