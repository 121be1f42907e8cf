"""``ctxgc dashboards export``: the files as they are, without doing away with anybody's own."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctxgc.cli import dashboards
from ctxgc.errors import InputError
from tests.dashboards.tools import FOLDER, ROOT, names


def export(*argv: object) -> Result:
    return CliRunner().invoke(dashboards.command, ["export", *map(str, argv)])


def test_all_files_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    ran = export(folder)
    assert ran.exit_code == 0
    assert names(list(folder.iterdir())) == sorted(dashboards.FILES)
    assert all((folder / name).read_bytes() == (FOLDER / name).read_bytes() for name in dashboards.FILES)
    assert [line.split()[0] for line in ran.output.splitlines()] == ["written"] * len(dashboards.FILES)


def test_all_that_is_committed_is_exported() -> None:
    committed = [*FOLDER.glob("*.json"), FOLDER / "rules.yml"]
    assert names(committed) == sorted(dashboards.FILES)


def test_by_default_they_go_into_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert export().exit_code == 0
    assert names(list(tmp_path.iterdir())) == ["ctxgc-dashboards"]


def test_files_that_are_the_same_are_left(tmp_path: Path) -> None:
    export(tmp_path)
    assert {line.split()[0] for line in export(tmp_path).output.splitlines()} == {"unchanged"}


def test_a_file_that_differs_is_not_overwritten_and_nothing_else_is_written(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text("mine")
    ran = export(tmp_path)
    assert isinstance(ran.exception, InputError)
    assert "rules.yml" in str(ran.exception)
    assert names(list(tmp_path.iterdir())) == ["rules.yml"]
    assert (tmp_path / "rules.yml").read_text() == "mine"


def test_it_is_with_force(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text("mine")
    ran = export(tmp_path, "--force", "--json")
    document = json.loads(ran.stdout)
    assert document["schema"] == "ctxgc.dashboards/1"
    assert {Path(file["file"]).name: file["was"] for file in document["files"]} == {
        name: "other" if name == "rules.yml" else "absent" for name in dashboards.FILES
    }
    assert (tmp_path / "rules.yml").read_bytes() == (FOLDER / "rules.yml").read_bytes()


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(export(tmp_path / "file").exception, InputError)


def test_an_installation_without_them_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboards, "__file__", str(tmp_path / "ctxgc/cli/dashboards.py"))
    with pytest.raises(InputError, match="has no dashboards"):
        dashboards.shipped()


def test_a_wheel_has_them_where_an_installation_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed")
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    monkeypatch.setattr(dashboards, "__file__", str(tmp_path / "site/ctxgc/cli/dashboards.py"))
    assert dict(dashboards.shipped()) == {name: (FOLDER / name).read_bytes() for name in dashboards.FILES}
    assert not (tmp_path / "site/dashboards").exists()
