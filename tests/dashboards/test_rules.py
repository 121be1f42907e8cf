"""The recording and alert rules: valid, tested by Prometheus' own tool, and about metrics that exist."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboards.expressions import uses
from tests.dashboards.linter import LABELS, TARGET, metric_of
from tests.dashboards.tools import FOLDER, program, run, said

TEXT = (FOLDER / "rules.yml").read_text()
TESTS = (FOLDER / "rules_test.yml").read_text()
ALERTS = re.findall(r"- alert: (\w+)", TEXT)
RECORDED = re.findall(r"- record: (\S+)", TEXT)


def exprs() -> Iterator[str]:
    """The expressions of all rules."""
    for match in re.finditer(r"^( +)expr: (>-\n)?(.+(?:\n\1  .+)*)", TEXT, re.M):
        yield " ".join(match[3].split())


def test_they_are_valid() -> None:
    done = run(program("promtool"), "check", "rules", "rules.yml", folder=FOLDER)
    assert done.returncode == 0, said(done)
    assert f"{len(ALERTS) + len(RECORDED)} rules found" in said(done)


def test_they_hold_in_promtools_tests() -> None:
    done = run(program("promtool"), "test", "rules", "rules_test.yml", folder=FOLDER)
    assert done.returncode == 0, said(done)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ratio_rate1h > 0.1", "ratio_rate1h > 0.01"),
        ("> 10000", "> 10"),
        ("< -0.01", "< 0"),
        ("or 0 * sum by (job, instance) (rate(ctxgc_fail_open_total[15m]))) > 0.01", ") > 0.01"),
        ("(rate(ctxgc_fail_open_total[15m]))) > 0.01", "(rate(ctxgc_fail_open_total[15m]))) > 0.0001"),
        ("[1h]))) > 0.2", "[1h]))) > 0.01"),
        ("count[1h])) > 50", "count[1h])) > 5"),
        ("failures_total[1h])) > 0", "failures_total[1h])) >= 0"),
        ("or (sum by (job, instance) (ctxgc_audit_verify_failures_total) > 0", "or (vector(0) > 0"),
        ("failures_total offset 1h", "failures_total offset 9h"),
        ('{stage="forwarded",le="0.9"}', '{le="0.9"}'),
        ('count{stage="forwarded"}', "count"),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_noticed_by_those_tests(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEXT
    (tmp_path / "rules.yml").write_text(TEXT.replace(old, new))
    shutil.copy(FOLDER / "rules_test.yml", tmp_path)
    assert run(program("promtool"), "test", "rules", "rules_test.yml", folder=tmp_path).returncode != 0


def test_every_rule_is_tested() -> None:
    assert len(ALERTS) == 6
    for name in ALERTS:
        assert f"{name} fires where" in TESTS
        assert re.search(rf"{name} fires where .*\bnot\b", TESTS)
    assert all(f"- expr: {name}\n" in TESTS for name in RECORDED)


def test_every_alert_says_what_to_do() -> None:
    blocks = re.split(r"- (?:alert|record): ", TEXT)[-len(ALERTS) :]
    for block in blocks:
        assert re.search(r"severity: (warning|critical)", block)
        assert re.search(r'summary: "\{\{ \$labels\.instance \}\}: .+"', block)
        assert re.search(r'description: ".+"', block)
        assert re.search(r"action: >-\n +\w.+", block)


def test_they_are_about_metrics_and_labels_that_exist() -> None:
    found = [use for expr in exprs() for use in uses(expr)]
    assert len(found) >= 15
    known = LABELS | {name: {"stage", "tag"} for name in RECORDED}
    for use in found:
        assert metric_of(use.name) in known, use
        assert set(use.matchers) | use.by <= known[metric_of(use.name)] | TARGET | {"le"}, use


def test_the_dashboards_name_no_rule_that_is_not_loaded() -> None:
    """A dashboard works without the rules: it asks for metrics alone."""
    for path in FOLDER.glob("*.json"):
        assert "ctxgc:" not in json.dumps(json.loads(path.read_text())["panels"])
