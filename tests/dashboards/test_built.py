"""The dashboards are what the script makes, and what Grafana's own types and Prometheus' grammar allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import build
from tests.dashboards.tools import FOLDER, ROOT, node_modules, program, run, said

FILES = dict(build.files())


def differing(folder: Path) -> list[str]:
    """The dashboards in a folder that are not what the script makes."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in found.keys() | FILES.keys() if found.get(name) != FILES.get(name))


def test_the_files_are_what_the_script_makes() -> None:
    assert differing(FOLDER) == []


def test_files_edited_by_hand_missing_or_left_over_are_noticed(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("Cache penalty", "Penalty", 1))
    (tmp_path / "ctxgc-proxy.json").unlink()
    (tmp_path / "ctxgc-old.json").write_text("{}")
    assert differing(tmp_path) == ["ctxgc-cost.json", "ctxgc-old.json", "ctxgc-proxy.json"]


def test_the_same_source_makes_the_same_bytes() -> None:
    assert dict(build.files()) == FILES


def test_the_script_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    build.write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == FILES


@pytest.mark.parametrize("name", FILES)
def test_grafanas_library_reads_back_what_it_wrote(name: str) -> None:
    assert Dashboard.from_json(json.loads(FILES[name])).title.startswith("ctxgc / ")


CHECK = """\
import type {{ Dashboard }} from "@grafana/schema";
type Plain<T> = T extends string ? `${{T}}` : T extends object ? {{ [K in keyof T]: Plain<T[K]> }} : T;
export const board: Plain<Dashboard> = {text};
"""
OPTIONS = ("--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext")
RESOLVE = ("--moduleResolution", "bundler")


def typed(folder: Path, **boards: str) -> str:
    """What the type checker says of dashboards."""
    (folder / "node_modules").symlink_to(node_modules("@grafana/schema", "typescript"))
    for name, text in boards.items():
        (folder / f"{name}.ts").write_text(CHECK.format(text=text))
    files = [f"{name}.ts" for name in boards]
    compiler = folder / "node_modules/typescript/bin/tsc"
    return said(run(program("node"), compiler, *OPTIONS, *RESOLVE, *files, folder=folder))


def test_they_are_dashboards_by_grafanas_types(tmp_path: Path) -> None:
    assert typed(tmp_path, **{name.split(".")[0].replace("-", "_"): text for name, text in FILES.items()}) == ""


def test_a_wrong_type_and_an_unknown_key_are_found(tmp_path: Path) -> None:
    wrong: dict[str, Any] = json.loads(FILES["ctxgc-cost.json"])
    wrong["graphTooltip"] = "shared"
    extra: dict[str, Any] = json.loads(FILES["ctxgc-cost.json"])
    extra["templating"]["list"][0]["auto"] = False
    told = typed(tmp_path, wrong=json.dumps(wrong), extra=json.dumps(extra))
    assert {line.partition("(")[0] for line in told.splitlines() if "error" in line} == {"wrong.ts", "extra.ts"}


def test_nothing_in_them_is_of_one_machine() -> None:
    for text in FILES.values():
        assert str(ROOT) not in text
        assert "http" not in text
