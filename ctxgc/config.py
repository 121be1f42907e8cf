"""Configuration: one flat set of settings, read from flags, environment, project file, user file and defaults.

Rule: an unknown key or a bad value is an error that names it, where it stood, and what was meant; never a guess.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctxgc.core.pacer import Pacer
from ctxgc.errors import ConfigError

_PACER = Pacer()

PREFIX = "CTXGC_"
PROJECT_FILE = "ctxgc.toml"

_TOML = ("policies", "tags", "allowed_hosts", "milestones", "metrics_exclude")


class Config(BaseModel):
    """Every setting: in ``ctxgc.toml`` a top-level key, in the environment ``CTXGC_`` and its name in capitals."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    upstream: Annotated[str, Field(description="Base URL of the model API, such as https://api.openai.com/v1")] = ""
    host: Annotated[str, Field(description="Address to listen on; 127.0.0.1 is reachable from this machine only")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes a free one")] = 8787
    store: Annotated[
        str, Field(description="Where the history goes: sqlite:///PATH; by default the user's data folder")
    ] = ""
    policy: Annotated[
        str,
        Field(
            description="A preset (observe, lossless, eden, generational, aggressive) or policies by name, with commas"
        ),
    ] = "generational"
    policies: Annotated[
        tuple[dict[str, object], ...],
        Field(description="Policies with parameters, in order: [[policies]] tables; they take the place of policy"),
    ] = ()
    regret: Annotated[
        float,
        Field(
            ge=0,
            description="How much more a session may cost than untouched, as a share; twice that where it soon pays",
        ),
    ] = _PACER.regret
    patience: Annotated[
        float,
        Field(ge=0, description="Share of a collection's price that its garbage must have cost before it is made"),
    ] = _PACER.patience
    window_high: Annotated[
        float, Field(gt=0, le=1, description="Share of the model's window at which room is made whatever it costs")
    ] = _PACER.high
    window_low: Annotated[float, Field(gt=0, le=1, description="Share of the window to which room is then made")] = (
        _PACER.low
    )
    quality_budget: Annotated[
        int,
        Field(ge=0, description="Tokens that a request should not exceed whatever that costs; 0 for no such budget"),
    ] = 0
    audit: Annotated[
        Literal["available", "strict"],
        Field(
            description="strict: no request leaves before its intent is on disk; available: it does, and a gap is noted"
        ),
    ] = "available"
    recall: Annotated[
        bool,
        Field(description="Offer the model a tool to read back what was collected, if anything can be"),
    ] = True
    summariser: Annotated[
        str,
        Field(min_length=1),
        Field(
            description="Which model has a part in records of what is compacted: session (its own), off, or one by name"
        ),
    ] = "session"
    ledger: Annotated[
        str, Field(description="A ledger that all sessions share, by name; by default each has one of its own")
    ] = ""
    milestones: Annotated[
        tuple[dict[str, object], ...],
        Field(
            description="What ends a period by itself: [[milestones]] tables of name, site and what a result must show"
        ),
    ] = ()
    tags: Annotated[
        dict[str, str], Field(description='Tool-name patterns to sources: "search_*" = "web" tags retrieval:web')
    ] = {}
    allowed_hosts: Annotated[
        tuple[str, ...], Field(description="Host headers to accept besides localhost and the address listened on")
    ] = ()
    page: Annotated[bool, Field(description="Serve the profiler page at /ctxgc/")] = True
    page_port: Annotated[int, Field(ge=0, le=65535, description="Port for the profiler page; 0: the proxy's own")] = 0
    metrics_exclude: Annotated[tuple[str, ...], Field(description="Metrics not to expose, by name")] = ()
    metrics_sources: Annotated[bool, Field(description="Whether metrics tell sources (tools) apart")] = True
    otel: Annotated[
        Literal["auto", "always", "never", "off"],
        Field(
            description="OpenTelemetry: off, or spans; with usage always, never, or (auto) if the caller does not trace"
        ),
    ] = "off"
    body_limit: Annotated[int, Field(gt=0, description="Largest request body, in bytes, after decompression")] = (
        64 * 1024 * 1024
    )

    def pacer(self) -> Pacer:
        """The pacer of these settings."""
        return Pacer(
            patience=self.patience,
            regret=self.regret,
            high=self.window_high,
            low=min(self.window_low, self.window_high),
            quality=self.quality_budget,
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, and for each setting where its value came from."""

    config: Config
    origins: Mapping[str, str]


def load(
    flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> Loaded:
    """Read the configuration. ``flags`` with the value None are not given. Raises ``ConfigError``."""
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for origin, layer in _layers(flags or {}, environ, folder or Path.cwd()):
        _known(layer, origin)
        if "policy" in layer and "policies" not in layer:  # the stronger layer's policy, not the weaker one's tables
            values.pop("policies", None)
            origins.pop("policies", None)
        values.update(layer)
        origins.update(dict.fromkeys(layer, origin))
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        raise ConfigError(
            f"{name} (from {origins.get(name, 'defaults')}): {first['msg']}, got {first['input']!r}"
        ) from None
    return Loaded(config, {name: origins.get(name, "default") for name in Config.model_fields})


def default_store(environ: Mapping[str, str] | None = None) -> str:
    """The store in the user's data folder, as a URL (XDG base directory specification)."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base).absolute() / 'ctxgc' / 'ctxgc.db'}"


def user_file(environ: Mapping[str, str] | None = None) -> Path:
    """The user's own configuration file, whether it is there or not (XDG base directory specification)."""
    environ = os.environ if environ is None else environ
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ctxgc" / "config.toml"


def _layers(
    flags: Mapping[str, object], environ: Mapping[str, str], folder: Path
) -> list[tuple[str, dict[str, object]]]:
    """The sources from the weakest to the strongest."""
    user = user_file(environ)
    given = {name: value for name, value in flags.items() if value is not None}
    return [
        *((str(path), _toml(path)) for path in (user, folder / PROJECT_FILE) if path.is_file()),
        ("environment", _environment(environ)),
        ("command line", given),
    ]


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _environment(environ: Mapping[str, str]) -> dict[str, object]:
    """``CTXGC_PORT=8080`` and the like; tables and lists are given as TOML values."""
    found: dict[str, object] = {}
    for name, value in environ.items():
        if name.startswith(PREFIX):
            key = name.removeprefix(PREFIX).lower()
            found[key] = _value(name, value) if key in _TOML else value
    return found


def _value(name: str, text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not a TOML value: {error}") from None


def _known(layer: Mapping[str, object], origin: str) -> None:
    for key in layer:
        if key not in Config.model_fields:
            close = difflib.get_close_matches(key, Config.model_fields, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(Config.model_fields)}"
            raise ConfigError(f"unknown setting {key} in {origin}{hint}")
