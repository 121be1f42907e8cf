from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from ctxgc.core.journal import Usage
from ctxgc.telemetry import TABLE, Figures, render
from ctxgc.telemetry.labels import ACTIONS, TAGS
from ctxgc.telemetry.metrics import SERIES

from .helpers import PRICE, Session, price

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
AWKWARD = 'ba"s\\h\n'


def busy() -> Figures:
    """Figures in which every metric has a sample."""
    session = Session()
    call = session.ask([("user_turn", 10)], [(f"tool_result:{AWKWARD}", 100)], tools=[("tool_schema:bash", 50)])
    session.collect(call, (2, 30))
    session.settle(call, Usage(uncached=50, cached=60, output=9, reasoning=4), estimated=90)
    session.recall(2)
    session.figures.request_started()
    session.figures.request_ended("gpt-x", "ok", 0.001, 2.0, 0.5)
    return session.figures


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
        figures.request_ended("", "error", overhead, 0.0, None)
    text = render(figures)[0].decode()
    for line in ('bucket{le="0.0005"} 2.0', 'bucket{le="0.0025"} 3.0', 'bucket{le="+Inf"} 4.0', "count 4.0"):
        assert f"ctxgc_request_overhead_seconds_{line}" in text


def test_openmetrics_is_served_to_whom_asks_for_it_and_text_to_others():
    text, media = render(busy(), OPENMETRICS)
    assert media.startswith("application/openmetrics-text; version=1.0.0")
    assert len(list(parse_openmetrics(text.decode()))) == len(TABLE)
    assert render(busy(), "text/html")[1].startswith("text/plain")


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


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_finds_nothing_to_say():
    found = subprocess.run(["promtool", "check", "metrics"], input=render(busy())[0], capture_output=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_would_say_so_if_there_were():
    text = render(busy())[0].replace(b"ctxgc_audit_gaps_total", b"ctxgc_audit_gaps")
    found = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert found.returncode != 0


def short(number: int, figures: Figures) -> Iterator[str]:
    """One session of many: its own tools and model; yields the tags it used."""
    session, tool = Session(figures), f"tool{number % 500}"
    model = f"model{chr(97 + number % 26)}"
    tags = [f"{family}:{tool}" for family in ("tool_call", "tool_result", "retrieval")]
    call = session.ask([("user_turn", 5)], [(tag, 50) for tag in tags], tools=[(f"tool_schema:{tool}", 9)], model=model)
    session.collect(call, (3, 10), action=("truncate", "dedupe", "minify")[number % 3])
    session.settle(call, Usage(uncached=9, cached=9, written=9, output=9, reasoning=3), estimated=20)
    session.recall(3)
    figures.request_ended(model, "ok", 0.001, 1.0, 0.5)
    yield from tags


def test_ten_thousand_sessions_and_five_hundred_tools_stay_within_the_budget():
    figures = Figures(lambda name: PRICE)
    tags = {tag for number in range(10_000) for tag in short(number, figures)}
    assert len(tags) == 1500  # the control: times stage and residency, these alone would be 6,000 series
    assert 500 < len(series(render(figures)[0])) <= SERIES


def test_whatever_is_sent_stays_within_the_budget():
    figures = Figures(lambda name: PRICE)
    actions, outcomes = (*sorted(ACTIONS), "own"), ("ok", "partial", "aborted", "error")
    for number, (family, action) in enumerate(product((*sorted(TAGS), "own"), actions)):
        session = Session(figures)
        tags = [f"{family}:s{at}" for at in range(60)]
        for turn in range(2):
            call = session.ask([(tag, 50) for tag in tags], [(family, 5)], model=f"model{chr(97 + number % 26)}")
            first = len(session.state.cells) - len(tags) - 1
            session.collect(call, *((first + at, 10) for at in range(len(tags) + 1)), action=action)
            usage = Usage(uncached=9, cached=9, written=9, output=9, reasoning=3)
            session.settle(call, usage, outcome=outcomes[number % 4], estimated=20 + turn)
        for at in range(len(tags) + 1):
            session.recall(at)
        for letter in range(26):
            figures.request_ended(f"model{chr(97 + letter)}", "ok", 0.001, 1.0, 0.5)
    session.recall(-1, found=False)
    assert 1000 < len(series(render(figures)[0])) <= SERIES
