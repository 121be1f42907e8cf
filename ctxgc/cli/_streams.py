"""The standard streams of the process, all three of them open.

Rule: no file that is opened later becomes one of them, as it would where a caller has closed one (``>&-``).
"""

from __future__ import annotations

import os
import sys


def ensure_streams() -> None:
    """Have what is closed go nowhere, and come from nowhere."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
