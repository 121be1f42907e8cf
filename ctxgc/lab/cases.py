"""Cases: segments made ready to be judged, with everything about them that no policy changes.

Rule: worked out once, from the recorded messages and what the provider reported alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ctxgc.lab.billing import Counts, Fit, fit
from ctxgc.lab.judge import Judge, Judged
from ctxgc.lab.needs import Need, needs
from ctxgc.lab.replay import steps
from ctxgc.lab.segments import Segment
from ctxgc.lab.visible import read_back

ASSUMED = "gpt-5"
"""The model whose tokens are counted where a transcript names none."""


@dataclass(frozen=True, slots=True)
class Case:
    """A segment, and all about it that no policy changes: its needs, its calibration, and what never collecting costs.

    ``never`` is the judgement of its requests as they were received; ``peak_count`` (ours) and ``peak`` (calibrated)
    are the tokens of the largest of them, ``reported`` is the input that the provider reported last (0: never).
    """

    segment: Segment
    model: str
    needs: tuple[Need, ...]
    fit: Fit
    counts: Counts
    never: Judged
    peak_count: int
    peak: float
    reported: int


def case_of(segment: Segment) -> Case:
    """Prepare a segment. Its needs, counts and calibration are worked out here, once."""
    model = segment.transcript.model or ASSUMED
    counts = Counts(model)
    sizes = _sizes(segment, model, counts)
    usage = dict(segment.transcript.usage)
    asked = zip(segment.turns, sizes, strict=True)
    found = fit([(size, usage[turn.answer].input) for turn, size in asked if turn.answer in usage])
    peak = max(sizes)
    return Case(
        segment=segment,
        model=model,
        needs=needs(segment),
        fit=found,
        counts=counts,
        never=_never(segment, model, found, counts),
        peak_count=peak,
        peak=found.tokens(peak),
        reported=segment.transcript.usage[-1][1].input if segment.transcript.usage else 0,
    )


def _never(segment: Segment, model: str, found: Fit, counts: Counts) -> Judged:
    judge = Judge(segment, {}, found, counts)
    for number, step in enumerate(steps(segment.transcript, model)):
        judge.take(number, step.body, step.body)
    return judge.end(lambda _: "")


def _sizes(segment: Segment, model: str, counts: Counts) -> list[int]:
    """Our count of each request as it was received."""
    first = read_back(next(steps(segment.transcript, model)).body)
    tools = counts.tools(first[0]) if first else 0
    sums = [*itertools.accumulate(map(counts.message, segment.transcript.messages), initial=tools)]
    return [sums[turn.received] for turn in segment.turns]
