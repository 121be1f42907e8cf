"""The collector: what it takes out, why, what that costs, and how often it was wrong.

Rule: what is taken out stands beside its price.
"""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.builders.dashboard import Dashboard

from .boards import new
from .panels import NEWEST, RANGE, Says, graph, number, row
from .queries import Query, few, none_is_zero, of, quantile, rate, total

COLLECTED, COST = "ctxgc_collected_tokens_total", "ctxgc_collection_cost_tokens_total"
FORECAST, INVALIDATED = "ctxgc_collection_forecast_tokens_total", "ctxgc_cache_invalidated_tokens_total"
PHASES = "ctxgc_collection_duration_seconds"


def board() -> Dashboard:
    """The dashboard."""
    text = "What the collector takes out of contexts, why, at which price, and how often it was wrong."
    return new("collector", "Collector", text, [*_collected(), *_price(), *_mistakes(), *_compactions()])


def _collected() -> Iterator[object]:
    yield row("What is collected")
    text = "Tokens a second that were taken out of context, each counted once, by what was done to them."
    yield _by("Collected by action", text, rate(COLLECTED, by="action"), "{{action}}", stacked=True)
    text = "Tokens a second that were taken out of context, each counted once, by who had put them there."
    yield _by("Collected by provenance", text, rate(COLLECTED, by="tag"), "{{tag}}", stacked=True)
    text = "Collections a second by why, and requests with none: nothing went (noop), or a rule forbade it."
    query = rate("ctxgc_collections_total", by="trigger, generation, outcome")
    yield _by("Collections", text, query, "{{trigger}} {{generation}} {{outcome}}", unit="ops")
    text = "How long each phase of collecting takes: half, and 99 %, of the times it takes less."
    phases = [Query(quantile(share, PHASES, by="phase"), f"p{share * 100:.0f} {{{{phase}}}}") for share in (0.5, 0.99)]
    yield graph(Says("Duration of phases", text, "s"), phases)


def _price() -> Iterator[object]:
    yield row("What it brings and what it costs")
    text = (
        "Tokens a second that came and were not sent, and tokens that were sent once more outside of the provider's "
        "cache because something before them was collected. A token read from the cache is cheaper than one written to "
        "it: what that comes to in money is on the cost dashboard."
    )
    yield _by("Saved and rewritten", text, rate(COST, by="kind"), "{{kind}}")
    text = "Tokens a second that had to be sent once more outside of the provider's cache because of us, by why."
    yield _by("Cache invalidated", text, rate(INVALIDATED, by="cause"), "{{cause}}", stacked=True)
    text = (
        "Input tokens a second of requests with a collection, read from the provider's cache or written to it: as the "
        "pacer predicted, and as the provider billed. Where the lines part, the pacer decides by wrong figures."
    )
    yield _by("Predicted and billed", text, rate(FORECAST, by="kind, by"), "{{kind}} {{by}}")
    text = "Bytes that the audit store takes on disk."
    yield _by("Store", text, f"sum({of('ctxgc_store_bytes')})", "audit store", unit="bytes", window=NEWEST)


def _mistakes() -> Iterator[object]:
    yield row("Mistakes and suspects")
    text = "Times a second that collected content was asked for again: found (hit), or under an unknown handle (miss)."
    query = rate("ctxgc_resurrections_total", by="tag, outcome")
    yield _by("Resurrections", text, query, "{{tag}} {{outcome}}", unit="ops")
    text = "Tokens a second that had been collected and were asked for again, by who had put them there."
    yield _by("Resurrected tokens", text, rate("ctxgc_resurrected_tokens_total", by="tag"), "{{tag}}", stacked=True)
    text = "Leak suspects found, by rule: what is carried again and again to no apparent use."
    yield number(
        Says("Leak suspects", text, "short", RANGE), none_is_zero(total("ctxgc_leak_suspects_total")), decimals=0
    )
    yield _by("Leak suspects by rule", text, few("ctxgc_leak_suspects_total", by="rule"), "{{rule}}")


def _compactions() -> Iterator[object]:
    yield row("Compaction and the ledger")
    text = "Spans of histories that gave way to a record, by why, and by whether a model had a part in the record."
    query = few("ctxgc_compactions_total", by="trigger, by")
    yield _by("Compactions", text, query, "{{trigger}} by {{by}}")
    text = "Answers of models that were asked for their part of a record: taken, or refused with nothing of them used."
    query = few("ctxgc_summaries_total", by="outcome")
    yield _by("Answers for records", text, query, "{{outcome}}")
    text = "Tokens that asking models for their part of records took."
    query = few("ctxgc_summaries_tokens_total", by="kind")
    yield _by("Tokens for records", text, query, "{{kind}}")
    text = "Sub-tasks that were declared done, and requests that told the model what had changed in the ledger."
    queries = [
        Query(few("ctxgc_milestones_total"), "milestones"),
        Query(few("ctxgc_ledger_news_total"), "news of the ledger"),
    ]
    yield graph(Says("Milestones and news", text, "short"), queries)


def _by(
    title: str, text: str, expr: str, legend: str, *, unit: str = "short", stacked: bool = False, window: str = ""
) -> object:
    says = Says(title, text, unit, window) if window else Says(title, text, unit)
    return graph(says, [Query(expr, legend)], stacked=stacked)
