"""``ctxgc proxy`` as a process of its own, as its users run it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from tests.proxy.client import KEY, Answer, Pairs, chat
from tests.proxy.upstream import HANG

ROOT = Path(__file__).resolve().parents[2]
MAIN = (sys.executable, "-c", "from ctxgc.cli import main; main()", "proxy")


class Process:
    """A proxy process that listens."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, said: list[str]) -> None:
        self.process, self.port, self.said = process, port, said

    async def chat(self, body: bytes, headers: Pairs = (KEY,)) -> Answer:
        return await chat(self.port, body, headers)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), HANG)


def environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXGC_", "XDG_"))}
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data")}
    return {**kept, **home, "PYTHONPATH": str(ROOT), **more}


async def start(folder: Path, *flags: str, **more: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *MAIN, *flags, cwd=folder, env=environment(folder, more), stdout=pipe, stderr=pipe
    )


@contextlib.asynccontextmanager
async def running(folder: Path, *flags: str, **more: str) -> AsyncIterator[Process]:
    """A process that listens on a free port; killed at the end, if it still runs."""
    process = await start(folder, "--port", "0", *flags, **more)
    assert process.stderr
    try:
        said: list[str] = []
        while not said or "listens on" not in said[-1]:
            line = await asyncio.wait_for(process.stderr.readline(), HANG)
            assert line, f"it ended: {said}"
            said.append(line.decode())
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said[-1])
        assert found
        yield Process(process, int(found[1]), said)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def refused(folder: Path, *flags: str, **more: str) -> tuple[int, str]:
    """The exit code and the words of a process that does not come to listen."""
    process = await start(folder, *flags, **more)
    out, err = await asyncio.wait_for(process.communicate(), HANG)
    assert out == b""
    assert process.returncode is not None
    return process.returncode, err.decode()
