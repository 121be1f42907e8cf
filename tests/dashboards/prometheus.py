"""A real Prometheus that scrapes a proxy, and its HTTP API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp

HANG = 20
"""Seconds after which what does not come is taken never to."""
CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
scrape_configs:
  - job_name: ctxgc
    static_configs: [{{targets: ["{target}"]}}]
"""


class Prometheus:
    """Its API. Queries that fail raise ``AssertionError`` with what it said."""

    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self._base, self._session = base, session

    async def get(self, path: str, **given: str) -> Any:
        async with self._session.get(f"{self._base}/api/v1/{path}", params=given) as answer:
            found = json.loads(await answer.text())
        assert found["status"] == "success", (given, found)
        return found["data"]

    async def query(self, expr: str, at: float | None = None) -> list[dict[str, Any]]:
        """An instant query's vector."""
        data = await self.get("query", query=expr, **({} if at is None else {"time": f"{at:.3f}"}))
        assert data["resultType"] == "vector"
        return list(data["result"])

    async def query_range(self, expr: str, start: float, end: float) -> list[dict[str, Any]]:
        """A range query's series, a point a second."""
        data = await self.get("query_range", query=expr, start=f"{start:.3f}", end=f"{end:.3f}", step="1s")
        return list(data["result"])

    async def until(self, expr: str, holds: Callable[[float], bool]) -> None:
        """Wait until the one value of a query is as wanted. Raises ``AssertionError`` where it never is."""
        found: list[float] = []
        try:
            async with asyncio.timeout(HANG):
                while not any(map(holds, found)):
                    await asyncio.sleep(0.05)
                    found = [float(one["value"][1]) for one in await self.query(expr)]
        except TimeoutError:
            raise AssertionError(f"{expr} stays at {found}") from None

    async def ready(self) -> None:
        """Wait until it answers queries."""
        async with asyncio.timeout(HANG):
            while not await self._is_ready():  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def _is_ready(self) -> bool:
        async with self._session.get(f"{self._base}/-/ready") as answer:
            return answer.status == 200

    async def values(self, label: str, series: str) -> list[str]:
        """The values of a label, as a variable of a dashboard asks for them."""
        return list(await self.get(f"label/{label}/values", **{"match[]": series}))


@contextlib.asynccontextmanager
async def prometheus(binary: str, target: str, folder: Path) -> AsyncIterator[Prometheus]:
    """Run one with its data in ``folder``; it scrapes ``target`` each second."""
    await asyncio.to_thread((folder / "prometheus.yml").write_text, CONFIG.format(target=target))
    options = ("--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0")
    process = await asyncio.create_subprocess_exec(binary, *options, cwd=folder, stderr=asyncio.subprocess.PIPE)
    assert process.stderr
    try:
        async with asyncio.timeout(HANG):
            port = await _port(process.stderr)
        drained = asyncio.create_task(process.stderr.read())
        async with aiohttp.ClientSession() as session:
            found = Prometheus(f"http://127.0.0.1:{port}", session)
            await found.ready()
            yield found
    finally:
        process.terminate()
        await process.wait()
    await drained


async def _port(log: asyncio.StreamReader) -> int:
    """Where it listens, by what it logs."""
    told = b""
    while line := await log.readline():
        told += line
        if found := re.search(rb'msg="Listening on" address=\S+:(\d+)', line):
            return int(found[1])
    raise AssertionError(told.decode())
