"""The table of metrics: names, types, labels and what they say, as data that code, pages and tests share.

Rule: a label has few values, all chosen by us. Nothing a client sends becomes one unless it is capped (`labels`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Literal

from ctxgc.lab.suspects import RULES
from ctxgc.session.timing import PHASES

from .labels import COLLECTED_BY, COMPACTED_FOR, REASONS

SERIES = 1500
"""Series an instance may come to, however many sessions, tools and models it sees. The limits below keep it."""

REQUESTS = "ctxgc_requests_total"
CONTEXT = "ctxgc_context_tokens_total"
REQUEST_CONTEXT = "ctxgc_request_context_tokens"
UTILIZATION = "ctxgc_context_window_utilization_ratio"
COLLECTED = "ctxgc_collected_tokens_total"
COLLECTIONS = "ctxgc_collections_total"
COMPACTIONS = "ctxgc_compactions_total"
SUMMARIES = "ctxgc_summaries_total"
SUMMARY_TOKENS = "ctxgc_summaries_tokens_total"
MILESTONES = "ctxgc_milestones_total"
DURATION = "ctxgc_collection_duration_seconds"
NEWS = "ctxgc_ledger_news_total"
COLLECTION_COST = "ctxgc_collection_cost_tokens_total"
FORECAST = "ctxgc_collection_forecast_tokens_total"
INPUT_COST = "ctxgc_input_cost_usd_total"
INVALIDATED = "ctxgc_cache_invalidated_tokens_total"
RESURRECTIONS = "ctxgc_resurrections_total"
RESURRECTED = "ctxgc_resurrected_tokens_total"
PROVIDER_TOKENS = "ctxgc_provider_tokens_total"
COST = "ctxgc_cost_usd_total"
ESTIMATE_ERROR = "ctxgc_token_estimate_error_ratio"
OVERHEAD = "ctxgc_request_overhead_seconds"
UPSTREAM_DURATION = "ctxgc_upstream_duration_seconds"
FIRST_TOKEN = "ctxgc_upstream_time_to_first_token_seconds"
FAIL_OPEN = "ctxgc_fail_open_total"
SUSPECTS = "ctxgc_leak_suspects_total"
ENTRIES = "ctxgc_audit_entries_total"
GAPS = "ctxgc_audit_gaps_total"
VERIFY_FAILURES = "ctxgc_audit_verify_failures_total"
FAULTS = "ctxgc_telemetry_faults_total"
SESSIONS = "ctxgc_sessions_active"
IN_FLIGHT = "ctxgc_requests_in_flight"
STORE_BYTES = "ctxgc_store_bytes"
LIVE = "ctxgc_live_context_tokens"
BUILD = "ctxgc_build_info"

_K = 1000
_SIZES = tuple(k * _K for k in (1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 200, 256, 400, 500, 1000))
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_OVERHEADS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_DURATIONS = (0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
_PHASES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
_FIRST_TOKENS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MODEL = ("provider", "model")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. ``buckets`` are the upper bounds of a histogram; ``known`` the label values that start at zero.

    ``limit`` is how many label sets it may come to; from then on, new sources are counted as one (0: no limit needed).
    """

    name: str
    type: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    known: tuple[tuple[str, ...], ...] = ()
    limit: int = 0


def _counter(
    name: str, labels: tuple[str, ...], text: str, known: tuple[tuple[str, ...], ...] = (), limit: int = 0
) -> Metric:
    return Metric(name, "counter", text, labels, known=known if labels else ((),), limit=limit)


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    return Metric(name, "gauge", text, labels)


def _histogram(
    name: str, labels: tuple[str, ...], buckets: tuple[float, ...], text: str, known: tuple[tuple[str, ...], ...] = ()
) -> Metric:
    return Metric(name, "histogram", text, labels, buckets, known=known if labels else ((),))


TABLE: tuple[Metric, ...] = (
    _counter(
        REQUESTS, (*_MODEL, "outcome"),
        "Requests whose end was booked: ok, partial (the upstream broke off), aborted (the client left) or error.",
    ),
    _counter(
        CONTEXT, ("stage", "tag", "source", "residency"),
        "Tokens of context, counted again each time they are sent: as received from agents and as forwarded, "
        "by provenance, new in the request (fresh) or sent before (replayed). Counted when a request ends.",
        limit=330,
    ),
    _histogram(
        REQUEST_CONTEXT, ("stage", "model"), _SIZES, "Tokens of context in one request, as received and as forwarded."
    ),
    _histogram(
        UTILIZATION, ("stage", "model"), _SHARES,
        "Share of the model's input window that one request's context takes, as received and as forwarded.",
    ),
    _counter(
        COLLECTED, ("tag", "source", "action"),
        "Tokens the collector took out of context, counted once, by provenance and by what was done last to them; "
        "summarize: they were in a span that a record stands for, and what was still sent of them went.",
        limit=92,
    ),
    _counter(
        COLLECTIONS, ("trigger", "generation", "outcome"),
        "Collections that changed something (collected): of what was never sent (eden), or of what was, because the "
        "cache was cold, the rent paid, the window or quality budget full, a policy asked, or a milestone was reached; "
        "a compaction is a major one. And requests with none: nothing went (noop), or it was dropped because the "
        "result broke a rule (aborted).",
        COLLECTED_BY,
    ),
    _counter(
        COMPACTIONS, ("trigger", "by"),
        "Spans of histories that gave way to a record, by why they did, and by whether a model had a part in the "
        "record or code alone wrote it.",
        tuple(product(COMPACTED_FOR, ("code", "model"))),
    ),
    _counter(
        SUMMARIES, ("outcome",),
        "Answers of models that were asked for their part of a record, piece by piece: taken, or refused with nothing "
        "of them used.",
        (("taken",), ("refused",)),
    ),
    _counter(
        SUMMARY_TOKENS, ("kind",),
        "Tokens that asking models for their part of records took, second attempts with them: input and output.",
        (("input",), ("output",)),
    ),
    _counter(MILESTONES, (), "Times that a sub-task was declared done."),
    _counter(NEWS, (), "Requests that told the model what had changed in the ledger."),
    _counter(
        COLLECTION_COST, ("kind",),
        "Tokens that came and were not sent, counted with each request that ended (saved), and tokens sent once more "
        "outside of the cache because something before them was collected (rewritten).",
        (("saved",), ("rewritten",)),
    ),
    _counter(
        FORECAST, ("kind", "by"),
        "Input tokens of requests for which something sent before was collected, read from the cache (read) or not "
        "(written): as the pacer predicted, and as the provider then billed.",
        tuple(product(("read", "written"), ("predicted", "billed"))),
    ),
    _counter(
        INPUT_COST, ("kind",),
        "US dollars that the input has cost by the pacer's prices, as sent (paid) and as it would have been if nothing "
        "had been collected (untouched): the second less the first is what collecting has brought, net. Only models "
        "with list prices.",
        (("paid",), ("untouched",)),
    ),
    _counter(
        INVALIDATED, ("provider", "cause"),
        "Tokens sent once more outside of the cache because something before them was changed, by why it was: the "
        "triggers of collections, or plain (the provider had refused an edited request, and all was taken back). "
        "Without plain, these are the rewritten tokens of ctxgc_collection_cost_tokens_total.",
    ),
    _histogram(
        DURATION, ("phase",), _PHASES,
        "Seconds of work on one request: counting what is new (tokenize), finding what it refers to (mark), planning "
        "what could go next (sweep), and making a history anew that was changed (rewrite).",
        tuple((phase,) for phase in PHASES),
    ),
    _counter(
        RESURRECTIONS, ("tag", "outcome"),
        "Times collected content was asked for again: found (hit), or under an unknown handle (miss).",
    ),
    _counter(
        RESURRECTED, ("tag", "source"),
        "Tokens that had been collected and were asked for again: divided by the tokens collected, "
        "how often collecting was a mistake.",
        limit=48,
    ),
    _counter(
        PROVIDER_TOKENS, (*_MODEL, "kind"),
        "Tokens as providers reported them, each in one kind only: "
        "input_uncached, cache_read, cache_write, output (without reasoning) or reasoning.",
    ),
    _counter(
        COST, ("model", "kind"),
        "US dollars at list prices: billed for reported tokens; avoided by tokens not sent (a lower bound: new ones at "
        "the input price, replayed ones at the price of a cache read); and, as the pacer reckons, what the requests "
        "with a collection of what was sent before cost more for it, since what follows it was written to the cache "
        "anew (cache_penalty).",
    ),
    _histogram(
        ESTIMATE_ERROR, _MODEL, _ERRORS,
        "How far our calibrated count of a request's input was off, as a share of what the provider reported.",
    ),
    _histogram(OVERHEAD, (), _OVERHEADS, "Seconds that ctxgc itself took before a request left."),
    _histogram(UPSTREAM_DURATION, _MODEL, _DURATIONS, "Seconds from sending a request to the end of a whole answer."),
    _histogram(
        FIRST_TOKEN, _MODEL, _FIRST_TOKENS,
        "Seconds from sending a request to the first content, reasoning or tool call of its answer.",
    ),
    _counter(
        FAIL_OPEN, ("reason",),
        "Requests that went on without us, in whole or in part, because of a fault of ours or a body we do not read.",
        tuple((reason,) for reason in REASONS),
    ),
    _counter(
        SUSPECTS, ("rule",),
        "Leak suspects: what sessions carry again and again to no apparent use, by the rule that found it, each once. "
        "Looked for when 10, 20, 40 and so on of a session's requests have ended.",
        tuple((rule,) for rule in RULES),
    ),
    _counter(ENTRIES, (), "Entries made for the audit journal."),
    _counter(GAPS, (), "Calls whose audit entries were stored late, as the journal's gap entries tell."),
    _counter(
        VERIFY_FAILURES, (),
        "Times that something in the audit store was read and did not match its hash: run `ctxgc audit verify`.",
    ),
    _counter(FAULTS, (), "Times that these figures themselves failed to count something."),
    _gauge(SESSIONS, "Sessions held in memory."),
    _gauge(IN_FLIGHT, "Requests being answered now."),
    _gauge(STORE_BYTES, "Bytes that the audit store takes on disk."),
    _gauge(
        LIVE, "Tokens of the newest request of each session in memory, as it was sent, by what they are.", ("tag",)
    ),
    _gauge(BUILD, "Always 1; the labels say which build this is.", ("version", "python")),
)  # fmt: skip
"""All metrics, in the order of the exposition."""

METRICS: Mapping[str, str] = MappingProxyType({metric.name: metric.help for metric in TABLE})
"""What each metric says, by name."""
