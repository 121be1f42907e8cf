"""Makes the dashboards: each as the text of a JSON file, in the classic format that Grafana 10 to 13 import.

Rule: the same source makes the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from . import collector, cost, overview, proxy

FOLDER = Path(__file__).parents[1]
"""Where the files go."""


def files() -> Iterator[tuple[str, str]]:
    """The name and the text of each dashboard's file."""
    for module in (overview, collector, proxy, cost):
        board = module.board()
        yield f"{board.build().uid}.json", text(board)


def text(board: Dashboard) -> str:
    """A dashboard as JSON."""
    document = json.loads(JSONEncoder(sort_keys=True, indent=2).encode(board.build()))
    for number, panel in enumerate(document["panels"], 1):
        panel["id"] = number
    for variable in document["templating"]["list"]:
        for key in [key for key in variable if key.startswith("auto")]:  # those of interval variables
            del variable[key]
    for link in document["links"]:
        del link["placement"]  # away from the bar, into a menu
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write() -> None:
    """Write all files."""
    for name, made in files():
        (FOLDER / name).write_text(made, encoding="utf-8")
