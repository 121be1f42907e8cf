"""Programs and packages that are not Python's: where they are, and what a test does without them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "dashboards"


def program(name: str) -> str:
    """The path of a program. Without it the test is skipped, and fails where everything has to be there."""
    found = shutil.which(name)
    if found is None:
        _missing(f"{name} is not installed")
    return str(found)


def node_modules(*packages: str) -> Path:
    """The folder that holds these packages from npm."""
    folder = Path(os.environ.get("TESTS_NODE_MODULES") or ROOT / ".node/node_modules")
    absent = [name for name in packages if not (folder / name).is_dir()]
    if absent:
        _missing(f"no {', '.join(absent)} in {folder}")
    return folder


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """All that it said."""
    return done.stdout + done.stderr


def names(paths: Sequence[Path]) -> list[str]:
    """Names of files, in order."""
    return sorted(path.name for path in paths)


def _missing(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
