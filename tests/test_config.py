"""Settings: where they come from, which counts, and what is said about wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxgc.config import Config, default_store, load, user_file
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.errors import ConfigError


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """An environment with a configuration folder of its own."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "user")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)


def refusal(**sources: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**sources)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_any_source_everything_is_a_default(project, user):
    loaded = load({}, user, project)
    assert loaded.config == Config()
    assert set(loaded.origins.values()) == {"default"}


@pytest.mark.parametrize("strongest", ["command line", "environment", "project", "user", "default"])
def test_flags_go_before_the_environment_the_projects_file_and_the_users(project, user, strongest):
    order = ["default", "user", "project", "environment", "command line"]
    given = order[: order.index(strongest) + 1]
    if "user" in given:
        write(user_file(user), "port = 1\nhost = 'user'")
    if "project" in given:
        write(project / "ctxgc.toml", "port = 2\naudit = 'strict'")
    environ = {**user, **({"CTXGC_PORT": "3"} if "environment" in given else {})}
    loaded = load({"port": 4, "policy": None} if "command line" in given else {}, environ, project)
    ports = {"command line": 4, "environment": 3, "project": 2, "user": 1, "default": 8787}
    assert loaded.config.port == ports[strongest]
    files = {"project": str(project / "ctxgc.toml"), "user": str(user_file(user))}
    assert loaded.origins["port"] == files.get(strongest, strongest)
    assert loaded.config.host == ("user" if "user" in given else "127.0.0.1"), "settings are merged one by one"
    assert loaded.config.audit == ("strict" if "project" in given else "available")
    assert loaded.origins["policy"] == "default"


@pytest.mark.parametrize(
    ("key", "hint"),
    [("upstraem", "did you mean upstream?"), ("Port", "did you mean port?"), ("zzz", "known are upstream,")],
)
def test_an_unknown_key_is_named_with_its_place_and_what_was_meant(project, user, key, hint):
    path = project / "ctxgc.toml"
    write(path, f"{key} = 1")
    said = refusal(environ=user, folder=project)
    assert said.startswith(f"unknown setting {key} in {path}")
    assert hint in said


def test_an_unknown_variable_is_named_too(project, user):
    said = refusal(environ={**user, "CTXGC_POLCY": "eden"}, folder=project)
    assert said == "unknown setting polcy in environment; did you mean policy?"


def test_other_variables_are_left_alone(project, user):
    assert load({}, {**user, "OPENAI_API_KEY": "sk", "MY_CTXGC_PORT": "x"}, project).config == Config()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 'many'", ["port (from ", "ctxgc.toml)", "'many'"]),
        ("port = 70000", ["port (from ", "70000"]),
        ("port = -1", ["port (from "]),
        ("audit = 'sloppy'", ["audit (from ", "'available' or 'strict'", "'sloppy'"]),
        ("body_limit = 0", ["body_limit (from "]),
        ("allowed_hosts = 'one'", ["allowed_hosts (from "]),
        ("tags = ['a']", ["tags (from "]),
        ("policies = 'truncate'", ["policies (from "]),
        ("upstream = 3", ["upstream (from ", "3"]),
    ],
)
def test_a_bad_value_names_the_setting_its_place_and_itself(project, user, text, words):
    write(project / "ctxgc.toml", text)
    said = refusal(environ=user, folder=project)
    for word in words:
        assert word in said


def test_bad_values_of_other_places_are_named_by_them(project, user):
    assert refusal(environ={**user, "CTXGC_PORT": "many"}, folder=project).startswith("port (from environment): ")
    assert refusal(flags={"audit": "no"}, environ=user, folder=project).startswith("audit (from command line): ")


@pytest.mark.parametrize("content", [b"port = ", b"port = 1\nport = 2", b"\xff\xfe", b"[policies"])
def test_a_file_that_cannot_be_read_is_named(project, user, content):
    (project / "ctxgc.toml").write_bytes(content)
    assert refusal(environ=user, folder=project).startswith(str(project / "ctxgc.toml"))


def test_tables_and_lists_come_from_files(project, user):
    write(
        project / "ctxgc.toml",
        "allowed_hosts = ['a', 'b']\n[tags]\n'search_*' = 'web'\n[[policies]]\nname = 'truncate'\nbudget = 100\n",
    )
    config = load({}, user, project).config
    assert config.allowed_hosts == ("a", "b")
    assert config.tags == {"search_*": "web"}
    assert config.policies == ({"name": "truncate", "budget": 100},)


def test_tables_and_lists_come_from_the_environment_as_toml(project, user):
    environ = {
        **user,
        "CTXGC_ALLOWED_HOSTS": '["a"]',
        "CTXGC_TAGS": '{ "search_*" = "web" }',
        "CTXGC_POLICIES": '[{ name = "dedup" }]',
        "CTXGC_BODY_LIMIT": "1000",
    }
    config = load({}, environ, project).config
    assert (config.allowed_hosts, config.tags, config.policies) == (("a",), {"search_*": "web"}, ({"name": "dedup"},))
    assert config.body_limit == 1000


def test_a_variable_that_is_not_toml_is_named(project, user):
    assert refusal(environ={**user, "CTXGC_TAGS": "web"}, folder=project).startswith("CTXGC_TAGS: not a TOML value")


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        Config().port = 1  # type: ignore[misc]


def test_the_default_store_is_in_the_users_data_folder(tmp_path):
    assert default_store({"XDG_DATA_HOME": str(tmp_path)}) == f"sqlite:///{tmp_path}/ctxgc/ctxgc.db"
    assert default_store({}).endswith("/.local/share/ctxgc/ctxgc.db")


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Config.model_fields.values())


# The pacer of the settings


def test_without_any_setting_the_pacer_is_the_default_one():
    assert Config().pacer() == Pacer()


@pytest.mark.parametrize(
    ("setting", "field"),
    [("regret", "regret"), ("patience", "patience"), ("window_high", "high"), ("window_low", "low")],
)
def test_each_setting_of_the_pacer_reaches_it_and_changes_nothing_else(setting, field):
    changed = Config(**{setting: 0.25}).pacer()
    expected = Pacer(**{field: 0.25, **({"low": 0.25} if field == "high" else {})})
    assert changed == expected != Pacer()


def test_a_quality_budget_reaches_the_pacer_as_tokens():
    pacer = Config(quality_budget=50_000).pacer()
    assert pacer == Pacer(quality=50_000)
    assert pacer.surplus(Tariff(), 60_000) > 0
    assert Config().pacer().surplus(Tariff(), 60_000) == 0


@pytest.mark.parametrize(("high", "low", "used"), [(0.4, 0.5, 0.4), (0.5, 0.5, 0.5), (0.9, 0.2, 0.2)])
def test_room_is_never_made_to_more_than_where_it_begins(high, low, used):
    pacer = Config(window_high=high, window_low=low).pacer()
    assert (pacer.high, pacer.low) == (high, used)
    surplus = pacer.surplus(Tariff(window=1000), 1000)
    assert surplus == 1000 - int(used * 1000)
    assert Pacer(high=high, low=low).surplus(Tariff(window=1000), 1000) == 1000 - int(low * 1000)


def test_the_pacers_settings_come_from_every_source(project, user):
    write(project / "ctxgc.toml", "patience = 1.0\nregret = 0.5")
    pacer = load({"window_low": 0.1}, {**user, "CTXGC_REGRET": "0.2"}, project).config.pacer()
    assert (pacer.patience, pacer.regret, pacer.low) == (1.0, 0.2, 0.1)


@pytest.mark.parametrize(
    "text",
    [
        "regret = -0.1", "patience = -1", "window_high = 0", "window_high = 1.1", "window_low = 0", "window_low = 2",
        "quality_budget = -1", "quality_budget = 0.5", "patience = 'much'", "regret = nan", "window_high = nan",
    ],
)  # fmt: skip
def test_a_pacer_that_makes_no_sense_is_refused(project, user, text):
    write(project / "ctxgc.toml", text)
    assert refusal(environ=user, folder=project).startswith(f"{text.split()[0]} (from ")


# The page and what is watched


def test_the_page_and_the_metrics_have_their_settings(project, user):
    config = load({}, user, project).config
    assert (config.page, config.page_port) == (True, 0)
    assert (config.metrics_exclude, config.metrics_sources, config.otel) == ((), True, "off")


def test_they_are_set_like_any_other(project, user):
    write(project / "ctxgc.toml", 'page = false\npage_port = 8788\nmetrics_exclude = ["ctxgc_store_bytes"]\n')
    environ = {**user, "CTXGC_METRICS_SOURCES": "false", "CTXGC_OTEL": "auto"}
    config = load({}, environ, project).config
    assert (config.page, config.page_port, config.metrics_exclude) == (False, 8788, ("ctxgc_store_bytes",))
    assert (config.metrics_sources, config.otel) == (False, "auto")
    listed = load({}, {**user, "CTXGC_METRICS_EXCLUDE": '["a", "b"]'}, project).config
    assert listed.metrics_exclude == ("a", "b")


@pytest.mark.parametrize(
    ("name", "value"), [("page_port", 65536), ("page_port", -1), ("otel", "sometimes"), ("page", "perhaps")]
)
def test_what_they_cannot_be_is_said(project, user, name, value):
    assert name in refusal(flags={name: value}, environ=user, folder=project)
