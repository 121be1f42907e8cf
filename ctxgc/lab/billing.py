"""What input would be billed: requests in order, each read from a prefix cache as far as it begins like the last one.

Rule: bytes decide. From the first message that is not the same byte for byte as in the request before, everything is
written; after a pause longer than the cache lives, and at the first request, everything is. Sizes are our counts, made
to fit what the provider reported where it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, combinations
from statistics import median

from ctxgc.core.spans import Malformed
from ctxgc.tokens.counter import counter_for
from ctxgc.tokens.measure import Meter
from ctxgc.tokens.memo import CountMemo
from ctxgc.wire.codec import Body
from ctxgc.wire.openai_chat import OpenAIChat

ALIVE = 300.0
"""Seconds that a cached prefix lives unread."""
LEAST_USAGES = 3
FACTORS = (0.5, 4.0)
"""What a provider's token may be of ours, at least and at most."""
MISFIT = 0.25
"""Median distance from the fit, as a share of the median usage, above which usage is taken to be something else."""
_POINTS = 160
"""Usages that are fitted: evenly chosen ones of more, since all pairs of them are compared."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A provider's tokens for our ``count``: ``prefix + factor * count``, from that many ``usages`` (0: not fitted)."""

    prefix: float = 0.0
    factor: float = 1.0
    usages: int = 0

    def tokens(self, count: int) -> float:
        """The calibrated size of a request."""
        return self.prefix + self.factor * count


def fit(points: Sequence[tuple[int, int]]) -> Fit:
    """Fit (our count, reported input) pairs: the median of the slopes of all pairs (Theil 1950, Sen 1968).

    Too few usages, and those that are no sizes of requests (running totals, other calls), give the identity.
    """
    chosen = points[:: -(-len(points) // _POINTS) or 1]
    slopes = [(v - u) / (d - c) for (c, u), (d, v) in combinations(chosen, 2) if c != d]
    if len(points) < LEAST_USAGES or not slopes:
        return Fit()
    factor = min(max(median(slopes), FACTORS[0]), FACTORS[1])
    prefix = median(u - factor * c for c, u in chosen)
    if prefix < 0:
        prefix = 0.0
        factor = min(max(median(u / c for c, u in chosen if c), FACTORS[0]), FACTORS[1])
    found = Fit(prefix, factor, len(points))
    return found if _fits(found, chosen) else Fit()


def _fits(found: Fit, points: Sequence[tuple[int, int]]) -> bool:
    usual = median(u for _, u in points)
    return usual > 0 and median(abs(found.tokens(c) - u) for c, u in points) <= MISFIT * usual


class Counts:
    """Our counts of raw messages and tool lists for one model, each made once.

    The memory is its own: what is counted here does not make a session that is measured quicker.
    """

    def __init__(self, model: str) -> None:
        self._codec = OpenAIChat()
        self._meter = Meter(model, replace(counter_for(model), memo=CountMemo()))
        self._known: dict[bytes, int] = {}

    def message(self, raw: bytes) -> int:
        """Tokens of a message; one that cannot be read is counted as the text it is."""
        found = self._known.get(raw)
        if found is None:
            found = self._known[raw] = self._message(raw)
        return found

    def tools(self, body: Body) -> int:
        """Tokens of a body's tool schemas."""
        raw = body.fields.get("tools", b"")
        found = self._known.get(raw)
        if found is None:
            blocks = (block for schema in self._codec.schemas(body) for block in schema.blocks)
            found = self._known[raw] = sum(map(self._meter.measure, blocks))
        return found

    def _message(self, raw: bytes) -> int:
        try:
            return sum(map(self._meter.measure, self._codec.decode(raw).blocks))
        except Malformed:
            return self._meter.count(raw.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Charge:
    """One request's input, calibrated: ``read`` from the cache and ``written`` to it; ``count`` is ours, of all of it.

    ``common`` messages are those of the request before, byte for byte. ``again`` is what was sent behind a change
    although the request before had sent it as well.
    """

    read: float
    written: float
    count: int
    common: int
    again: float


@dataclass(slots=True)
class Account:
    """The requests of one session as a provider's cache sees them."""

    fit: Fit
    counts: Counts
    head: object = None
    messages: Sequence[bytes] = ()
    _sums: list[int] = field(default_factory=lambda: [0])

    def charge(self, head: object, tools: int, messages: Sequence[bytes], *, cold: bool) -> Charge:
        """Book a request. ``head`` stands before its messages and has ``tools`` tokens; another head shares nothing."""
        first = self.head is None
        common = 0 if first or head != self.head else _common(self.messages, messages)
        sums = self._sums[: common + 1]
        sums += accumulate((self.counts.message(raw) for raw in messages[common:]), initial=sums.pop())
        warm = not (first or cold or head != self.head)
        read = self.fit.tokens(tools + sums[common]) if warm else 0.0
        again = self._again(messages, common) if not first else 0
        self.head, self.messages, self._sums = head, messages, sums
        count = tools + sums[-1]
        return Charge(read, self.fit.tokens(count) - read, count, common, self.fit.factor * again)

    def _again(self, messages: Sequence[bytes], common: int) -> int:
        if common == len(self.messages):
            return 0
        before = set(self.messages[common:])
        return sum(self.counts.message(raw) for raw in messages[common:] if raw in before)


def _common(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    """How many messages two requests have in common, from the first on."""
    shared = min(len(before), len(after))
    return next((at for at in range(shared) if before[at] != after[at]), shared)
