"""Commands as people run them: in a terminal of so many columns, or into a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = 40


def environment(**more: str) -> dict[str, str]:
    """An environment in which nothing but what is given says how to print."""
    kept = ("PATH", "HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    return {**known, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}


def argv_of(argv: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "ctxgc", *argv]


def in_terminal(columns: int, *argv: str, **env: str) -> tuple[int, bytes]:
    """The exit code of a command in a terminal, and all that it wrote there but errors and progress, line ends as
    line feeds."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    full = environment(TERM="xterm-256color", **env)
    with subprocess.Popen(argv_of(argv), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=full) as process:
        os.close(theirs)
        said = bytearray()
        with suppress(OSError):  # a terminal that nobody has open any more is an error to read
            while part := os.read(ours, 1 << 16):
                said += part
        os.close(ours)
    return process.returncode, bytes(said).replace(b"\r\n", b"\n")


def into_pipe(*argv: str, **env: str) -> tuple[int, bytes, bytes]:
    """The exit code of a command that writes into a pipe, and what it wrote to stdout and stderr."""
    done = subprocess.run(
        argv_of(argv), stdin=subprocess.DEVNULL, capture_output=True, env=environment(**env), check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def into_head(lines: int, *argv: str) -> tuple[int, bytes, bytes]:
    """The same into ``head``, which leaves when it has its lines; the exit code is that of the command."""
    script = f'"$@" | head -n {lines}; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *argv_of(argv)],
        stdin=subprocess.DEVNULL, capture_output=True, env=environment(), check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr
