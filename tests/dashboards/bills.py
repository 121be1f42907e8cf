"""What providers reported of requests, and what it comes to in dollars at list prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxgc.core.journal import Settlement
from ctxgc.lab.forecasts import billed, predicted
from ctxgc.tokens import Calibration, Price
from tests.dashboards.facts import Facts
from tests.dashboards.histories import Request, saved

MODELS = {"gpt-5": ("openai", "gpt-5"), "gpt-4.1-mini": ("openai", "gpt-4.1-mini")}
"""Provider and model of the names that the load gives; all others are ``other``."""
Ended = tuple[Settlement, Request]


def reported(facts: Facts, ended: Sequence[Ended], price: Callable[[str], Price | None]) -> None:
    """What providers reported, in the order in which requests ended: how far our counts are believed depends on it."""
    learned = Calibration()
    for entry, request in sorted(ended, key=lambda one: one[0].at):
        usage, asked = entry.usage, request.entry.model
        if usage is None:
            continue
        provider, model = MODELS.get(asked, ("other", "other"))
        for kind, tokens in (
            ("input_uncached", usage.uncached), ("cache_read", usage.cached), ("cache_write", usage.written),
            ("output", usage.output - usage.reasoning), ("reasoning", usage.reasoning),
        ):  # fmt: skip
            if tokens:
                facts.add("billed tokens", tokens, provider=provider, model=model, kind=kind)
        learned = learned.observe(asked, entry.estimated, usage.input)
        facts.add("error", learned.samples[asked][-1].error, provider=provider, model=model)
        cost = price(asked) if model != "other" else None
        if cost is not None:
            _dollars(facts, cost, entry, request, model, min(1.0, learned.factor(asked)))


def _dollars(facts: Facts, cost: Price, entry: Settlement, request: Request, model: str, believed: float) -> None:
    usage, pace = entry.usage, request.entry.pace
    assert usage
    spent = cost.cost(uncached=usage.uncached, cached=usage.cached, written=usage.written, output=usage.output)
    facts.add("dollars", spent, model=model, kind="billed")
    fresh, replayed = saved(request)
    step = cost.at(usage.input)
    spared = (fresh * step.input + replayed * step.cached_read) * believed
    if spared:
        facts.add("dollars", spared, model=model, kind="avoided")
    if pace is None or not pace.trigger:
        return
    tools = sum(tokens for _, tokens in request.tools_sent)
    total = sum(tokens for _, tokens in request.sent) + tools
    base = sum(tokens for item, tokens in request.sent if item.old or item.record) + tools
    new_tools = request.entry.schemas is not None
    split = predicted(pace, base, total, fresh_tools=new_tools, least=cost.min_cacheable)
    for by, one in (("predicted", split), ("billed", billed(usage))):
        facts.add("forecast", one.read, kind="read", by=by)
        facts.add("forecast", one.written, kind="written", by=by)
