from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from prometheus_client.samples import Exemplar, Timestamp

from ctxgc.core.journal import Pace, Usage
from ctxgc.core.state import State
from ctxgc.lab.suspects import RULES, Suspect
from ctxgc.session.timing import PHASES
from ctxgc.telemetry import TABLE, Figures, render
from ctxgc.telemetry.labels import ACTIONS, CAUSES, TAGS, Provenance
from ctxgc.telemetry.metrics import SERIES
from ctxgc.telemetry.series import Counts

from .helpers import PRICE, Session, price

PROMTOOL = pytest.mark.skipif(
    shutil.which("promtool") is None and "CI" not in os.environ, reason="promtool is not installed"
)
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
TRACE = "0af7651916cd43dd8448eb211c80319c"
AWKWARD = 'ba"s\\h\n'


def busy() -> Figures:
    """Figures in which every metric has a sample."""
    held: list[State] = []
    session = Session(Figures(price, live=lambda: held))
    held.append(session.state)
    call = session.ask([("user_turn", 10)], [(f"tool_result:{AWKWARD}", 100)], tools=[("tool_schema:bash", 50)])
    session.collect(call, (2, 30))
    session.figures.request_started(call, TRACE)
    usage = Usage(uncached=50, cached=60, output=9, reasoning=4)
    session.settle(call, usage, estimated=90, overhead=0.001, duration=2.0, first_token=0.5, at=7.0)
    session.recall(2)
    call = session.ask([("user_turn", 1)], pace=Pace(trigger="rent", live=7, price=1e-4, write=PRICE.cache_write))
    session.settle(call)
    return session.figures


UNDRIVEN = {
    "ctxgc_compactions_total", "ctxgc_summaries_total", "ctxgc_summaries_tokens_total", "ctxgc_milestones_total",
    "ctxgc_ledger_news_total", "ctxgc_audit_gaps_total",
    "ctxgc_audit_verify_failures_total", "ctxgc_telemetry_faults_total", "ctxgc_sessions_active",
    "ctxgc_requests_in_flight", "ctxgc_store_bytes",
}  # fmt: skip
"""Metrics that stay at zero in sessions made by hand: all their label sets are there from the start."""


def series(text: bytes) -> list[str]:
    return [line for line in text.decode().splitlines() if not line.startswith("#")]


def test_every_metric_of_the_table_is_exposed_with_its_help():
    families = {family.name: family for family in parse_text(render(busy())[0].decode())}
    for metric in TABLE:
        family = families[metric.name.removesuffix("_total") if metric.type == "counter" else metric.name]
        assert (family.type, family.documentation) == (metric.type, metric.help)
        assert family.samples, metric.name
    assert len(families) == len(TABLE)


def test_values_and_labels_come_out_as_they_went_in():
    families = {family.name: family for family in parse_text(render(busy())[0].decode())}
    found = [s for s in families["ctxgc_context_tokens"].samples if s.labels["source"] == AWKWARD]
    assert {(s.labels["tag"], s.labels["stage"], s.value) for s in found} == {
        ("tool_result", "received", 100),
        ("tool_result", "forwarded", 30),
    }


def test_the_buckets_of_a_histogram_are_cumulated_up_to_its_count():
    figures = Figures(price)
    for overhead in (0.0002, 0.0002, 0.002, 99.0):
        Session(figures).settle(b"", overhead=overhead)
    text = render(figures)[0].decode()
    for line in ('bucket{le="0.0005"} 2.0', 'bucket{le="0.0025"} 3.0', 'bucket{le="+Inf"} 4.0', "count 4.0"):
        assert f"ctxgc_request_overhead_seconds_{line}" in text


def test_openmetrics_is_served_to_whom_asks_for_it_and_text_to_others():
    text, media = render(busy(), OPENMETRICS)
    assert media.startswith("application/openmetrics-text; version=1.0.0")
    assert len(list(parse_openmetrics(text.decode()))) == len(TABLE)
    assert render(busy(), "text/html")[1].startswith("text/plain")


def test_an_exemplar_leads_to_the_newest_trace_of_its_bucket_and_only_openmetrics_has_them():
    text, plain = render(busy(), OPENMETRICS)[0].decode(), render(busy())[0].decode()
    found = {
        (family.name, sample.labels.get("stage", "")): sample.exemplar
        for family in parse_openmetrics(text)
        for sample in family.samples
        if sample.exemplar
    }
    context = "ctxgc_request_context_tokens"
    assert set(found) == {
        (context, "received"), (context, "forwarded"),
        ("ctxgc_request_overhead_seconds", ""), ("ctxgc_upstream_duration_seconds", ""),
    }  # fmt: skip
    assert found["ctxgc_upstream_duration_seconds", ""] == Exemplar({"trace_id": TRACE}, 2.0, Timestamp(7, 0))
    assert TRACE not in plain


@pytest.mark.parametrize("trace", ["", "0" * 32, TRACE.upper(), TRACE + "0", 'a" 1 # {', "\ud800" * 32])
def test_control_what_is_no_trace_id_makes_no_exemplar(trace: str):
    session = Session()
    call = session.ask([("user_turn", 10)])
    session.figures.request_started(call, trace)
    session.settle(call, overhead=0.001)
    assert b"trace_id" not in render(session.figures, OPENMETRICS)[0]


def test_what_is_excluded_is_not_exposed():
    out = ("ctxgc_context_tokens_total", "ctxgc_request_context_tokens", "ctxgc_live_context_tokens")
    text = render(Figures(price, exclude=out))[0].decode()
    families = {family.name for family in parse_text(text)}
    assert len(families) == len(TABLE) - len(out)
    assert not families & {"ctxgc_context_tokens", *out}


@pytest.mark.parametrize("accept", ["", ";;=,", "application/openmetrics-text; version=x", "ÿ", "a" * 10_000])
def test_no_accept_header_breaks_a_scrape(accept: str):
    assert series(render(busy(), accept)[0])


def test_a_name_that_utf_8_cannot_carry_does_not_break_a_scrape():
    session = Session()
    session.settle(session.ask([("tool_result:\ud800", 1)], model="\ud800"))
    assert b'source="?"' in render(session.figures)[0]


def test_a_gauge_that_cannot_be_read_is_not_exposed_as_anything():
    text = render(Figures(price, store_bytes=lambda: 1 // 0))[0]
    assert b"ctxgc_store_bytes" not in text
    assert b"ctxgc_sessions_active 0.0" in text


def test_the_client_library_is_imported_by_the_first_scrape_and_not_before():
    program = (
        "import sys, ctxgc.telemetry as t\n"
        "figures = t.Figures(lambda name: None)\n"
        "figures.request_started()\n"
        "assert not {'prometheus_client', 'litellm', 'tiktoken'} & set(sys.modules)\n"
        "t.render(figures)\n"
        "assert 'prometheus_client' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@PROMTOOL
def test_promtool_finds_nothing_to_say():
    found = subprocess.run(["promtool", "check", "metrics"], input=render(busy())[0], capture_output=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")


@PROMTOOL
def test_promtool_would_say_so_if_there_were():
    text = render(busy())[0].replace(b"ctxgc_audit_gaps_total", b"ctxgc_audit_gaps")
    found = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert found.returncode != 0


def short(number: int, figures: Figures, held: list[State]) -> Iterator[str]:
    """One session of many: its own tools and model; yields the tags it used."""
    session, tool = Session(figures), f"tool{number % 500}"
    model = f"model{chr(97 + number % 26)}"
    tags = [f"{family}:{tool}" for family in ("tool_call", "tool_result", "retrieval")]
    messages = [("user_turn", 5)], [(tag, 50) for tag in tags]
    untouched = Pace(write=PRICE.cache_write, paid=1e-4, untouched=1e-4)
    call = session.ask(*messages, tools=[(f"tool_schema:{tool}", 9)], model=model, pace=untouched)
    session.collect(call, (3, 10), action=("truncate", "dedupe", "minify")[number % 3])
    usage = Usage(uncached=9, cached=9, written=9, output=9, reasoning=3)
    session.settle(call, usage, estimated=20, overhead=0.001, duration=1.0, first_token=0.5)
    session.recall(3)
    held.append(session.state)
    cause = CAUSES[number % len(CAUSES)]
    moved = Pace(trigger=cause, live=5, price=1e-4, write=PRICE.cache_write, paid=2e-4, untouched=3e-4)
    call = session.ask([("user_turn", 5)], model=model, pace=moved)
    session.bypass("refused: 400", call, plain=True)
    session.settle(call, usage)
    figures.suspects(b"", [Suspect((*RULES, tool)[number % (len(RULES) + 1)], tool, 1, 0.1, "", "")])
    figures._took((*PHASES, "mark")[number % 5], 0.001)
    yield from tags


def test_ten_thousand_sessions_and_five_hundred_tools_stay_within_the_budget():
    held: list[State] = []
    figures = Figures(lambda name: replace(PRICE, provider=name[-1]), live=lambda: held)
    tags = {tag for number in range(10_000) for tag in short(number, figures, held)}
    assert len(tags) == 1500  # the control: times stage and residency, these alone would be 6,000 series
    text = render(figures)[0]
    assert 500 < len(series(text)) <= SERIES
    silent = {metric.name for metric in TABLE if not re.search(rf"^{metric.name}.* [1-9]".encode(), text, re.M)}
    assert silent == UNDRIVEN


def test_control_a_label_without_a_cap_would_break_the_budget(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Provenance, "_admit", lambda self, source: source)
    monkeypatch.setattr(Counts, "_folded", lambda self, labels: labels)
    figures = Figures(lambda name: PRICE)
    for number in range(600):
        list(short(number, figures, []))
    assert len(series(render(figures)[0])) > SERIES


def test_whatever_is_sent_stays_within_the_budget():
    figures = Figures(lambda name: replace(PRICE, provider=name[-1]))
    actions, outcomes = (*sorted(ACTIONS), "own"), ("ok", "partial", "aborted", "error")
    for number, (family, action) in enumerate(product((*sorted(TAGS), "own"), actions)):
        session = Session(figures)
        tags = [f"{family}:s{at}" for at in range(60)]
        for turn in range(2):
            call = session.ask([(tag, 50) for tag in tags], [(family, 5)], model=f"model{chr(97 + number % 26)}")
            first = len(session.state.cells) - len(tags) - 1
            session.collect(call, *((first + at, 10) for at in range(len(tags) + 1)), action=action)
            usage = Usage(uncached=9, cached=9, written=9, output=9, reasoning=3)
            outcome = outcomes[number % 4]
            session.settle(
                call, usage, outcome=outcome, estimated=20 + turn, overhead=0.001, duration=1.0, first_token=0.5
            )
        for at in range(len(tags) + 1):
            session.recall(at)
        for at, cause in enumerate(CAUSES):
            moved = Pace(trigger=cause, live=5, price=1e-4, write=PRICE.cache_write)
            call = session.ask([("user_turn", 5)], model=f"model{chr(97 + (number + at) % 26)}", pace=moved)
            if at + 1 == len(CAUSES):
                session.bypass("refused: 400", call, plain=True)
            session.settle(call, duration=1.0, first_token=0.5)
    for rule in (*RULES, "of my own"):
        figures.suspects(b"", [Suspect(rule, "", 1, 0.1, "", "")])
    session.recall(-1, found=False)
    assert 1000 < len(series(render(figures)[0])) <= SERIES
