"""A span and who is to be asked about it: asks piece by piece, and says what came of each.

Rule: never raises. A piece of which nothing can be taken leaves its outcome, and the next one is asked all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxgc.core.compaction import Item, Summary
from ctxgc.core.record import Original
from ctxgc.summarise.asking import Ask, Asker, Said, plain
from ctxgc.summarise.breaker import TAKEN
from ctxgc.summarise.checked import Refused, Taken, checked
from ctxgc.summarise.pieces import pieces
from ctxgc.summarise.prompt import SCHEMA, prompt, seen

ANSWER = 4096
"""Tokens that an answer may take; a quarter of the window, where that is less."""
LEAST = 1500
"""Tokens of the smallest window that is worth asking."""

_SPARE = 0.95  # what a provider counts may differ from what is counted here


@dataclass(frozen=True, slots=True)
class Job:
    """What to ask of whom. ``window`` is the context window of ``model`` in tokens, ``count`` counts them.

    ``after`` is the node in front of the span and ``upto`` its last one; the originals know theirs. ``still_open`` are
    open items of earlier summaries with their numbers, and ``number`` is that of the next item. ``at`` is Unix time.
    """

    model: str
    originals: tuple[Original, ...]
    count: Callable[[str], int]
    after: int
    upto: int
    at: float
    still_open: tuple[tuple[int, str], ...] = ()
    number: int = 0
    window: int = 128_000
    share: float = 0.5
    timeout: float = 120.0
    api_base: str = ""
    api_key: str = field(default="", repr=False)


def summarise(job: Job, asker: Asker) -> tuple[Summary, ...]:
    """The summaries of the span, one for each piece, in order: what was taken (outcome ``taken``), or why nothing was.

    What one piece leaves open, or calls done with, the next ones are told.
    """
    return tuple(_summaries(job, asker))


def _summaries(job: Job, asker: Asker) -> Iterator[Summary]:
    if job.window < LEAST:
        yield Summary(at=job.at, after=job.after, upto=job.upto, model=job.model, outcome=_TOO_SMALL, attempts=0)
        return
    answer = min(ANSWER, job.window // 4)
    listed = sum(job.count(f"{number}: {text}") + 2 for number, text in job.still_open)
    split = pieces(job.originals, job.count, int(_SPARE * (job.window - answer)) - min(listed, job.window // 4))
    whole = {one.cell: one for one in job.originals}
    still_open, after, number = dict(job.still_open), job.after, job.number
    for at, piece in enumerate(split):
        upto = job.upto if at == len(split) - 1 or piece[-1].node < 0 else piece[-1].node
        found = _asked(job, asker, piece, [whole[one.cell] for one in piece], tuple(still_open.items()), answer)
        yield found.entry(job, after, upto)
        opened = [(number + n, item.text) for n, item in enumerate(found.items) if item.field == "open_items"]
        still_open = {n: text for n, text in still_open.items() if n not in found.resolved} | dict(opened)
        after, number = upto, number + len(found.items)


_TOO_SMALL = "refused: the window of the model is too small"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of one piece."""

    outcome: str
    attempts: int
    said: tuple[Said, ...] = ()
    items: tuple[Item, ...] = ()
    resolved: tuple[int, ...] = ()

    def entry(self, job: Job, after: int, upto: int) -> Summary:
        return Summary(
            at=job.at,
            after=after,
            upto=upto,
            model=(self.said[-1].model if self.said else "") or job.model,
            outcome=self.outcome,
            items=self.items,
            resolved=self.resolved,
            attempts=self.attempts,
            input=sum(said.input for said in self.said),
            output=sum(said.output for said in self.said),
        )


def _asked(
    job: Job,
    asker: Asker,
    piece: Sequence[Original],
    originals: Sequence[Original],
    still_open: tuple[tuple[int, str], ...],
    answer: int,
) -> _Outcome:
    """Ask about a piece, and once more where the first answer is refused; ``originals`` are its texts uncut."""
    if not any(map(seen, piece)):
        return _Outcome("refused: there is nothing to read", 0)
    messages = prompt(piece, still_open)
    size = sum(job.count(one.text) for one in originals)
    said: list[Said] = []
    reason = ""
    for attempt in (1, 2):
        again = {"role": "user", "content": f"Your last answer was refused: {reason}. Write the JSON object once more."}
        ask = Ask(
            job.model,
            (*messages, again) if reason else messages,
            SCHEMA,
            answer,
            job.api_base,
            job.api_key,
            job.timeout,
        )
        said.append(_safely(asker, ask))
        found = checked(said[-1], originals, still_open, span_tokens=size, count=job.count, share=job.share)
        match found:
            case Taken(items, resolved):
                return _Outcome(TAKEN, attempt, tuple(said), items, resolved)
            case Refused(why):
                reason = why
    return _Outcome(f"refused: {reason}", 2, tuple(said))


def _safely(asker: Asker, ask: Ask) -> Said:
    try:
        return plain(asker(ask))
    except BaseException as fault:  # an asker must not raise; one that does, or exits, must not stop the others
        return Said("", "error", error=type(fault).__name__)
