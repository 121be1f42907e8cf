"""The configuration, shown and written."""

import json
import tomllib

import pytest

from ctxgc.config import Config, load


def test_show_says_every_setting(run):
    ran = run("config", "show")
    assert ran.code == 0
    assert all(name in ran.text for name in Config.model_fields)
    assert "default" not in ran.text


def test_origins_name_the_layer_a_value_came_from(run, tmp_path, monkeypatch):
    (tmp_path / "ctxgc.toml").write_text("port = 9000\n[tags]\n'search_*' = 'web'\n")
    monkeypatch.setenv("CTXGC_POLICY", "observe")
    settings = json.loads(run("config", "show", "--json").out)["settings"]
    assert settings["port"] == {"value": 9000, "origin": str(tmp_path / "ctxgc.toml")}
    assert settings["policy"] == {"value": "observe", "origin": "environment"}
    assert settings["host"]["origin"] == "default"
    assert settings["tags"]["value"] == {"search_*": "web"}
    assert settings["store"]["value"].startswith("sqlite:///")
    line = next(line for line in run("config", "show", "--origin").text.splitlines() if "port" in line)
    assert line.split() == ["port", "9000", str(tmp_path / "ctxgc.toml")]


def test_path_says_which_files_are_read(run, tmp_path):
    (tmp_path / "ctxgc.toml").write_text("port = 9000\n")
    said = run("config", "path").text
    assert "read" in said
    assert "absent" in said
    assert "store: sqlite:///" in said


def test_init_writes_a_file_that_changes_nothing(run, tmp_path):
    before = load(environ={}, folder=tmp_path).config
    assert run("config", "init").code == 0
    assert load(environ={}, folder=tmp_path).config == before


def test_every_line_of_it_may_be_uncommented(run, tmp_path):
    run("config", "init")
    text = (tmp_path / "ctxgc.toml").read_text()
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line and line.split()[2] == "="]
    parsed = tomllib.loads("\n".join(lines))
    assert set(parsed) == set(Config.model_fields)
    assert Config.model_validate(parsed) == Config()


@pytest.mark.parametrize("name", ["ctxgc.toml", "no/such/folder/ctxgc.toml"])
def test_init_never_overwrites_and_says_why_it_could_not_write(run, tmp_path, name):
    (tmp_path / "ctxgc.toml").write_text("port = 1\n")
    ran = run("config", "init", name)
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert (tmp_path / "ctxgc.toml").read_text() == "port = 1\n"


def test_a_bad_value_is_exit_code_3(run, monkeypatch):
    monkeypatch.setenv("CTXGC_PORT", "many")
    ran = run("config", "show")
    assert ran.code == 3
    assert "port" in ran.err
