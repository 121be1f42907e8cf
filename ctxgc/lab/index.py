"""An index of a session's cells by what readers look them up by: results by site, texts by content, tools by name.

Rule: filled cell by cell, in the order of the journal, so that a session that grows costs only what is new.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ctxgc.core.block import Kind
from ctxgc.core.heap import Cell
from ctxgc.session.tags import NEWS, RECALL, RECORD

OURS: Mapping[str, str] = MappingProxyType(
    {
        RECALL: "what was recalled stays",
        RECORD: "the record of what was left out",
        NEWS: "what was told of the ledger stays",
    }
)
"""By tag, why a cell is sent that never came."""
_INJECTED = ("user_turn", "system_prompt")


def _lists() -> dict[str, list[int]]:
    return defaultdict(list)


def _contents() -> dict[bytes, list[int]]:
    return defaultdict(list)


@dataclass(slots=True)
class Index:
    """Cells by id, in the order in which they came. ``results`` are tool results by site, ``injected`` texts of users
    and system by their content, ``schemas`` by the tool's name. ``calls`` counts the calls of each tool, and ``called``
    is the number of the newest request that came with one. Of ``results`` and ``injected``, nothing is ours."""

    results: dict[str, list[int]] = field(default_factory=_lists)
    injected: dict[bytes, list[int]] = field(default_factory=_contents)
    schemas: dict[str, list[int]] = field(default_factory=_lists)
    calls: dict[str, int] = field(default_factory=dict)
    called: dict[str, int] = field(default_factory=dict)

    def take(self, cells: Iterable[Cell], request: int) -> None:
        """Take new cells, which came with the request of that number."""
        for cell in cells:
            kind = cell.kind
            if kind is Kind.TOOL_CALL:
                if cell.tag not in (RECORD, NEWS):  # in which nobody called anything
                    tool = cell.site.partition("(")[0]
                    self.calls[tool] = self.calls.get(tool, 0) + 1
                    self.called[tool] = request
            elif kind is Kind.TOOL_RESULT:
                if cell.tag not in OURS:
                    self.results[cell.site].append(cell.id)
            elif kind is Kind.TOOL_SCHEMA:
                self.schemas[cell.site].append(cell.id)
            elif kind is Kind.TEXT and cell.tag in _INJECTED:
                self.injected[cell.content].append(cell.id)
