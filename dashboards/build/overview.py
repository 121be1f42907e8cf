"""The overview: what is saved, at which price, where the tokens come from, and whether anything is wrong.

Rule: savings are net and may be negative; what the provider's cache saves by itself is shown, and never credited.
"""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.builders.dashboard import Dashboard

from .boards import new
from .panels import NEWEST, RANGE, Says, graph, heats, number, row, rows
from .queries import Query, none_is_zero, of, quantile, rate, total

CONTEXT, SIZE = "ctxgc_context_tokens_total", "ctxgc_request_context_tokens"
RECEIVED, FORWARDED = 'stage="received"', 'stage="forwarded"'
INPUT, PROVIDER = "ctxgc_input_cost_usd_total", "ctxgc_provider_tokens_total"
READ = 'kind="cache_read"'
IN = 'kind=~"input_uncached|cache_read|cache_write"'
REQUESTS = "ctxgc_requests_total"
PAID, UNTOUCHED = 'kind="paid"', 'kind="untouched"'
NET_COST = f"{total(INPUT, UNTOUCHED)} - {total(INPUT, PAID)}"
COUNTED = "Tokens as ctxgc counts them, with each request that ended."


def board() -> Dashboard:
    """The dashboard."""
    text = "What ctxgc saves, net, and where the tokens of the context come from."
    return new("overview", "Overview", text, [*_stats(), *_provenance(), *_sizes(), *_sites()], model=True)


def _stats() -> Iterator[object]:
    reduction = f"1 - {total(CONTEXT, FORWARDED)} / {total(CONTEXT, RECEIVED)}"
    text = f"Share of the tokens that agents sent which was not sent on. Before what that costs. {COUNTED}"
    yield number(Says("Context reduction", text, "percentunit", RANGE), reduction)
    text = (
        "What the input would have cost if nothing had been collected, less what it cost, at list prices: net of cache "
        "that had to be written again and of recalls, and negative where collecting did not pay. Source: the pacer's "
        "books in the journal; models without a list price are left out."
    )
    yield number(Says("Net saving on input", text, "currencyUSD", RANGE), NET_COST, limit=0, below=True, decimals=4)
    invalidated = none_is_zero(total("ctxgc_cache_invalidated_tokens_total"))  # most that runs never rewrites any
    gone = f"{total(CONTEXT, RECEIVED)} - {total(CONTEXT, FORWARDED)} - {invalidated}"
    text = (
        "Tokens received, less those forwarded (rounds after a recall too), less those that had to be sent once more "
        f"outside of the provider's cache because of us, for each request, of all models. {COUNTED}"
    )
    says = Says("Net tokens a request", text, "short", RANGE)
    yield number(says, f"({gone}) / {total(REQUESTS)}", limit=0, below=True)
    again = f"{none_is_zero(total('ctxgc_resurrected_tokens_total'))} / {total('ctxgc_collected_tokens_total')}"
    text = "Tokens that were asked for again, as a share of the tokens collected: how often collecting was a mistake."
    yield number(Says("Resurrection rate", text, "percentunit", RANGE), again, limit=0.05)
    read = f"{total(PROVIDER, READ, model=True)} / {total(PROVIDER, IN, model=True)}"
    text = (
        "Share of input tokens that providers report as read from their cache. Source: usage as billed. What this "
        "saves is the provider's doing, and no saving of ctxgc."
    )
    yield number(Says("Provider cache hits", text, "percentunit", RANGE), read)
    failed = f"{total('ctxgc_fail_open_total')} / {total(REQUESTS)}"
    text = "Requests that went on untouched because of a fault of ours, or a body we do not read, of all models."
    yield number(Says("Fail-open rate", text, "percentunit", RANGE), failed, limit=0.01)
    late = quantile(0.95, "ctxgc_request_overhead_seconds", over="$__range")
    text = "What ctxgc itself adds to a request before it leaves: 95 % take less."
    yield number(Says("Overhead, p95", text, "s", RANGE), late, decimals=1)
    yield number(Says("Sessions", "Sessions held in memory.", "short", NEWEST), f"sum({of('ctxgc_sessions_active')})")
    text = "Requests whose end was booked, however they ended."
    yield number(Says("Requests", text, "short", RANGE), total(REQUESTS, model=True), decimals=0)


def _provenance() -> Iterator[object]:
    yield row("Context by provenance")
    text = (
        "Tokens a second by who put them there: what agents sent above the axis, what was sent on below it, so that "
        "both have the same scale."
    )
    queries = [
        Query(rate(CONTEXT, RECEIVED, by="tag"), "{{tag}} received"),
        Query(rate(CONTEXT, FORWARDED, by="tag"), "{{tag}} forwarded"),
    ]
    yield graph(Says("Context received and forwarded", text, "short"), queries, stacked=True, mirrored="/forwarded$/")
    text = "Tokens a second that are new in their request (fresh), and that were sent before (replayed)."
    query = Query(rate(CONTEXT, by="stage, residency"), "{{residency}} {{stage}}")
    yield graph(Says("Fresh and replayed", text, "short"), [query])
    text = "Tokens that sessions in memory carry now, by who put them there, as their newest request was sent."
    live = Query(f"sum by (tag) ({of('ctxgc_live_context_tokens')})", "{{tag}}")
    yield graph(Says("Context in use", text, "short", NEWEST), [live], stacked=True)


def _sizes() -> Iterator[object]:
    yield row("Size of requests")
    text = "Tokens of context in one request, before and after collecting: half, and 95 %, of the requests have less."
    queries = [
        Query(quantile(share, SIZE, by="stage", model=True), f"p{share * 100:.0f} {{{{stage}}}}", exemplar=True)
        for share in (0.5, 0.95)
    ]
    yield graph(Says("Context of a request", text, "short"), queries)
    window = "ctxgc_context_window_utilization_ratio_bucket"
    grew = total(window, FORWARDED, by="le", model=True, over="$__rate_interval")
    text = "Requests by the share of the model's input window that they take as they are sent."
    yield heats(Says("Use of the window", text, "percentunit"), grew)


def _sites() -> Iterator[object]:
    yield row("Where it comes from")
    received, forwarded = (total(CONTEXT, stage, by="tag, source") for stage in (RECEIVED, FORWARDED))
    top = f"topk(20, {received})"
    text = (
        "The twenty sources with most token-turns: a token counts each time that it is sent. What was forwarded of "
        "them stands beside what came."
    )
    columns = [("Received", top), ("Forwarded", f"{forwarded} and on (tag, source) {top}")]
    yield rows(Says("Largest sources", text, "short", RANGE), columns, ("tag", "source"))
