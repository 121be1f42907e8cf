"""The dashboards keep the rules of good ones; and each rule finds a dashboard that breaks it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dashboards.linter import RULES, panels, variables

FOLDER = Path(__file__).parents[2] / "dashboards"
BOARDS = {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def test_there_are_four_dashboards() -> None:
    assert [board["uid"] for board in BOARDS.values()] == [
        "ctxgc-collector", "ctxgc-cost", "ctxgc-overview", "ctxgc-proxy",
    ]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", BOARDS)
def test_the_dashboards_keep_the_rules(name: str, rule: str) -> None:
    assert list(RULES[rule](BOARDS[name])) == []


Spoil = Callable[[dict[str, Any]], object]


def first(board: dict[str, Any]) -> dict[str, Any]:
    """The panel to be spoilt."""
    return panels(board)[0]


def in_query(old: str, new: str) -> Spoil:
    """Change the first panel's query."""

    def spoil(board: dict[str, Any]) -> None:
        target = first(board)["targets"][0]
        assert old in target["expr"]
        target["expr"] = target["expr"].replace(old, new)

    return spoil


SPOILT: dict[str, Spoil] = {
    "datasource_is_a_variable": lambda board: variables(board)["datasource"].update(name="DS_PROMETHEUS"),
    "instances_are_chosen": lambda board: variables(board)["instance"].update(allValue=".*"),
    "variables_ask_for_labels": lambda board: variables(board)["job"].update(refresh=1),
    "variables_are_used": lambda board: board["templating"]["list"].append({**variables(board)["job"], "name": "pod"}),
    "is_not_edited_in_place": lambda board: board.update(editable=True),
    "is_of_the_classic_schema": lambda board: board.update(schemaVersion=37),
    "panels_follow_the_datasource": lambda board: first(board)["targets"][0]["datasource"].update(
        uid="P1809F7CD0C75ACF3"
    ),
    "panels_explain_themselves": lambda board: first(board).update(description="Metric: `ctxgc_requests_total`"),
    "titles_are_unique": lambda board: first(board).update(title=panels(board)[1]["title"]),
    "panels_say_their_window": lambda board: first(board).update(description="Something, some time or other."),
    "units_are_known": lambda board: first(board)["fieldConfig"]["defaults"].update(unit="tokens"),
    "no_traffic_is_said": lambda board: first(board)["fieldConfig"]["defaults"].pop("noValue"),
    "stats_show_the_newest": lambda board: first(board)["options"]["reduceOptions"].update(calcs=[]),
    "panels_have_queries": lambda board: first(board).update(targets=[]),
    "queries_are_promql": in_query("sum(", "sum((("),
    "queries_follow_the_instances": in_query('instance=~"$instance"', 'instance="10.0.0.1:8787"'),
    "queries_name_what_exists": in_query('stage="forwarded"', 'direction="forwarded"'),
    "legends_name_what_is_there": lambda board: first(board)["targets"][0].update(legendFormat="{{source}}"),
    "rates_follow_the_scrape": in_query("$__range", "5m"),
    "counters_are_growth": in_query("increase(", "avg_over_time("),
    "only_faults_default_to_none": in_query("1 - sum(", "1 - (sum(x) or vector(0)) * sum("),
    "differences_are_of_what_is_there": in_query(
        "1 - sum(", "1 - sum(increase(ctxgc_cache_invalidated_tokens_total)) - sum("
    ),
    "limits_stand_where_there_is_one": lambda board: first(board)["options"].update(colorMode="value"),
    "dashboards_lead_to_one_another": lambda board: board["links"][0].update(keepTime=False),
    "the_cross_hair_is_shared": lambda board: board.update(graphTooltip=0),
    "panels_do_not_overlap": lambda board: first(board)["gridPos"].update(w=20),
}


def test_each_rule_has_its_control() -> None:
    assert list(SPOILT) == list(RULES)


@pytest.mark.parametrize("rule", SPOILT)
def test_each_rule_finds_what_breaks_it(rule: str) -> None:
    board = copy.deepcopy(BOARDS["ctxgc-overview.json"])
    SPOILT[rule](board)
    assert list(RULES[rule](board))


def test_a_metric_that_does_not_exist_is_found() -> None:
    board = copy.deepcopy(BOARDS["ctxgc-overview.json"])
    in_query("ctxgc_context_tokens_total", "ctxgc_context_tokens")(board)
    assert list(RULES["queries_name_what_exists"](board))
