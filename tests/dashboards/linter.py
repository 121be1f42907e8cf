"""The rules of a good dashboard, each as a function that says where one breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

from grafana_foundation_sdk.models import units

from ctxgc.telemetry import TABLE
from tests.dashboards.expressions import GROWTH, parse, uses

Dict = dict[str, Any]
Rule = Callable[[Dict], Iterator[str]]

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
FAULTS = re.compile(r'error|fail|resurrect|leak_suspects|invalidated|outcome!="ok"')
"""What may be taken for none where there is no series: counts of what should not be."""
UNITS = {value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("_")}
SCRAPE = ("up", "scrape_samples_scraped", "scrape_duration_seconds")
LABELS = {metric.name: set(metric.labels) for metric in TABLE} | {key: set[str]() for key in SCRAPE}
TYPES = {metric.name: metric.type for metric in TABLE}
ALWAYS = {"ctxgc_requests_total", "ctxgc_context_tokens_total"}
"""Counters that every request moves."""
RARE = {one.name for one in TABLE if one.type == "counter" and one.labels and not one.known} - ALWAYS
"""Counters that have no series before something has happened that need not."""
TARGET = {"job", "instance"}


def panels(board: Dict) -> list[Dict]:
    """All panels that show something."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def targets(board: Dict) -> Iterator[tuple[Dict, Dict]]:
    """Each query with its panel."""
    return ((panel, target) for panel in panels(board) for target in panel["targets"])


def variables(board: Dict) -> dict[str, Dict]:
    """The template variables by name."""
    return {variable["name"]: variable for variable in board["templating"]["list"]}


def metric_of(name: str) -> str:
    """The metric that a series belongs to: a histogram has several."""
    bare = re.sub(r"_(bucket|count|sum)$", "", name)
    return bare if TYPES.get(bare) == "histogram" else name


def datasource_is_a_variable(board: Dict) -> Iterator[str]:
    found = variables(board).get("datasource", {})
    if (found.get("type"), found.get("query")) != ("datasource", "prometheus"):
        yield "there is no data source variable named datasource"
    if "__inputs" in board:
        yield "__inputs make it a file for one kind of import"


def instances_are_chosen(board: Dict) -> Iterator[str]:
    for name in (*TARGET, *({"model"} & set(variables(board)))):
        found = variables(board).get(name, {})
        wanted = {"type": "query", "multi": True, "includeAll": True, "allValue": ".+", "label": name}
        if any(found.get(key) != value for key, value in wanted.items()):
            yield f"variable {name} is not one of several labels with a match for all"
        if found.get("datasource") != DATASOURCE:
            yield f"variable {name} has a data source of its own"


def variables_ask_for_labels(board: Dict) -> Iterator[str]:
    for name, variable in variables(board).items():
        if variable["type"] != "query":
            continue
        asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        if asked is None or asked[2] != name:
            yield f"variable {name} does not ask for the values of its label"
        elif any(metric_of(use.name) not in LABELS for use in uses(asked[1])):
            yield f"variable {name} asks a metric that does not exist"
        if variable["refresh"] != 2:
            yield f"variable {name} does not follow the time range"


def variables_are_used(board: Dict) -> Iterator[str]:
    exprs = " ".join(target["expr"] for _, target in targets(board))
    for name, variable in variables(board).items():
        if variable["type"] == "query" and f"${name}" not in exprs:
            yield f"variable {name} is used nowhere"


def is_not_edited_in_place(board: Dict) -> Iterator[str]:
    if board.get("editable") is not False:
        yield "the dashboard is editable"


def is_of_the_classic_schema(board: Dict) -> Iterator[str]:
    if board.get("schemaVersion") != 42:
        yield "the schema version is not 42"
    if board.get("id") is not None or not board["uid"].startswith("ctxgc-"):
        yield "it needs a uid of its own and no id"


def panels_follow_the_datasource(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        if any(each.get("datasource") != DATASOURCE for each in (panel, *panel["targets"])):
            yield f"{panel['title']}: a data source of its own"


def panels_explain_themselves(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        told = re.search(r"^(.{30,})\n\nMetric: (`\w+`(?:, `\w+`)*)$", panel.get("description", ""), re.S)
        named = set(re.findall(r"`(\w+)`", told[2])) if told else set()
        used = {metric_of(use.name) for target in panel["targets"] for use in uses(target["expr"])}
        if not panel.get("title") or not told or named != used:
            yield f"{panel.get('title')}: no title, no description, or it does not end with its metrics"


def titles_are_unique(board: Dict) -> Iterator[str]:
    for key in ("title", "id"):
        values = [panel[key] for panel in board["panels"]]
        yield from (f"{value}: the {key} of several panels" for value in set(values) if values.count(value) > 1)


def panels_say_their_window(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        if not re.search(r"time range shown\.|Newest value\.|the time around it", panel["description"]):
            yield f"{panel['title']}: over which time?"


def units_are_known(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        if panel["fieldConfig"]["defaults"].get("unit") not in UNITS:
            yield f"{panel['title']}: no unit that Grafana knows"


def no_traffic_is_said(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        defaults = panel["fieldConfig"]["defaults"]
        mapped = [each["options"].get("match") for each in defaults.get("mappings", []) if each["type"] == "special"]
        if not defaults.get("noValue") or "null+nan" not in mapped:
            yield f"{panel['title']}: nothing is said where there is no data"


def stats_show_the_newest(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        if panel["type"] == "stat" and panel["options"]["reduceOptions"]["calcs"] != ["lastNotNull"]:
            yield f"{panel['title']}: shows no single value"


def panels_have_queries(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        if not panel.get("targets"):
            yield f"{panel['title']}: no query"


def queries_are_promql(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        try:
            parse(target["expr"])
        except ValueError as error:
            yield f"{panel['title']}: {error}"


def queries_follow_the_instances(board: Dict) -> Iterator[str]:
    chosen = {"model"} & set(variables(board))
    for panel, target in targets(board):
        series = re.findall(r"(\w+)\{([^}]*)\}", target["expr"])
        common = set.intersection(*(LABELS.get(metric_of(name), set()) for name, _ in series))
        for name, matchers in series:
            if any(f'{label}=~"${label}"' not in matchers for label in TARGET | common & chosen):
                yield f"{panel['title']}: {name} does not follow the variables"


def queries_name_what_exists(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        for use in uses(target["expr"]):
            known = LABELS.get(metric_of(use.name))
            series = {"le"} if use.name.endswith("_bucket") else set[str]()
            if known is None:
                yield f"{panel['title']}: there is no metric {use.name}"
            elif unknown := (set(use.matchers) | use.by) - known - TARGET - series:
                yield f"{panel['title']}: {use.name} has no label {', '.join(sorted(unknown))}"


def legends_name_what_is_there(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        known = set().union(*(use.by for use in uses(target["expr"]))) or TARGET
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            if label not in known:
                yield f"{panel['title']}: its legend names {label}, which is summed up"
        if not target["legendFormat"]:
            yield f"{panel['title']}: no legend"


def rates_follow_the_scrape(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        for name, window in re.findall(r"(\w+)\([^()\[]*\[([^\]]+)\]", target["expr"]):
            if window not in ("$__rate_interval", "$__range") or (
                window == "$__range" and name == "rate" and "_bucket" not in target["expr"]
            ):
                yield f"{panel['title']}: {name} over {window}"


def counters_are_growth(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        for use in uses(target["expr"]):
            counts = TYPES.get(metric_of(use.name)) in ("counter", "histogram")
            grows = any(name in GROWTH for name in use.inside)
            if counts and (
                not grows or use.inside.index("sum") > min(map(use.inside.index, set(GROWTH) & set(use.inside)))
            ):
                yield f"{panel['title']}: {use.name} is not summed up from its growth"
            if not counts and grows:
                yield f"{panel['title']}: {use.name} is no counter"


def only_faults_default_to_none(board: Dict) -> Iterator[str]:
    for panel, target in targets(board):
        for before in re.findall(r"\(([^\n]*?) or vector\(0\)\)", target["expr"]):
            if not FAULTS.search(before):
                yield f"{panel['title']}: no traffic is shown as nothing"


def differences_are_of_what_is_there(board: Dict) -> Iterator[str]:
    """Where one side of a difference has no series yet, there is no difference either."""
    for panel, target in targets(board):
        for name in re.findall(r"- sum\((?:rate|increase)\((\w+)", target["expr"]):
            if name in RARE:
                yield f"{panel['title']}: without {name} nothing is shown"


def limits_stand_where_there_is_one(board: Dict) -> Iterator[str]:
    for panel in panels(board):
        steps = panel["fieldConfig"]["defaults"].get("thresholds", {"steps": []})["steps"]
        coloured = len(steps) > 1
        if panel["type"] == "stat" and coloured != (panel["options"]["colorMode"] == "value"):
            yield f"{panel['title']}: its colour says nothing"
        if panel["type"] != "stat" and coloured:
            yield f"{panel['title']}: a limit that is no limit"


def dashboards_lead_to_one_another(board: Dict) -> Iterator[str]:
    wanted = {"type": "dashboards", "tags": ["ctxgc"], "includeVars": True, "keepTime": True, "asDropdown": True}
    if not any(all(link.get(key) == value for key, value in wanted.items()) for link in board["links"]):
        yield "no way to the other dashboards that keeps time and variables"
    if "ctxgc" not in board["tags"]:
        yield "the others do not lead here"


def the_cross_hair_is_shared(board: Dict) -> Iterator[str]:
    if board.get("graphTooltip") != 1:
        yield "each panel has a cross-hair of its own"


def panels_do_not_overlap(board: Dict) -> Iterator[str]:
    boxes = [(panel["title"], panel["gridPos"]) for panel in board["panels"]]
    for (one, a), (other, b) in combinations(boxes, 2):
        if (
            a["x"] < b["x"] + b["w"]
            and b["x"] < a["x"] + a["w"]
            and a["y"] < b["y"] + b["h"]
            and b["y"] < a["y"] + a["h"]
        ):
            yield f"{one} covers {other}"
    yield from (f"{title} is wider than the dashboard" for title, box in boxes if box["x"] + box["w"] > 24)
    if any(first["y"] > then["y"] for (_, first), (_, then) in pairwise(boxes)):
        yield "the panels are not in reading order"


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        datasource_is_a_variable, instances_are_chosen, variables_ask_for_labels, variables_are_used,
        is_not_edited_in_place, is_of_the_classic_schema, panels_follow_the_datasource, panels_explain_themselves,
        titles_are_unique, panels_say_their_window, units_are_known, no_traffic_is_said, stats_show_the_newest,
        panels_have_queries, queries_are_promql, queries_follow_the_instances, queries_name_what_exists,
        legends_name_what_is_there, rates_follow_the_scrape, counters_are_growth, only_faults_default_to_none,
        differences_are_of_what_is_there, limits_stand_where_there_is_one, dashboards_lead_to_one_another,
        the_cross_hair_is_shared, panels_do_not_overlap,
    )
}  # fmt: skip
