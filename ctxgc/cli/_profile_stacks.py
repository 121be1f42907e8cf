"""A profile as stacks: what ``ctxgc profile --format speedscope|pprof|folded`` writes to stdout.

Rule: JSON is ASCII and folded stacks are UTF-8, whatever the locale; pprof is bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from ctxgc.lab.formats import folded, pprof, speedscope
from ctxgc.lab.profile import Profile


def write_stacks(profiles: Sequence[Profile], form: str) -> None:
    """Write the stacks of profiles in one of the three formats."""
    if form == "pprof":
        _write(pprof(profiles))
    elif form == "speedscope":
        json.dump(speedscope(profiles), sys.stdout)
        sys.stdout.write("\n")
    else:
        _write("".join(folded(profiles)).encode())


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
