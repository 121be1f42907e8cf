"""Segments: the stretches of a transcript that were one context each, and when each of their requests was made.

Rule: what a recorded agent no longer saw after a compaction is not in the segment behind it, and a segment's clock is
the recorded one wherever times were recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ctxgc.lab.replay import AGENT, system_prompts
from ctxgc.lab.transcripts import Transcript

STARTED = 1_700_000_000.0
"""When a segment without times begins, in Unix seconds."""
PACE = 20.0
"""Seconds between two requests where no times were recorded."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: it carries the first ``received`` messages, of which ``replies`` are the agent's.

    ``answer`` is the index of the message that answered it, or None; ``at`` is when, in Unix seconds.
    """

    received: int
    replies: int
    answer: int | None
    at: float


@dataclass(frozen=True, slots=True)
class Segment:
    """A transcript without compactions, under a name of its own, and its requests in order."""

    name: str
    transcript: Transcript
    turns: tuple[Turn, ...]


def segments(transcript: Transcript) -> tuple[Segment, ...]:
    """The segments of a transcript that hold a request. The first has its id, those after a compaction ``id#2``, ..."""
    cuts = [0, *(at for at in transcript.compactions if at > system_prompts(transcript)), len(transcript.messages)]
    found = (_segment(transcript, number, start, end) for number, (start, end) in enumerate(pairwise(cuts), 1))
    return tuple(one for one in found if one.turns)


def _segment(transcript: Transcript, number: int, start: int, end: int) -> Segment:
    kept = list(range(start, _end(transcript, end)))
    if start:
        kept[:0] = range(system_prompts(transcript))
    name = transcript.id if number == 1 else f"{transcript.id}#{number}"
    made = _only(transcript, name, kept)
    return Segment(name, made, tuple(_turns(made)))


def _end(transcript: Transcript, end: int) -> int:
    """Where a segment ends: what was said last before a compaction was never asked about, but for compacting it."""
    while 0 < end < len(transcript.roles) and transcript.roles[end - 1] != AGENT:
        end -= 1
    return end


def _only(transcript: Transcript, name: str, kept: Sequence[int]) -> Transcript:
    places = {old: new for new, old in enumerate(kept)}
    times = transcript.times
    return replace(
        transcript,
        id=name,
        messages=tuple(transcript.messages[at] for at in kept),
        roles=tuple(transcript.roles[at] for at in kept),
        usage=tuple((places[at], usage) for at, usage in transcript.usage if at in places),
        times=tuple(times[at] if at < len(times) else None for at in kept) if times else None,
        compactions=(),
    )


def _turns(made: Transcript) -> Iterator[Turn]:
    now, replies = 0.0, 0
    for at in range(len(made.roles) + 1):
        last = at == len(made.roles)
        if (made.roles[at - 1] != AGENT if last else made.roles[at] == AGENT) and at > 0:
            now = _next(now, made.times[at] if made.times and not last else None)
            yield Turn(at, replies, None if last else at, now)
        replies += not last and made.roles[at] == AGENT
    return


def _next(now: float, recorded: float | None) -> float:
    """The time of the next request: as recorded, never before the last one."""
    if recorded is not None:
        return max(now, recorded)
    return now + PACE if now else STARTED
