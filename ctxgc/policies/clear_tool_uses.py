"""Clear tool uses: above a threshold, all tool results but the newest few become stubs. A baseline.

Rule: triggers and defaults are those of the ``clear_tool_uses_20250919`` strategy of Anthropic's context editing
(platform.claude.com/docs/en/build-with-claude/context-editing), so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Verdict
from ctxgc.policies._residents import arrived, check_least, in_order, shortened


@dataclass(frozen=True, slots=True)
class ClearToolUses:
    """Clear all results but the last ones when the context is larger than a threshold.

    ``trigger``: tokens of context, as it is sent, above which results are cleared; at least 0; default 100,000.
    ``keep``: how many results at the end stay, those that just arrived included; at least 0; default 3.
    ``clear_at_least``: tokens that clearing must free for it to be done; at least 0; default 0.
    ``exclude_tools``: shell patterns for tools whose results stay, upper and lower case alike; default none.
    """

    trigger: int = 100_000
    keep: int = 3
    clear_at_least: int = 0
    exclude_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_least(0, trigger=self.trigger, keep=self.keep, clear_at_least=self.clear_at_least)

    @property
    def name(self) -> str:
        """``clear_tool_uses``."""
        return "clear_tool_uses"

    def propose(self, heap: Heap) -> Iterator[Verdict]:
        """A verdict for each result that is cleared, where enough is."""
        if not self._exceeded(heap):
            return
        found = in_order(heap)
        rest = found[: len(found) - max(self.keep - arrived(heap), 0)]
        clearable = [one for one in rest if one.sent > heap.stub_tokens and not one.pinned and not self._excluded(one)]
        if sum(one.sent - heap.stub_tokens for one in clearable) < self.clear_at_least:
            return
        for one in clearable:
            reason = f"context over {self.trigger} tokens"
            yield from shortened(self.name, heap, one, 0.0, reason, heap.turn, "now")

    def _exceeded(self, heap: Heap) -> bool:
        sent = sum(one.sent for one in heap.residents)
        return sent > self.trigger or sent + sum(heap.count(one.text) for one in heap.eden) > self.trigger

    def _excluded(self, one: Resident) -> bool:
        tool = one.tool.lower()
        return any(fnmatchcase(tool, pattern.lower()) for pattern in self.exclude_tools)
