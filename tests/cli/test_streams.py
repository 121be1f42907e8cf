"""A command whose standard streams are closed: it runs, and no file of its own takes their place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}


def closed(*numbers: int) -> Any:
    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def ran(url: str, *numbers: int, argv: tuple[str, ...] = ("statusline",)) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "ctxgc", *argv, "--store", url]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, env=env, preexec_fn=closed(*numbers), check=False, timeout=120, **pipes)


@pytest.mark.parametrize("numbers", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("command", ["statusline", "sessions"])
def test_it_ends_as_if_they_were_open(url: str, numbers: tuple[int, ...], command: str) -> None:
    found = ran(url, *numbers, argv=(command,))
    assert (found.returncode, found.stderr) == (0, b"")
    assert bool(found.stdout) is (1 not in numbers)


def test_an_error_still_has_its_exit_code(url: str) -> None:
    assert ran(url + ".none", 0, 1, 2, argv=("sessions",)).returncode == 4


LOOK = """
import os, sys
from ctxgc.cli._streams import ensure_streams
if sys.argv[1] == "ours":
    ensure_streams()
number = os.open(sys.executable, os.O_RDONLY)
raise SystemExit(10 + number)
"""


@pytest.mark.parametrize(("whose", "least"), [("ours", 13), ("nobody's", 11)])
def test_the_next_file_is_none_of_them(whose: str, least: int) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run([sys.executable, "-c", LOOK, whose], env=env, preexec_fn=closed(1), check=False, timeout=120)
    assert found.returncode >= least
    assert (found.returncode == 11) is (whose != "ours")
