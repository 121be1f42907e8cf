"""Calls that failed, and whether a later one of the same kind succeeded: a failure that was overcome teaches nothing.

Rule: only a short result that says of itself that it failed is one; what is not certain has succeeded.
"""

from __future__ import annotations

import re

LONGEST = 4000
"""Characters above which a result is not taken for a failure: a long one holds more than the failure."""

_FAILED = re.compile(
    r"\s*(?:<tool_use_error>|error\b|errno|fatal:|traceback \(most recent call last\)|exception\b|failed\b|failure\b"
    r"|usage: |invalid |unknown |cannot |could not |no such |command not found|permission denied"
    r"|.{0,80}: command not found|.{0,200}: no such file or directory|exit (?:code|status):? [1-9])",
    re.IGNORECASE,
)


def failed(text: str) -> bool:
    """Whether a result says that its call failed."""
    return len(text) <= LONGEST and _FAILED.match(text) is not None


class Failures:
    """Fed with results in order; says which earlier failures a success has overcome."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], list[int]] = {}

    def take(self, cell: int, tool: str, about: tuple[str, ...], *, failure: bool) -> tuple[int, ...]:
        """A result of ``tool`` arrived that is ``about`` these resources: the failures that it overcomes, if any."""
        keys = [(tool, one) for one in about]
        if failure:
            for key in keys:
                self._open.setdefault(key, []).append(cell)
            return ()
        return tuple(sorted({old for key in keys for old in self._open.pop(key, ())}))
