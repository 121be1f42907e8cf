"""Policies: one file each; a policy's name is its module's name, and configuration finds it by that name.

Rule: nothing is registered or imported before it is asked for, so a new policy is a new file and nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches

import msgspec

from ctxgc.core.policy import Policy

DEFAULT = "generational"
"""The preset in use where nothing else is said."""

_Table = Mapping[str, object]

_PRESETS: Mapping[str, tuple[_Table, ...]] = {
    "observe": (),
    "lossless": ({"name": "dedup"}, {"name": "minify"}),
    "eden": ({"name": "dedup"}, {"name": "minify"}, {"name": "truncate"}),
    "generational": (
        {"name": "dedup"},
        {"name": "minify"},
        {"name": "truncate", "budget": 20_000},
        {"name": "superseded"},
        {"name": "failed_calls"},
        {"name": "items", "idle": 20},
        {"name": "reasoning", "idle": 2},
        {"name": "generational"},
        {"name": "budget"},
        {"name": "compact"},
    ),
    "aggressive": (
        {"name": "dedup"},
        {"name": "minify"},
        {"name": "truncate", "budget": 5_000},
        {"name": "superseded"},
        {"name": "failed_calls", "idle": 1},
        {"name": "items", "idle": 3, "min_tokens": 200, "keep": 0.05},
        {"name": "reasoning", "idle": 1},
        {
            "name": "generational",
            "idle": 2,
            "idle_referenced": 3,
            "old_idle": 10,
            "keep": 0.2,
            "density": 0.1,
        },
        {"name": "budget"},
        {"name": "compact"},
    ),
}


class PolicyError(ValueError):
    """A configuration names a policy, a preset or a parameter that does not exist or does not fit; one line."""


def names() -> tuple[str, ...]:
    """The names of the policies in this package, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_"))


def presets() -> Mapping[str, tuple[str, ...]]:
    """The names of the policies that each preset consists of, in order.

    ``observe`` does nothing, ``lossless`` what loses nothing, ``eden`` edits only what was never sent before,
    ``generational`` collects what was sent, too, and ``aggressive`` does so sooner and leaves less.
    """
    return {name: tuple(str(table["name"]) for table in tables) for name, tables in _PRESETS.items()}


def preset(name: str) -> tuple[Policy, ...]:
    """The policies of a preset, with its parameters. Raises ``PolicyError`` for an unknown one."""
    if name not in _PRESETS:
        raise PolicyError(_unknown("preset", name, _PRESETS))
    return build(_PRESETS[name])


def from_config(policy: str, tables: Sequence[Mapping[str, object]] = ()) -> tuple[Policy, ...]:
    """The policies that the settings ask for: the tables if there are any, else a preset or names with commas.

    Parameters follow a name as ``@parameter=value`` (``recency@turns=20``), those of a preset's policies as
    ``@policy.parameter=value`` (``generational@items.idle=4``); values as in TOML. Raises ``PolicyError``.
    """
    if tables:
        return build(tables)
    wanted = [_asked(name.strip()) for name in policy.split(",")]
    name, parameters = wanted[0]
    if len(wanted) == 1 and _means_preset(name):
        return build(_overridden(name, parameters)) if parameters else preset(name)
    return build([_alone(name, parameters) for name, parameters in wanted])


def _alone(name: str, parameters: Mapping[str, object]) -> _Table:
    """The table of one policy among several. Raises ``PolicyError`` for what only a preset can be asked."""
    if name in _PRESETS and (name not in names() or any("." in key for key in parameters)):
        own = ",".join(str(table["name"]) for table in _PRESETS[name]) or "nothing"
        raise PolicyError(f"{name!r} is a preset and stands alone: name its policies instead ({own})")
    return {"name": name, **parameters}


def _means_preset(name: str) -> bool:
    """Whether a name that stands alone is a preset's; one that nothing has is taken for what it is close to."""
    if name in _PRESETS or name in names() or ":" in name:
        return name in _PRESETS
    return bool(get_close_matches(name, _PRESETS, n=1)) or not get_close_matches(name, names(), n=1)


def _asked(text: str) -> tuple[str, dict[str, object]]:
    """A name and its parameters."""
    name, *settings = (part.strip() for part in text.split("@"))
    parameters: dict[str, object] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        key = key.strip()
        if key in parameters:
            raise PolicyError(f"policy {name!r}: {key!r} is given twice")
        parameters[key] = _value(name, setting, value)
    return name, _unnamed(name, parameters)


def _value(name: str, setting: str, value: str) -> object:
    """A value as TOML has it."""
    try:
        found = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError) as error:  # digits without end and the like are no TOMLDecodeError
        why = error if "=" in setting else "it has no ="
        raise PolicyError(f"policy {name!r}: {setting!r} is not parameter=value: {why}") from None
    if len(found) > 1:
        raise PolicyError(f"policy {name!r}: {setting!r} is not parameter=value: it has several lines")
    return found["value"]


def _unnamed(name: str, parameters: dict[str, object]) -> dict[str, object]:
    """Parameters of which none would make another policy of it."""
    for key in parameters:
        if key.rpartition(".")[2] == "name":
            raise PolicyError(f"policy {name!r}: {key!r} is no parameter")
    return parameters


def _overridden(name: str, parameters: Mapping[str, object]) -> list[_Table]:
    """The tables of a preset with parameters of its policies changed."""
    if name not in _PRESETS:
        raise PolicyError(_unknown("preset", name, _PRESETS))
    tables = {str(table["name"]): dict(table) for table in _PRESETS[name]}
    for key, value in parameters.items():
        policy, _, parameter = key.partition(".")
        if policy not in tables:
            raise PolicyError(f"preset {name!r}: {_unknown('policy', policy, tables)}")
        tables[policy][parameter] = value
    return list(tables.values())


def build(tables: Sequence[Mapping[str, object]]) -> tuple[Policy, ...]:
    """The policies that configuration tables describe, in order; raises ``PolicyError``.

    A table has a ``name`` (one of ``names()``, or ``package.module:Class`` for somebody else's) and parameters.
    Where a parameter is a tuple of pairs, a table is taken as its pairs, in order.
    """
    return tuple(_build(table) for table in tables)


def _build(table: Mapping[str, object]) -> Policy:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise PolicyError("a policy table needs a name")
    make = _third_party(name) if ":" in name else _built_in(name)
    parameters = {str(key): value for key, value in table.items() if key != "name"}
    policy = _typed(name, make, parameters) if is_dataclass(make) else _called(name, make, parameters)
    if not isinstance(getattr(policy, "name", None), str) or not callable(getattr(policy, "propose", None)):
        raise PolicyError(f"policy {name!r}: not a policy: it needs a name and a propose method")
    return policy  # type: ignore[return-value]


def _built_in(name: str) -> Callable[..., object]:
    if name not in names():
        raise PolicyError(_unknown("policy", name, names()))
    return _load(name, f"{__name__}.{name}", "".join(part.capitalize() for part in name.split("_")))


def _third_party(name: str) -> Callable[..., object]:
    module, _, attribute = name.partition(":")
    return _load(name, module, attribute)


def _load(name: str, module: str, attribute: str) -> Callable[..., object]:
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise PolicyError(f"policy {name!r}: {error}") from error
    if not callable(found):
        raise PolicyError(f"policy {name!r}: {attribute} is not a class")
    return found  # type: ignore[no-any-return]


def _typed(name: str, make: Callable[..., object], parameters: dict[str, object]) -> object:
    """A dataclass from its parameters, checked against the types of its fields."""
    known = {field.name: str(field.type) for field in fields(make) if field.init}  # type: ignore[arg-type]
    for key, value in parameters.items():
        if key not in known:
            raise PolicyError(f"policy {name!r}: {_unknown('parameter', key, known)}")
        if isinstance(value, Mapping) and known[key].startswith("tuple["):
            parameters[key] = list(value.items())
    try:
        return msgspec.convert(parameters, type=make)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise PolicyError(f"policy {name!r}: {error}") from error


def _called(name: str, make: Callable[..., object], parameters: dict[str, object]) -> object:
    try:
        return make(**parameters)
    except (TypeError, ValueError) as error:
        raise PolicyError(f"policy {name!r}: {error}") from error


def _unknown(what: str, name: str, known: Mapping[str, object] | Sequence[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known) or 'none'}"
    return f"unknown {what} {name!r}: {hint}"
