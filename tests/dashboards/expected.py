"""What every panel has to show, said over the facts of the audit store: by panel, one figure for each of its queries.

Keys are the dashboard and the panel's title. A figure is a value for each set of labels; where a panel shows a rate, it
is the total of the run (``expressions.ungrown``). ``ELSEWHERE`` are the panels that show what no store can know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ctxgc.telemetry import TABLE
from tests.dashboards.facts import Facts, Labels, cumulated, quantile

Figure = Mapping[Labels, float]
Panel = Callable[[Facts], Sequence[Figure]]

ALL: Labels = frozenset()
HOUR = 3600
INPUT = "input_uncached|cache_read|cache_write"
BOUNDS = {metric.name: metric.buckets for metric in TABLE}
SIZES, SHARES = BOUNDS["ctxgc_request_context_tokens"], BOUNDS["ctxgc_context_window_utilization_ratio"]
OVERHEADS, DURATIONS = BOUNDS["ctxgc_request_overhead_seconds"], BOUNDS["ctxgc_upstream_duration_seconds"]
FIRST, ERRORS = BOUNDS["ctxgc_upstream_time_to_first_token_seconds"], BOUNDS["ctxgc_token_estimate_error_ratio"]


def one(value: float) -> list[Figure]:
    """A panel with a single figure."""
    return [{ALL: value}]


def by(name: str, *labels: str, times: float = 1) -> Panel:
    """A panel that sums up one thing by labels."""
    return lambda facts: [{key: value * times for key, value in facts.sums(name, labels).items()}]


def quantiles(name: str, bounds: Sequence[float], shares: Sequence[float], *labels: str) -> Panel:
    """A panel with quantiles of one thing: a query each."""
    return lambda facts: [
        {key: quantile(share, cumulated(bounds, found)) for key, found in facts.groups(name, labels).items()}
        for share in shares
    ]


def net(facts: Facts) -> float:
    """What collecting brought, in dollars: less than nothing where it did not pay."""
    return facts.sum("input cost", kind="untouched") - facts.sum("input cost", kind="paid")


def tokens(facts: Facts, stage: str) -> float:
    return facts.sum("context", stage=stage)


def gone(facts: Facts) -> float:
    """Tokens that were not sent, less those that were sent once more outside of the cache."""
    return tokens(facts, "received") - tokens(facts, "forwarded") - facts.sum("invalidated")


def hits(facts: Facts) -> list[Figure]:
    return one(facts.sum("billed tokens", kind="cache_read") / facts.sum("billed tokens", kind=INPUT))


def window(facts: Facts) -> list[Figure]:
    found = cumulated(SHARES, facts.groups("window", stage="forwarded")[ALL])
    return [{frozenset({("le", "+Inf" if le == float("inf") else str(le))}): count for le, count in found}]


def stages(facts: Facts, name: str, *labels: str) -> list[Figure]:
    return [facts.sums(name, labels, stage=stage) for stage in ("received", "forwarded")]


def sources(facts: Facts) -> list[Figure]:
    """All sources that something was received from: there are fewer than the panel has room for."""
    received, forwarded = stages(facts, "context", "tag", "source")
    assert len(received) < 20
    return [received, {key: value for key, value in forwarded.items() if key in received}]


OVERVIEW: dict[str, Panel] = {
    "Context reduction": lambda facts: one(1 - tokens(facts, "forwarded") / tokens(facts, "received")),
    "Net saving on input": lambda facts: one(net(facts)),
    "Net tokens a request": lambda facts: one(gone(facts) / facts.sum("requests")),
    "Resurrection rate": lambda facts: one(facts.sum("resurrected") / facts.sum("collected")),
    "Provider cache hits": hits,
    "Fail-open rate": lambda facts: one(facts.sum("fail open") / facts.sum("requests")),
    "Overhead, p95": quantiles("overhead", OVERHEADS, [0.95]),
    "Sessions": by("sessions"),
    "Requests": by("requests"),
    "Context received and forwarded": lambda facts: stages(facts, "context", "tag"),
    "Fresh and replayed": by("context", "stage", "residency"),
    "Context in use": by("live", "tag"),
    "Context of a request": quantiles("size", SIZES, [0.5, 0.95], "stage"),
    "Use of the window": window,
    "Largest sources": sources,
}
COLLECTOR: dict[str, Panel] = {
    "Collected by action": by("collected", "action"),
    "Collected by provenance": by("collected", "tag"),
    "Collections": by("collections", "trigger", "generation", "outcome"),
    "Saved and rewritten": by("saved", "kind"),
    "Cache invalidated": by("invalidated", "cause"),
    "Predicted and billed": by("forecast", "kind", "by"),
    "Resurrections": by("resurrections", "tag", "outcome"),
    "Resurrected tokens": by("resurrected", "tag"),
    "Leak suspects": by("suspects"),
    "Leak suspects by rule": by("suspects", "rule"),
    "Compactions": by("compactions", "trigger", "by"),
    "Answers for records": by("answers", "outcome"),
    "Tokens for records": by("asked", "kind"),
    "Milestones and news": lambda facts: [facts.sums("milestones"), facts.sums("news")],
}
PROXY: dict[str, Panel] = {
    "Requests by outcome": by("requests", "outcome"),
    "Requests by model": by("requests", "provider", "model"),
    "Share of errors": lambda facts: one(1 - facts.sum("requests", outcome="ok") / facts.sum("requests")),
    "In flight": lambda facts: [facts.sums("in flight"), facts.sums("sessions")],
    "Overhead": quantiles("overhead", OVERHEADS, [0.5, 0.95, 0.99]),
    "Time to first token": quantiles("first token", FIRST, [0.5, 0.95], "provider", "model"),
    "Duration of answers": quantiles("duration", DURATIONS, [0.5, 0.95], "provider", "model"),
    "Error of estimates": quantiles("error", ERRORS, [0.95], "provider", "model"),
    "Fail-open": by("fail open", "reason"),
    "Audit entries": by("entries"),
    "Failed verifications": by("verify failures"),
    "Late entries": by("gaps"),
    "Faults of the figures": by("faults"),
}
COST: dict[str, Panel] = {
    "Net saving on input": lambda facts: one(net(facts)),
    "Billed": lambda facts: one(facts.sum("dollars", kind="billed")),
    "Avoided": lambda facts: one(facts.sum("dollars", kind="avoided")),
    "Cache penalty": lambda facts: one(facts.sum("dollars", kind="cache_penalty")),
    "Provider cache hits": hits,
    "Billed, avoided, penalty": by("dollars", "kind", times=HOUR),
    "Paid and untouched": by("input cost", "kind", times=HOUR),
    "Billed by model": lambda facts: [
        {key: value * HOUR for key, value in facts.sums("dollars", ["model"], kind="billed").items()}
    ],
    "Net saving": lambda facts: one(net(facts) * HOUR),
    "Tokens by kind": by("billed tokens", "kind"),
    "Input tokens by model": lambda facts: [facts.sums("billed tokens", ["model"], kind=INPUT)],
    "By model": lambda facts: [
        facts.sums("dollars", ["model"], kind=kind) for kind in ("billed", "avoided", "cache_penalty")
    ],
}
EXPECTED: dict[tuple[str, str], Panel] = {
    (f"ctxgc-{board}", title): panel
    for board, panels in (("overview", OVERVIEW), ("collector", COLLECTOR), ("proxy", PROXY), ("cost", COST))
    for title, panel in panels.items()
}
ELSEWHERE = {
    ("ctxgc-collector", "Duration of phases"),
    ("ctxgc-collector", "Store"),
    ("ctxgc-proxy", "Samples scraped"),
    ("ctxgc-proxy", "Duration of a scrape"),
    ("ctxgc-proxy", "Builds"),
}
"""How long phases took, bytes on disk, the scrape itself and the build: they are held against ``/metrics``."""
