"""Asking through litellm, in a process of its own: any provider and model, and nothing of it in ours.

Rule: the key goes through standard input, never through arguments or the environment; the process is killed when its
time is over, and whatever happens to it becomes an answer with an error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from ctxgc.summarise.asking import Ask, Asker, Said

_ROOT = str(Path(__file__).parents[2])


def litellm_asker(python: str = sys.executable) -> Asker:
    """An asker that runs ``python -m ctxgc.summarise`` for each question.

    The providers' own variables in the environment count where the question names no key.
    """

    def ask(question: Ask) -> Said:
        # -P: what lies in the working directory is not to pass for a module.
        command = [python, "-P", "-m", "ctxgc.summarise"]
        try:
            return _answer(command, question)
        except (OSError, ValueError, msgspec.MsgspecError, subprocess.SubprocessError) as fault:
            return Said("", "error", error=f"the summariser's process failed: {type(fault).__name__}")

    return ask


def _answer(command: list[str], question: Ask) -> Said:
    path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH", ""))))
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        start_new_session=True,
    )
    try:
        given, _ = process.communicate(msgspec.json.encode(question), timeout=question.timeout)
    except subprocess.TimeoutExpired:
        return Said("", "error", error=f"no answer within {question.timeout:g} seconds")
    finally:
        _end(process)
    if process.returncode != 0 or not given:
        return Said("", "error", error=f"the summariser's process ended with status {process.returncode}")
    return msgspec.json.decode(given, type=Said)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process if it still runs, with what it has begun, and take leave of it."""
    if process.poll() is None:
        with suppress(OSError):  # it leads a group of its own; that may end at this moment
            os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was left to be written has nobody to read it
                pass
    process.wait()
