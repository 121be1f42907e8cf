"""Every panel of every dashboard, over a real Prometheus that scraped a real proxy, equals what the store says."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.dashboards import live
from tests.dashboards.expected import ELSEWHERE, EXPECTED
from tests.dashboards.facts import Labels, quantile
from tests.dashboards.live import Place, Run, Vector
from tests.dashboards.test_linter import BOARDS
from tests.dashboards.tools import program

PLACES: list[Place] = [
    (board["uid"], panel["title"], target["refId"])
    for board in BOARDS.values()
    for panel, target in live.targets(board)
]  # fmt: skip
RARE = {
    ("ctxgc-proxy", "Failed verifications", "A"),
    ("ctxgc-proxy", "Late entries", "A"),
    ("ctxgc-proxy", "Faults of the figures", "A"),
}
"""What does not happen in the load: these show zero."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    binary = program("prometheus")
    return asyncio.run(live.run(binary, BOARDS, tmp_path_factory.mktemp("live")))


def figures(vector: Vector) -> dict[Labels, float]:
    """What a vector says, without the labels of the target and without what is not there or nothing."""
    found = {}
    for one in vector:
        labels = {key: value for key, value in one["metric"].items() if key not in ("__name__", "job", "instance")}
        value = float(one["value"][1])
        if value and not math.isnan(value):
            found[frozenset(labels.items())] = value
    return found


def agree(shown: Mapping[Labels, float], wanted: Mapping[Labels, float]) -> None:
    assert shown == pytest.approx({labels: value for labels, value in wanted.items() if value}, rel=1e-9)


def test_every_panel_has_a_figure_to_be_compared_with() -> None:
    panels = {(board, title) for board, title, _ in PLACES}
    assert EXPECTED.keys() | ELSEWHERE == panels
    assert not EXPECTED.keys() & ELSEWHERE


@pytest.mark.parametrize("place", PLACES, ids=" - ".join)
def test_the_panel_shows_something(run: Run, place: Place) -> None:
    asked = run.asked[place]
    assert asked.now
    points = [float(value) for series in asked.over_time for _, value in series["values"]]
    values = points if not asked.target["instant"] else [float(one["value"][1]) for one in asked.now]
    assert any(not math.isnan(value) for value in values)
    assert any(value > 0 for value in values if value == value) != (place in RARE) or "Net" in place[1]


@pytest.mark.parametrize("place", PLACES, ids=" - ".join)
def test_its_legend_names_labels_that_are_there(run: Run, place: Place) -> None:
    asked = run.asked[place]
    series = [one["metric"] for one in (asked.over_time or asked.now)]
    for label in re.findall(r"\{\{(\w+)\}\}", asked.target["legendFormat"]):
        assert any(label in metric for metric in series)


@pytest.mark.parametrize("place", [place for place in PLACES if place[:2] in EXPECTED], ids=" - ".join)
def test_it_equals_the_figure_recomputed_from_the_store(run: Run, place: Place) -> None:
    wanted = EXPECTED[place[:2]](run.facts)[ord(place[2]) - ord("A")]
    agree(figures(run.asked[place].total), wanted)
    assert bool(figures(run.asked[place].total)) != (place in RARE)


@pytest.mark.parametrize("name", ["job", "instance", "model"])
def test_variables_offer_what_was_scraped(run: Run, name: str) -> None:
    offered = {board: values for (board, variable), values in run.values.items() if variable == name}
    wanted = {"job": ["ctxgc"], "instance": [run.target], "model": ["gpt-4.1-mini", "gpt-5", "other"]}[name]
    assert offered
    assert all(sorted(values) == wanted for values in offered.values())


def test_a_chosen_model_leaves_the_others_out(run: Run) -> None:
    wanted = run.facts.sums("requests", ["provider", "model"], model="gpt-5")
    agree(figures(run.one_model), wanted)


def test_a_panel_with_a_wrong_label_is_caught(run: Run) -> None:
    (wanted,) = EXPECTED["ctxgc-overview", "Fresh and replayed"](run.facts)
    assert figures(run.spoilt)
    with pytest.raises(AssertionError):
        agree(figures(run.spoilt), wanted)


def test_a_figure_that_is_off_by_one_token_is_caught(run: Run) -> None:
    (wanted,) = EXPECTED["ctxgc-overview", "Fresh and replayed"](run.facts)
    labels, value = next(iter(wanted.items()))
    with pytest.raises(AssertionError):
        agree(figures(run.asked["ctxgc-overview", "Fresh and replayed", "A"].total), {**wanted, labels: value + 1})


def test_savings_may_be_negative(run: Run) -> None:
    """The load's proxy collects whatever it costs."""
    (shown,) = figures(run.asked["ctxgc-overview", "Net saving on input", "A"].total).values()
    assert shown < 0


# What no store can know, by the exposition


def samples(run: Run, name: str) -> list[Any]:
    families = text_string_to_metric_families(run.metrics)
    return [sample for family in families for sample in family.samples if sample.name == name]


def test_bytes_on_disk_are_those_exposed(run: Run) -> None:
    (exposed,) = samples(run, "ctxgc_store_bytes")
    agree(figures(run.asked["ctxgc-collector", "Store", "A"].total), {frozenset(): exposed.value})


@pytest.mark.parametrize(("query", "share"), [("A", 0.5), ("B", 0.99)])
def test_the_duration_of_phases_is_that_exposed(run: Run, query: str, share: float) -> None:
    counts: dict[str, list[tuple[float, float]]] = {}
    for sample in samples(run, "ctxgc_collection_duration_seconds_bucket"):
        counts.setdefault(sample.labels["phase"], []).append((float(sample.labels["le"]), sample.value))
    wanted = {frozenset({("phase", phase)}): quantile(share, found) for phase, found in counts.items()}
    assert len(wanted) == 4
    agree(figures(run.asked["ctxgc-collector", "Duration of phases", query].total), wanted)


def test_the_scrape_took_what_is_exposed(run: Run) -> None:
    (scraped,) = figures(run.asked["ctxgc-proxy", "Samples scraped", "A"].total).values()
    lines = [line for line in run.metrics.splitlines() if not line.startswith("#")]
    assert scraped == len(lines)
    (seconds,) = figures(run.asked["ctxgc-proxy", "Duration of a scrape", "A"].total).values()
    assert seconds < live.HANG


def test_the_build_is_the_one_that_runs(run: Run) -> None:
    (exposed,) = samples(run, "ctxgc_build_info")
    (shown,) = run.asked["ctxgc-proxy", "Builds", "A"].total
    assert shown["metric"] == {**exposed.labels, "instance": run.target}


def test_what_is_exposed_is_what_promtool_takes(run: Run, tmp_path: Path) -> None:
    import subprocess

    given = {"input": run.metrics.encode(), "capture_output": True, "timeout": 60, "check": False}
    done = subprocess.run([program("promtool"), "check", "metrics"], **given)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
