"""``ctxgc dashboards``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from ctxgc.cli._output import as_json, say
from ctxgc.errors import InputError

FILES = (
    "ctxgc-overview.json",
    "ctxgc-collector.json",
    "ctxgc-proxy.json",
    "ctxgc-cost.json",
    "rules.yml",
)
"""What is exported: four dashboards for Grafana, and recording and alert rules for Prometheus."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file to export: its bytes, and how it stands where it goes: absent, same or other."""

    path: Path
    data: bytes
    found: str


@click.group()
def command() -> None:
    """Export the Grafana dashboards and Prometheus rules.

    \b
    Examples:
      ctxgc dashboards export ./grafana
      ctxgc dashboards export --json
    """


@command.command("export")
@click.argument("folder", default="ctxgc-dashboards", type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--force", is_flag=True, help="Overwrite files that differ.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.dashboards/1).")
def export(folder: Path, force: bool, json_: bool) -> None:
    """Write the dashboards and rules into DIR (default: ./ctxgc-dashboards).

    Import each JSON file in Grafana (Dashboards, New, Import), and name rules.yml under rule_files in prometheus.yml.
    A file that is there and differs is left alone, and then nothing is written, unless --force is given.
    """
    files = [_look(folder / name, data) for name, data in shipped()]
    others = [file.path for file in files if file.found == "other"]
    if others and not force:
        raise InputError(f"{', '.join(map(str, others))}: there and different; --force overwrites")
    _write(folder, files)
    if json_:
        as_json({"schema": "ctxgc.dashboards/1", "folder": str(folder), "files": [_document(file) for file in files]})
        return
    for file in files:
        say(f"{_said(file):<10} {file.path}")


def shipped() -> list[tuple[str, bytes]]:
    """Name and bytes of each file that comes with ctxgc.

    They are a part of the installed package; in a source tree they stand beside it. Raises ``InputError`` where neither
    is so.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "_dashboards", package.parent / "dashboards"):
        if all((folder / name).is_file() for name in FILES):
            return [(name, (folder / name).read_bytes()) for name in FILES]
    raise InputError("this installation has no dashboards: install ctxgc from a wheel or run it from its source tree")


def _look(path: Path, data: bytes) -> _File:
    try:
        found = "same" if path.read_bytes() == data else "other"
    except FileNotFoundError:
        found = "absent"
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return _File(path, data, found)


def _write(folder: Path, files: list[_File]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if file.found != "same":
                file.path.write_bytes(file.data)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None


def _said(file: _File) -> str:
    return {"absent": "written", "same": "unchanged", "other": "replaced"}[file.found]


def _document(file: _File) -> dict[str, object]:
    return {"file": str(file.path), "size": len(file.data), "was": file.found, "done": _said(file)}
