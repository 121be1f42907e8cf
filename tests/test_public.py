"""The public face: few names, all of them documented, and an import that loads next to nothing."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ctxgc

PACKAGE = Path(ctxgc.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("litellm", "opentelemetry", "starlette", "pydantic", "tiktoken", "openai", "aiohttp", "apsw", "uvicorn")

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def undocumented(tree: ast.Module) -> Iterator[str]:
    """The public classes, functions and methods of a module that have no docstring, and the module if it has none."""
    if not ast.get_docstring(tree):
        yield "the module"
    for name, node in _public(tree):
        if not ast.get_docstring(node):
            yield name


def _public(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, Definition]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield f"{owner}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{node.name}.")


def loaded_by(statement: str, *names: str) -> set[str]:
    """Which of the named packages a statement loads, in a new process."""
    code = f"import sys; {statement}; print(*({names!r} & sys.modules.keys()))".replace(repr(names), repr(set(names)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_there_are_few_names() -> None:
    assert 0 < len(ctxgc.__all__) <= 15
    assert list(ctxgc.__all__) == sorted(set(ctxgc.__all__))


@pytest.mark.parametrize("name", ctxgc.__all__)
def test_each_name_is_there_and_documented(name: str) -> None:
    assert inspect.getdoc(getattr(ctxgc, name))
    assert getattr(ctxgc, name) is getattr(ctxgc, name)


@pytest.mark.parametrize("name", ctxgc.__all__)
def test_no_module_has_the_name_of_something_else(name: str) -> None:
    """Importing ``ctxgc.name`` would put the module in the place of the name."""
    assert not (PACKAGE / f"{name}.py").exists()
    assert not (PACKAGE / name).exists()


def test_names_survive_the_import_of_everything_they_come_from() -> None:
    first = {name: getattr(ctxgc, name) for name in ctxgc.__all__}
    assert {name: getattr(ctxgc, name) for name in ctxgc.__all__} == first
    assert not any(inspect.ismodule(value) for value in first.values())


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == ctxgc._HOMES


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ctxgc.nonsense


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_everything_public_has_a_docstring(path: Path) -> None:
    assert list(undocumented(ast.parse(path.read_text()))) == []


def test_importing_ctxgc_loads_nothing_heavy() -> None:
    assert loaded_by("import ctxgc", *HEAVY) == set()


def test_the_library_loads_nothing_that_only_the_proxy_needs() -> None:
    assert loaded_by("import ctxgc; ctxgc.open_session, ctxgc.wrap", *HEAVY) == set()


def test_control_a_missing_docstring_is_noticed() -> None:
    source = '"""m"""\nclass A:\n    """a"""\n    def b(self): ...\n    def _c(self): ...\nasync def d(): ...\n'
    assert list(undocumented(ast.parse(source))) == ["A.b", "d"]


def test_control_a_heavy_import_is_noticed() -> None:
    assert loaded_by("import ctxgc, pydantic", *HEAVY) == {"pydantic"}
