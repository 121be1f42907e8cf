"""``ctxgc config``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._output import Table, as_json, say, show

if TYPE_CHECKING:
    from ctxgc.config import Config


@click.group()
def command() -> None:
    """Show the configuration in force, and where each value came from.

    A flag wins over a CTXGC_* variable, that over ./ctxgc.toml, that over the user's config.toml, that over the
    default.

    \b
    Examples:
      ctxgc config show --origin
      ctxgc config init
      CTXGC_PORT=9000 ctxgc config show
    """


@command.command("show")
@click.option("--origin", is_flag=True, help="Say where each value came from.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.config/1), with origins.")
def show_(origin: bool, json_: bool) -> None:
    """Show every setting as it is in force here and now. Policies or milestones that cannot be are an error."""
    from ctxgc.assemble import watches
    from ctxgc.config import load
    from ctxgc.policies import from_config

    loaded = load()
    from_config(loaded.config.policy, loaded.config.policies)
    watches(loaded.config.milestones)
    values = _values(loaded.config)
    if json_:
        settings = {name: {"value": value, "origin": loaded.origins[name]} for name, value in values.items()}
        as_json({"schema": "ctxgc.config/1", "settings": settings})
        return
    rows = [(name, _toml(value), *([loaded.origins[name]] if origin else [])) for name, value in values.items()]
    show(Table("Settings", ("<setting", "<value", *(["<from"] if origin else [])), rows))


@command.command("path")
def path() -> None:
    """Show which files are read, and where the store is."""
    from ctxgc.config import PROJECT_FILE, default_store, load, user_file

    project = Path.cwd() / PROJECT_FILE
    rows = [(name, str(file), "read" if file.is_file() else "absent") for name, file in _files(project, user_file())]
    show(Table("Configuration", ("<layer", "<file", "<state"), [*rows]))
    say(f"store: {load().config.store or default_store()}")


def _files(project: Path, user: Path) -> tuple[tuple[str, Path], ...]:
    return ("project", project), ("user", user)


@command.command("init")
@click.argument("file", type=click.Path(path_type=Path), required=False)
def init(file: Path | None) -> None:
    """Write a commented ctxgc.toml with every setting at its default. Never overwrites a file."""
    from ctxgc.config import PROJECT_FILE
    from ctxgc.errors import ConfigError

    target = file or Path(PROJECT_FILE)
    try:
        with target.open("x", encoding="utf-8") as out:
            out.write(_template())
    except FileExistsError:
        raise ConfigError(f"{target} is there already and was left as it is: edit it, or name another file") from None
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror}") from None
    say(f"wrote {target}")


def _template() -> str:
    from ctxgc.config import Config

    lines = [
        "# Settings of ctxgc. Take the # off a line to change it; `ctxgc config show --origin` says what is in force."
    ]
    for name, field in Config.model_fields.items():
        lines += ["", f"# {field.description}.", f"# {name} = {_toml(_plain(field.default))}"]
    return "\n".join(lines) + "\n"


def _values(config: Config) -> dict[str, object]:
    """Every setting; where the store has not been named, the one that is used then."""
    from ctxgc.config import default_store

    values: dict[str, object] = {name: _plain(getattr(config, name)) for name in type(config).model_fields}
    return {**values, "store": values["store"] or default_store()}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _toml(value: object) -> str:
    """A value as TOML: basic strings and arrays are written as in JSON, tables inline."""
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
