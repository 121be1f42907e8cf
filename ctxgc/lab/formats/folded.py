"""Folded stacks, a line each: frames with ``;`` between them, a space, and the tokens that were sent.

Rule: flamegraph.pl, inferno and speedscope read it; a ``;`` within a name is ``%3B``.
Source: Brendan Gregg's stackcollapse format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxgc.lab.formats.stacks import escaped, stacks
from ctxgc.lab.profile import Profile


def folded(profiles: Iterable[Profile]) -> Iterator[str]:
    """The lines, each with its line end. What was never sent has none."""
    for profile in profiles:
        for stack in stacks(profile):
            if stack.values[0]:
                names = (frame.replace(";", escaped(";", ";")) for frame in stack.frames)
                yield f"{';'.join(names)} {stack.values[0]}\n"
