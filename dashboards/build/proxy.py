"""The proxy: requests, how long they take, what ctxgc adds, and whether it and its store are well.

Rule: durations are quantiles of histograms, and every fault has a place of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.builders.dashboard import Dashboard

from .boards import new
from .panels import NEWEST, RANGE, Says, graph, number, row, rows
from .queries import Query, none_is_zero, of, quantile, rate, total

REQUESTS, FAIL_OPEN = "ctxgc_requests_total", "ctxgc_fail_open_total"
OVERHEAD, DURATION = "ctxgc_request_overhead_seconds", "ctxgc_upstream_duration_seconds"
FIRST_TOKEN, ERROR = "ctxgc_upstream_time_to_first_token_seconds", "ctxgc_token_estimate_error_ratio"
VERIFY, GAPS, FAULTS = (f"ctxgc_{name}_total" for name in ("audit_verify_failures", "audit_gaps", "telemetry_faults"))


def board() -> Dashboard:
    """The dashboard."""
    text = "Requests through the proxy: how many, how they end, how long they take, and whether the books are well."
    return new("proxy", "Proxy", text, [*_traffic(), *_times(), *_truth(), *_audit(), *_scraping()], model=True)


def _traffic() -> Iterator[object]:
    yield row("Requests")
    text = "Requests a second by outcome: ok, partial (the upstream broke off), aborted (the client left) or error."
    query = Query(rate(REQUESTS, by="outcome", model=True), "{{outcome}}")
    yield graph(Says("Requests by outcome", text, "reqps"), [query], stacked=True)
    text = "Requests a second by provider and model. Models that the price table does not know are one: other."
    query = Query(rate(REQUESTS, by="provider, model", model=True), "{{provider}} {{model}}")
    yield graph(Says("Requests by model", text, "reqps"), [query], stacked=True)
    bad = none_is_zero(rate(REQUESTS, 'outcome!="ok"', model=True))
    text = "Share of requests that ended in anything but a whole answer."
    share = Query(f"{bad} / {rate(REQUESTS, model=True)}", "not ok")
    yield graph(Says("Share of errors", text, "percentunit"), [share])
    text = "Requests being answered at the moment, and sessions held in memory."
    queries = [
        Query(f"sum({of('ctxgc_requests_in_flight')})", "requests in flight"),
        Query(f"sum({of('ctxgc_sessions_active')})", "sessions"),
    ]
    yield graph(Says("In flight", text, "short", NEWEST), queries)


def _times() -> Iterator[object]:
    yield row("Time")
    text = "What ctxgc itself adds to a request before it leaves. The points lead to traces."
    shares = (0.5, 0.95, 0.99)
    queries = [Query(quantile(share, OVERHEAD), f"p{share * 100:.0f}", exemplar=True) for share in shares]
    yield graph(Says("Overhead", text, "s"), queries)
    text = "From sending a request to the first token of its answer."
    yield _quantiles(Says("Time to first token", text, "s"), FIRST_TOKEN, (0.5, 0.95))
    text = "From sending a request to the end of a whole answer. The points lead to traces."
    yield _quantiles(Says("Duration of answers", text, "s"), DURATION, (0.5, 0.95), exemplar=True)


def _truth() -> Iterator[object]:
    text = "How far our calibrated count of a request's input was off what the provider reported: 95 % are closer."
    yield _quantiles(Says("Error of estimates", text, "percentunit"), ERROR, (0.95,))


def _audit() -> Iterator[object]:
    yield row("Faults and the audit store")
    text = "Requests a second that went on untouched because of a fault of ours or a body we do not read, by why."
    query = Query(rate(FAIL_OPEN, by="reason"), "{{reason}}")
    yield graph(Says("Fail-open", text, "reqps"), [query], stacked=True)
    text = "Entries a second made for the audit journal."
    query = Query(rate("ctxgc_audit_entries_total"), "entries")
    yield graph(Says("Audit entries", text, "ops"), [query])
    text = "Times that what was stored did not agree with its hashes. Any is one too many."
    yield number(Says("Failed verifications", text, "short", RANGE), total(VERIFY), limit=1, decimals=0)
    text = "Calls whose audit entries were stored late."
    yield number(Says("Late entries", text, "short", RANGE), total(GAPS), limit=1, decimals=0)
    text = "Times that these figures themselves failed to count something."
    yield number(Says("Faults of the figures", text, "short", RANGE), total(FAULTS), limit=1, decimals=0)


def _scraping() -> Iterator[object]:
    yield row("The scrape itself")
    text = "Series that an instance exposes: they are limited, whatever clients send."
    query = Query(of("scrape_samples_scraped"), "{{instance}}")
    yield graph(Says("Samples scraped", text, "short", NEWEST), [query])
    text = "How long Prometheus waits for the figures."
    query = Query(of("scrape_duration_seconds"), "{{instance}}")
    yield graph(Says("Duration of a scrape", text, "s", NEWEST), [query])
    text = "Which builds run."
    builds = f"sum by (instance, version, python) ({of('ctxgc_build_info')})"
    keys = ("instance", "version", "python")
    yield rows(Says("Builds", text, "short", NEWEST), [("Running", builds)], keys)


def _quantiles(says: Says, metric: str, shares: tuple[float, ...], *, exemplar: bool = False) -> object:
    queries = [
        Query(
            quantile(share, metric, by="provider, model", model=True),
            f"p{share * 100:.0f} {{{{provider}}}} {{{{model}}}}",
            exemplar=exemplar,
        )
        for share in shares
    ]
    return graph(says, queries)
