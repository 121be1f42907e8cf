"""What ``profile``, ``gc-log`` and ``top`` print, byte for byte: in terminals of 80 and 160 columns, without colour,
into a pipe, and into ``head``.

``UPDATE_SNAPSHOTS=1 pytest tests/cli/test_snapshots.py`` writes the files anew: look at what changed in them.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctxgc.cli._output import printable
from ctxgc.store import open_store
from tests.lab.collected import bodies, collecting_kit
from tests.lab.collected import run as run_session

from .terminals import in_terminal, into_head, into_pipe

FOLDER = Path(__file__).parent / "snapshots"
COMMANDS = {
    "profile": ("profile", "--session", "cc"),
    "gc-log": ("gc-log", "cc", "--eden"),
    "top": ("top", "--once", "--session", "cc"),
}
WIDTHS = (80, 160)
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A store of two sessions in which everything is the same each time it is made: ids, times, handles."""
    folder = tmp_path_factory.mktemp("still")
    ticks = itertools.count(1_699_990_000)
    with pytest.MonkeyPatch.context() as patched:
        fixed = SimpleNamespace(token_bytes=lambda size: b"\x07" * size, token_hex=lambda size: "07" * size)
        patched.setattr("ctxgc.store.opening.secrets", fixed)
        store = open_store(f"sqlite:///{folder / 'still.db'}")
    run_session(collecting_kit(store, clock=lambda: float(next(ticks))), bodies(2), b"\xdd" * 32)
    run_session(collecting_kit(store), bodies(16))
    store.close()
    return f"sqlite:///{folder / 'still.db'}"


def held_against(name: str, found: bytes) -> None:
    """What was printed is what stands in the file of that name."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_bytes(found)
    assert found == path.read_bytes(), f"{path.name} differs: UPDATE_SNAPSHOTS=1 writes it anew"


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_in_a_terminal(still, command, columns):
    code, said = in_terminal(columns, *COMMANDS[command], "--store", still)
    assert code == 0
    held_against(f"{command}.{columns}", said)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_colour_there_is_the_same_text_and_no_colour(still, command):
    code, said = in_terminal(80, *COMMANDS[command], "--store", still, NO_COLOR="1")
    assert code == 0
    assert not re.search(rb"\x1b\[[0-9;]*3[0-7]", said)
    coloured = (FOLDER / f"{command}.80.txt").read_bytes()
    assert CONTROL.sub(b"", said) == CONTROL.sub(b"", coloured)
    held_against(f"{command}.80.no-color", said)


@pytest.mark.parametrize("command", COMMANDS)
def test_into_a_pipe_goes_plain_text(still, command):
    code, said, error = into_pipe(*COMMANDS[command], "--store", still)
    assert (code, error) == (0, b"")
    assert all(line == printable(line) for line in said.decode().split("\n"))
    held_against(f"{command}.pipe", said)


def test_a_pipe_may_say_how_wide_it_is(still):
    code, said, error = into_pipe(*COMMANDS["top"], "--store", still, COLUMNS="160")
    assert (code, error) == (0, b"")
    held_against("top.pipe.160", said)


@pytest.mark.parametrize("command", COMMANDS)
def test_who_reads_only_the_beginning_gets_that_and_no_complaint(still, command):
    code, said, error = into_head(2, *COMMANDS[command], "--store", still)
    assert (code, error) == (0, b"")
    assert said == b"".join((FOLDER / f"{command}.pipe.txt").read_bytes().splitlines(keepends=True)[:2])


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_of_top_is_wider_than_the_terminal(columns):
    lines = CONTROL.sub(b"", (FOLDER / f"top.{columns}.txt").read_bytes()).decode().splitlines()
    assert max(map(len, lines)) <= columns


def test_a_byte_that_differs_is_found(tmp_path, monkeypatch):
    monkeypatch.delenv("UPDATE_SNAPSHOTS", raising=False)
    with pytest.raises(AssertionError, match="differs"):
        held_against("profile.pipe", (FOLDER / "profile.pipe.txt").read_bytes() + b" ")
