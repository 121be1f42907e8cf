"""Panels: stats, graphs, a heat map and a table, all with the same manners.

Rule: each says what it shows, over which time and from which metric; without traffic it says so; it has thresholds only
where there is a limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import common as build
from grafana_foundation_sdk.builders import dashboard as dash
from grafana_foundation_sdk.builders import heatmap as heat
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.models import common, dashboard, heatmap
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from .queries import Query

SOURCE = common.DataSourceRef(type_val="prometheus", uid="${datasource}")
NO_TRAFFIC = "No traffic"
GOOD, BAD = "green", "red"
_METRIC = re.compile(r"\b((?:ctxgc|scrape)_\w+|up)\{")
_PART = re.compile(r"_bucket$")
_TALL, _LOW, _HALF = 8, 4, 12


@dataclass(frozen=True, slots=True)
class Says:
    """What a panel says of itself: its title, what it shows, over which time, and in which unit."""

    title: str
    text: str
    unit: str
    window: str = "Each point: the time around it that Grafana chooses."


RANGE = "Over the time range shown."
NEWEST = "Newest value."


P = TypeVar("P", stat.Panel, timeseries.Panel, heat.Panel, table.Panel)


def number(says: Says, expr: str, *, limit: float | None = None, below: bool = False, decimals: int = 2) -> stat.Panel:
    """One figure. Beyond ``limit`` it is red: above it, or ``below`` it."""
    panel = _common(stat.Panel(), says, [Query(expr, says.title, instant=True)])
    kept = build.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    panel.reduce_options(kept).graph_mode(common.BigValueGraphMode.NONE).decimals(decimals).height(_LOW).span(_LOW)
    panel.color_mode(common.BigValueColorMode.NONE if limit is None else common.BigValueColorMode.VALUE)
    return panel.thresholds(_limits(limit, below))


def graph(
    says: Says, queries: Sequence[Query], *, stacked: bool = False, mirrored: str = "", span: int = _HALF
) -> timeseries.Panel:
    """Lines over time, or areas one upon the other. Series whose name matches ``mirrored`` are drawn downwards."""
    panel = _common(timeseries.Panel(), says, queries).height(_TALL).span(span)
    mode = common.StackingMode.NORMAL if stacked else common.StackingMode.NONE
    panel.stacking(build.StackingConfig().mode(mode).group("A")).fill_opacity(30 if stacked else 0).line_width(1)
    panel.show_points(common.VisibilityMode.AUTO).span_nulls(False).thresholds(_limits(None, False))
    panel.legend(_legend()).tooltip(
        build.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING)
    )
    if mirrored:
        down = [
            dashboard.DynamicConfigValue(id_val="custom.transform", value="negative-Y"),
            dashboard.DynamicConfigValue(id_val="custom.stacking", value={"group": "B", "mode": "normal"}),
        ]
        panel.override_by_regexp(mirrored, down)
    return panel


def heats(says: Says, expr: str) -> heat.Panel:
    """A heat map of a classic histogram: ``expr`` gives the growth of its buckets."""
    panel = _common(heat.Panel(), says, [Query(expr, "{{le}}")], PromQueryFormat.HEATMAP).height(_TALL).span(_HALF)
    panel.calculate(False).y_axis(heat.YAxisConfig().unit(says.unit).axis_placement(common.AxisPlacement.LEFT))
    colours = heat.HeatmapColorOptions().mode(heatmap.HeatmapColorMode.SCHEME).scheme("Viridis").steps(64)
    return panel.color(colours.exponent(0.5).fill("dark-orange")).cell_gap(1).unit("short")


def rows(says: Says, columns: Sequence[tuple[str, str]], keys: Sequence[str]) -> table.Panel:
    """A table: a row for each set of the labels ``keys``, a column (title, query) for each figure, largest first."""
    queries = [Query(expr, title, instant=True) for title, expr in columns]
    panel = _common(table.Panel(), says, queries, PromQueryFormat.TABLE).height(_TALL + 2).span(24)
    values = [f"Value #{chr(65 + at)}" for at in range(len(columns))] if len(columns) > 1 else ["Value"]
    names = dict(zip(values, [title for title, _ in columns], strict=True))
    order = {name: at for at, name in enumerate([*keys, *names])}
    arranged = {"excludeByName": {"Time": True}, "indexByName": order, "renameByName": names}
    panel.with_transformation(dashboard.DataTransformerConfig(id_val="merge", options={}))
    panel.with_transformation(dashboard.DataTransformerConfig(id_val="organize", options=arranged))
    first = build.TableSortByFieldState().display_name(columns[0][0]).desc(True)
    return panel.sort_by([first]).thresholds(_limits(None, False))


def row(title: str) -> dash.Row:
    """A heading."""
    return dash.Row(title)


def _common(panel: P, says: Says, queries: Sequence[Query], form: PromQueryFormat = PromQueryFormat.TIME_SERIES) -> P:
    metrics = ", ".join(f"`{name}`" for name in metrics_of([query.expr for query in queries]))
    panel.title(says.title).description(f"{says.text} {says.window}\n\nMetric: {metrics}").datasource(SOURCE)
    panel.unit(says.unit).no_value(NO_TRAFFIC).mappings([_not_a_number()])
    for at, query in enumerate(queries):
        panel.with_target(_target(query, chr(65 + at), form))
    return panel


def metrics_of(exprs: Sequence[str]) -> list[str]:
    """The metrics that expressions name, each once."""
    found = (_PART.sub("", name) for expr in exprs for name in _METRIC.findall(expr))
    return list(dict.fromkeys(found))


def _target(query: Query, name: str, form: PromQueryFormat) -> prometheus.Dataquery:
    target = prometheus.Dataquery().expr(query.expr).ref_id(name).format(form).datasource(SOURCE)
    target.legend_format(query.legend).exemplar(query.exemplar)
    return target.instant() if query.instant else target.range()


def _not_a_number() -> dashboard.SpecialValueMap:
    """Nothing divided by nothing: a share of traffic where there is none."""
    result = dashboard.ValueMappingResult(text=NO_TRAFFIC, index=0)
    options = dashboard.DashboardSpecialValueMapOptions(match=dashboard.SpecialValueMatch.NULL_AND_NAN, result=result)
    return dashboard.SpecialValueMap(options)


def _limits(limit: float | None, below: bool) -> dash.ThresholdsConfig:
    config = dash.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE)
    if limit is None:
        return config.steps([dashboard.Threshold(value=None, color=GOOD)])
    under, over = (BAD, GOOD) if below else (GOOD, BAD)
    return config.steps([dashboard.Threshold(value=None, color=under), dashboard.Threshold(value=limit, color=over)])


def _legend() -> build.VizLegendOptions:
    shown = build.VizLegendOptions().show_legend(True).placement(common.LegendPlacement.BOTTOM)
    return shown.display_mode(common.LegendDisplayMode.LIST).calcs([])
