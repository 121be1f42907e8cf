"""The agent's tools, on real files in a folder of its own: write one, read one, run the tests in one.

Rule: a tool touches nothing outside of the folder; tests run in a process of their own, which gets none of our
environment and is stopped after a while. That keeps accidents small, but is no sandbox.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ctxgc.examples.chat import Message
from ctxgc.session import reading

LIMIT: Final = 100_000
"""Bytes of a file or an output that are taken."""
TIMEOUT: Final = 20.0
"""Seconds that tests may take."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}\.(?:py|json|txt|md)")
_RUNNER = """
import sys
sys.path.insert(0, "")
passed = failed = 0
for name, test in list(vars(__import__(sys.argv[1])).items()):
    if name.startswith("test") and callable(test):
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}")
        else:
            passed += 1
            print(f"PASS {name}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
"""


def _tool(name: str, description: str, **properties: str) -> Message:
    fields = {key: {"type": "string", "description": text} for key, text in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


_PATH = "Name of the file, such as part.py; there are no folders."
TOOLS: Final[tuple[Message, ...]] = (
    _tool("write_file", "Write a whole file; one that is there is replaced.", path=_PATH, content="All of its text."),
    _tool("read_file", "Read a whole file as it is now.", path=_PATH),
    _tool("run_tests", "Call every function of a Python file whose name begins with test.", path=_PATH),
)
RECALL: Final[Message] = {
    "type": "function",
    "function": {
        "name": reading.TOOL_NAME,
        "description": "Read back a voucher, or a part of it, by its handle: the 16 characters in square brackets.",
        "parameters": reading.SCHEMA,
    },
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of tests ended: its exit status, and all that it printed."""

    status: int
    output: bytes


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder. What a tool refuses, it refuses with ``ValueError``, one line."""

    root: Path

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        if len(data) > LIMIT:
            raise ValueError(f"a file may have {LIMIT:,} bytes, and not {len(data):,}")
        self._path(name).write_bytes(data)

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        path = self._path(name)
        if not path.is_file():
            raise ValueError(f"there is no file {name}")
        with path.open("rb") as file:
            return file.read(LIMIT)

    def run(self, name: str) -> Outcome:
        """Run the tests of a Python file in a process of their own."""
        if not name.endswith(".py"):
            raise ValueError("only a Python file has tests")
        self.read(name)
        # -B: no cache of a file that is rewritten within the same second.
        command = [sys.executable, "-I", "-S", "-B", "-c", _RUNNER, name.removesuffix(".py")]
        with tempfile.TemporaryFile() as out:
            status = _run(command, self.root, out.fileno())
            out.seek(0)
            return Outcome(status, out.read(LIMIT))

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError("a name has letters, digits and underscores, and ends in .py, .json, .txt or .md")
        path = self.root / name
        if path.is_symlink():
            raise ValueError(f"{name} leads somewhere else")
        return path


def _run(command: list[str], folder: Path, out: int) -> int:
    """The exit status of a command; that of one that was stopped is not 0."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env={"PATH": os.defpath, "PYTHONIOENCODING": "utf-8", "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")},
        start_new_session=True,
    )
    # Waiting with a timeout would look again and again, with pauses that are longer than most tests.
    timer = threading.Timer(TIMEOUT, _stop, (process,))
    timer.start()
    try:
        return process.wait()
    finally:
        timer.cancel()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, if it still runs, and whatever it has started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
