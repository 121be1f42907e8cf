"""What the proxy adds to the first byte and takes from throughput, beside the upstream itself and a bare pass-through.

All servers run at once, each in its own process, and are asked in turn, so that noise falls on all alike. Each connection
plays a session of its own that grows by a turn a request. The upstream answers at once, which no model does: what ctxgc
books while a model thinks competes with the answers here. So throughput is also measured with an upstream that thinks.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

import click

from benchmarks.workload import Message, body, history, spread, turns

CONNECTIONS = (1, 16, 64)
THINK = (0, 250)
"""Milliseconds that the upstream takes to its first byte."""
HISTORIES = (("25,000 tokens", 60, 2_150), ("100,000 tokens", 220, 2_480), ("200,000 tokens", 438, 2_530))
LOAD = (220, 2_480)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(port: int, *command: str, log: Path) -> Iterator[int]:
    """A server process, up and listening."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as child:
        try:
            for _ in range(600):
                if child.poll() is not None:
                    raise click.ClickException(f"{command[2:]} ended: {log.read_text()[-500:]}")
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port
        finally:
            child.terminate()


class Connection:
    """One HTTP/1.1 connection, kept alive; as little client as possible."""

    def __init__(self, port: int, session: str, think: int = 0) -> None:
        self._port = port
        self._think = think
        self._session = session
        self.path = "/v1/chat/completions"

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 22)

    async def ask(self, text: bytes) -> tuple[float, float]:
        """Seconds to the first byte of the answer's body, and to its end."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer benchmark\r\nx-ctxgc-session: {self._session}\r\n"
            f"x-think: {self._think}\r\ncontent-length: {len(text)}\r\n\r\n"
        )
        started = time.perf_counter()
        self._writer.write(head.encode() + text)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise click.ClickException((answer + await self._reader.read(500)).decode())
        lower = answer.lower()
        if b"\r\ncontent-length:" in lower:
            first = time.perf_counter()
            await self._reader.readexactly(int(lower.partition(b"\r\ncontent-length:")[2].split(b"\r\n")[0]))
        else:
            first = await self._chunks(started)
        return first - started, time.perf_counter() - started

    async def _chunks(self, started: float) -> float:
        first = 0.0
        while True:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            first = first or time.perf_counter()
            await self._reader.readexactly(size + 2)
            if size == 0:
                return first

    def close(self) -> None:
        self._writer.close()


async def first_byte(ports: dict[str, int], messages: list[Message], size: int, rounds: int) -> dict[str, object]:
    """Added time to first byte at one connection: the same growing session to each server, in turn."""
    connections = {name: Connection(port, f"session-{name}-{os.getpid()}") for name, port in ports.items()}
    for connection in connections.values():
        await connection.open()
    added: dict[str, list[float]] = {name: [] for name in ports}
    total: dict[str, list[float]] = {name: [] for name in ports}
    messages = list(messages)
    for number, turn in enumerate(islice(turns(size, seed=5), rounds + 3)):
        text = body(messages)
        took = {name: await connection.ask(text) for name, connection in connections.items()}
        if number >= 3:
            for name, (first, end) in took.items():
                added[name].append(first - took["direct"][0])
                total[name].append(end - took["direct"][1])
        messages += turn
    for connection in connections.values():
        connection.close()
    rows = {
        name: {"added_first_byte_ms": spread(added[name], 1e3), "added_total_ms": spread(total[name], 1e3)}
        for name in ports
    }
    return {"bytes": len(text), "messages": len(messages), "servers": rows}


async def throughput(port: int, count: int, requests: int, tag: str, think: int) -> float:
    """Requests per second with ``count`` connections, each in a session of its own that has begun already."""
    bodies = []
    messages = history(*LOAD)
    for turn in islice(turns(LOAD[1], seed=9), max(min(requests // count, 20 if think else 200), 4) + 1):
        bodies.append(body(messages, stream=False))
        messages += turn
    connections = [
        Connection(port, f"load-{tag}-{think}-{count}-{number}-{os.getpid()}", think) for number in range(count)
    ]
    for connection in connections:
        await connection.open()
    await asyncio.gather(*(connection.ask(bodies[0]) for connection in connections))

    async def play(connection: Connection) -> None:
        for text in bodies[1:]:
            await connection.ask(text)
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(play(connection) for connection in connections))
    return (len(bodies) - 1) * count / (time.perf_counter() - started)


async def measure(ports: dict[str, int], rounds: int, requests: int) -> dict[str, object]:
    """All figures."""
    first = {name: await first_byte(ports, history(count, size), size, rounds) for name, count, size in HISTORIES}
    rates: dict[str, dict[str, dict[str, list[float]]]] = {
        str(think): {str(count): {name: [] for name in ports} for count in CONNECTIONS} for think in THINK
    }
    for number in range(3):
        for think in THINK:
            for count in CONNECTIONS:
                for name, port in ports.items():
                    rate = await throughput(port, count, requests, f"{name}-{number}", think)
                    rates[str(think)][str(count)][name].append(rate)
    medians = {
        think: {count: {name: sorted(found)[1] for name, found in row.items()} for count, row in rows.items()}
        for think, rows in rates.items()
    }
    return {"first_byte": first, "requests_per_second": medians}


@click.command()
@click.option("--rounds", default=60, show_default=True, help="Turns measured per history.")
@click.option("--requests", default=640, show_default=True, help="Requests per throughput measurement.")
@click.option("--litellm", "litellm", metavar="PYTHON", help="A Python with litellm[proxy] installed, to compare with.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(rounds: int, requests: int, litellm: str | None, as_json: bool) -> None:
    """What the proxy adds to the first byte, and its throughput."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def start(name: str, port: int, *command: str) -> int:
            return stack.enter_context(process(port, *command, log=folder / f"{name}.log"))

        direct = start(
            "upstream", port := free_port(), sys.executable, "-m", "benchmarks.servers", "upstream", str(port)
        )
        target = f"http://127.0.0.1:{direct}"
        ports = {"direct": direct}
        port = free_port()
        ports["bare"] = start("bare", port, sys.executable, "-m", "benchmarks.servers", "bare", str(port), target)
        code = "from ctxgc.cli import main; main()"
        for policy in ("eden", "observe"):
            port, store = free_port(), f"sqlite:///{folder / policy}.db"
            ports[f"ctxgc {policy}"] = start(
                policy, port, sys.executable, "-c", code, "proxy", "--upstream", f"{target}/v1", "--port", str(port),
                "--store", store, "--policy", policy,
            )  # fmt: skip
        if litellm:
            ports["litellm"] = _litellm(litellm, target, folder, start)
        results = asyncio.run(measure(ports, rounds, requests))
    if as_json:
        json.dump({"schema": "ctxgc.bench.proxy/1", **results}, sys.stdout, indent=2)
    else:
        _print(results)


def _litellm(python: str, target: str, folder: Path, start: object) -> int:
    config = folder / "litellm.yaml"
    config.write_text(
        "model_list:\n  - model_name: gpt-5\n    litellm_params:\n      model: openai/gpt-5\n"
        f"      api_base: {target}/v1\n      api_key: benchmark\n"
        "general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
    )
    port = free_port()
    command = str(Path(python).parent / "litellm")
    return start("litellm", port, command, "--config", str(config), "--port", str(port))  # type: ignore[operator,no-any-return]


def _print(results: dict[str, object]) -> None:
    for name, found in results["first_byte"].items():  # type: ignore[attr-defined]
        print(
            f"\nadded to the first byte and to the whole answer, one connection, {name} ({found['bytes'] / 1e3:.0f} KB)"
        )
        bare = found["servers"]["bare"]["added_first_byte_ms"]["median"]
        for server, row in found["servers"].items():
            first, total = row["added_first_byte_ms"], row["added_total_ms"]
            print(
                f"  {server:<14}{first['median']:>8.2f} ms ({first['p10']:.2f}-{first['p90']:.2f})"
                f"{first['median'] / bare:>7.2f} x bare{total['median']:>10.2f} ms"
            )
    for think, rows in results["requests_per_second"].items():  # type: ignore[attr-defined]
        print(f"\nrequests per second, sessions of 100,000 tokens, upstream answers after {think} ms (beside bare)")
        for count, row in rows.items():
            shown = "".join(f"{name} {rate:,.0f} ({rate / row['bare']:.2f})   " for name, rate in row.items())
            print(f"  {count:>3} connections   {shown}")


if __name__ == "__main__":
    main()
