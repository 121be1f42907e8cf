"""Who may import whom: the table of the architecture page, held against the imports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ctxgc"
LAYERS = {
    0: ("core", "errors"),
    1: ("policies", "wire", "tokens", "store"),
    2: ("ledger", "summarise", "session*", "recognise", "lab", "telemetry"),
    3: (
        *("", "__main__", "assemble", "background", "library", "client", "proxy", "web", "config", "cli", "demo"),
        *("examples", "mcp_server", "tui"),
    ),
}
CORE_MAY_USE = {*sys.stdlib_module_names, "msgspec", "rapidfuzz", "regex", "ctxgc"}


def layer(part: str) -> int | None:
    """The layer of a part of the package: the first name below ``ctxgc``. None where the table has no place for it."""
    return next((n for n, parts in LAYERS.items() if any(fnmatchcase(part, one) for one in parts)), None)


def part_of(module: str) -> str:
    return [*module.split("."), ""][1]


def imports(module: str, source: str, *, package: bool = False) -> Iterator[str]:
    """The modules that a source imports, wherever in it, by their full names."""
    own = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(own[: len(own) - node.level + 1]) if node.level else ""
            name = ".".join(filter(None, (base, node.module)))
            yield from (
                (f"{name}.{alias.name}" for alias in node.names) if name in ("ctxgc", "ctxgc.policies") else (name,)
            )


def breach(module: str, imported: str) -> str | None:
    """Why ``module`` must not import ``imported``, or None where it may."""
    here, there = part_of(module), part_of(imported)
    if layer(here) is None:
        return f"{module}: the table of layers has no place for it"
    if layer(here) == 0 and imported.split(".")[0] not in CORE_MAY_USE:
        return f"{module}: the core imports {imported}"
    if imported.split(".")[0] != "ctxgc" or there == here or _fits(here, there):
        return _between_policies(module, imported)
    return f"{module} imports {imported}"


def _fits(here: str, there: str) -> bool:
    own, other = layer(here), layer(there)
    if own is None or other is None:
        return False
    return other < own or own == 3 or (own == other and own in (0, 2))


def _between_policies(module: str, imported: str) -> str | None:
    names = [name.split(".")[2] for name in (module, imported) if name.startswith("ctxgc.policies.")]
    if len(names) == 2 and names[0] != names[1] and names[1][0] != "_":
        return f"{module}: one policy imports another"
    return None


def sources() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found.append((".".join(part for part in parts if part != "__init__"), path))
    return found


@pytest.mark.parametrize(("module", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_go_downwards(module: str, path: Path) -> None:
    found = imports(module, path.read_text("utf-8"), package=path.name == "__init__.py")
    assert [why for name in found if (why := breach(module, name))] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ctxgc.core.heap", "import aiohttp"),
        ("ctxgc.core.heap", "def f():\n    from ctxgc.wire import codec"),
        ("ctxgc.core.heap", "from ..store import Store"),
        ("ctxgc.errors", "from ctxgc.store import StoreError"),
        ("ctxgc.errors", "import click"),
        ("ctxgc.store.engine", "from ctxgc.policies import preset"),
        ("ctxgc.policies.dedup", "from ctxgc.policies.minify import Minify"),
        ("ctxgc.policies.dedup", "from . import minify"),
        ("ctxgc.policies.dedup", "from ctxgc import tokens"),
        ("ctxgc.wire.body", "import ctxgc.tokens.counter"),
        ("ctxgc.store.engine", "from ctxgc.session import Session"),
        ("ctxgc.session.eden", "from ctxgc import config"),
        ("ctxgc.telemetry.otel", "from ..proxy import app"),
        ("ctxgc.nowhere", "import json"),
        ("ctxgc.session.eden", "import ctxgc.nowhere"),
    ],
)
def test_a_wrong_import_is_noticed(module: str, source: str) -> None:
    assert [why for name in imports(module, source) if (why := breach(module, name))] != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ctxgc.core.heap", "import json, msgspec\nfrom .block import Block"),
        ("ctxgc.core.books", "from ctxgc.errors import LedgerError"),
        ("ctxgc.ledger.log", "from ctxgc.core.books import Books\nfrom ctxgc.errors import LedgerError"),
        (
            "ctxgc.policies.truncate",
            "import attrs\nfrom ctxgc.core import spans\nfrom ctxgc.policies.truncate import Truncate",
        ),
        ("ctxgc.telemetry.prometheus", "from ctxgc.session import Session\nfrom ctxgc.tokens import counter_for"),
        ("ctxgc.proxy.app", "from ctxgc import config, library\nfrom ctxgc.session.session import Session"),
    ],
)
def test_a_right_import_passes(module: str, source: str) -> None:
    assert [why for name in imports(module, source) if (why := breach(module, name))] == []
