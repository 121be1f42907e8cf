"""What all dashboards share: variables, links to one another, a common cross-hair.

Rule: nothing names a data source, a job or an instance of anybody's: all are chosen by variables.
"""

from __future__ import annotations

from collections.abc import Iterable

from grafana_foundation_sdk.builders import dashboard as dash
from grafana_foundation_sdk.models import dashboard

from .panels import SOURCE
from .queries import INSTANCE

TAG = "ctxgc"
_MODELS = "Chooses among the models in panels that tell models apart; the others show all."


def new(name: str, title: str, text: str, panels: Iterable[object], *, model: bool = False) -> dash.Dashboard:
    """A dashboard of panels and rows; ``model`` adds the variable by which figures of some models are chosen."""
    board = dash.Dashboard(f"ctxgc / {title}").uid(f"ctxgc-{name}").description(text).tags([TAG]).readonly()
    board.timezone("browser").time("now-6h", "now").refresh("1m").tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
    board.link(_siblings())
    for variable in _variables(model):
        board.with_variable(variable)
    for panel in panels:
        if isinstance(panel, dash.Row):
            board.with_row(panel)
        else:
            board.with_panel(panel)  # type: ignore[arg-type]
    return board


def _siblings() -> dash.DashboardLink:
    link = dash.DashboardLink("ctxgc dashboards").type(dashboard.DashboardLinkType.DASHBOARDS).tags([TAG])
    return link.as_dropdown(True).include_vars(True).keep_time(True)


def _variables(model: bool) -> Iterable[dash.DatasourceVariable | dash.QueryVariable]:
    yield dash.DatasourceVariable("datasource").label("Data source").type("prometheus")
    yield _label("job", "ctxgc_build_info")
    yield _label("instance", 'ctxgc_build_info{job=~"$job"}')
    if model:
        yield _label("model", f"ctxgc_requests_total{{{INSTANCE}}}").description(_MODELS)


def _label(name: str, series: str) -> dash.QueryVariable:
    query = f"label_values({series}, {name})"
    asked: dict[str, object] = {"qryType": 1, "query": query, "refId": f"PrometheusVariableQueryEditor-{name}"}
    variable = dash.QueryVariable(name).label(name).datasource(SOURCE).query(asked)
    variable.refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(dashboard.VariableSort.ALPHABETICAL_ASC)
    every = dashboard.VariableOption(text=["All"], value=["$__all"], selected=True)
    return variable.multi(True).include_all(True).all_value(".+").current(every)
