"""Speedscope's JSON: for each session three sampled profiles, which share their frames.

Rule: valid by speedscope's own schema (https://www.speedscope.app/file-format-schema.json). Tokens are none of its
units, so the unit is ``none``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxgc.lab.formats.stacks import WEIGHTS, Stack, stacks
from ctxgc.lab.profile import Profile

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profiles: Iterable[Profile]) -> dict[str, object]:
    """The document; what is sent stands first of each session."""
    numbers: dict[str, int] = {}
    made = [one for profile in profiles for one in _profiles(profile, numbers)]
    return {
        "$schema": SCHEMA,
        "exporter": "ctxgc",
        "name": "ctxgc profile",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in numbers]},
        "profiles": made,
    }


def _profiles(profile: Profile, numbers: dict[str, int]) -> Iterable[dict[str, object]]:
    found = list(stacks(profile))
    samples = [[numbers.setdefault(frame, len(numbers)) for frame in stack.frames] for stack in found]
    root = found[0].frames[0] if found else "empty"
    for at, weight in enumerate(WEIGHTS):
        yield _sampled(f"{root}: {weight.text}", found, samples, at)


def _sampled(name: str, found: Sequence[Stack], samples: Sequence[Sequence[int]], at: int) -> dict[str, object]:
    """The profile by one weight: only the stacks that have any."""
    some = [(sample, stack.values[at]) for sample, stack in zip(samples, found, strict=True) if stack.values[at]]
    return {
        "type": "sampled",
        "name": name,
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weight for _, weight in some),
        "samples": [sample for sample, _ in some],
        "weights": [weight for _, weight in some],
    }
