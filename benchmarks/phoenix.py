"""Spans end to end: the real proxy exports to a real Arize Phoenix, which is then asked what it made of them.

A scripted session runs through the proxy with `otel = always`; Phoenix's REST API must know the same spans, the same
session and the same tokens as the store. Phoenix is large (about 850 MB) and has an environment of its own: `--python`
names the interpreter of one, else one is made in a temporary folder, which takes minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ctxgc.core.journal import Allocation, AnyEntry, Settlement, Usage, decode
from ctxgc.demo.agent import play_session
from ctxgc.demo.model import ScriptedModel
from ctxgc.demo.scenario import coding_session
from ctxgc.store import open_store
from ctxgc.telemetry.otel import names as n

PATIENCE = 180.0
"""Seconds to wait for Phoenix to start, and then for what was exported to appear."""
MAIN = ("-c", "from ctxgc.cli import main; main()", "proxy", "--port", "0")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must agree: what the store says, and what Phoenix does."""

    name: str
    store: object
    phoenix: object

    @property
    def agrees(self) -> bool:
        return self.store == self.phoenix


def interpreter(given: str, folder: Path) -> str:
    """The interpreter of an environment with Phoenix in it: the given one, or a new one's."""
    if given:
        return given
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    made = str(folder / "venv" / "bin" / "python")
    subprocess.run([made, "-m", "pip", "install", "-q", "arize-phoenix"], check=True, stdout=sys.stderr)
    return made


@contextlib.contextmanager
def phoenix(python: str, folder: Path) -> Iterator[str]:
    """A Phoenix that answers; its base URL."""
    port, grpc = free(), free()
    own = {
        "PHOENIX_WORKING_DIR": str(folder), "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    command = [str(Path(python).parent / "phoenix"), "serve"]
    with (folder / "phoenix.log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            base = f"http://127.0.0.1:{port}"
            until(lambda: process.poll() is not None or asked(base, "/v1/projects") is not None)
            if process.poll() is not None:
                raise click.ClickException(f"phoenix ended: {(folder / 'phoenix.log').read_text()[-2000:]}")
            yield base
        finally:
            process.terminate()
            process.wait(30)


def free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def asked(base: str, path: str) -> Any:
    """A document of Phoenix's; None where it does not give it (yet)."""
    try:
        with urllib.request.urlopen(base + path, timeout=30) as response:
            return json.load(response)
    except (urllib.error.URLError, OSError, ValueError):
        return None


def until(done: Any) -> None:
    """Wait until something is so, or patience is over."""
    ends = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < ends:
        time.sleep(0.5)


async def play(base: str, store: Path) -> None:
    """The scripted session, through a proxy that exports to ``base``."""
    scenario = coding_session()
    traced = {
        "CTXGC_OTEL": "always", "OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_LOGS_EXPORTER": "none",
        "OTEL_METRICS_EXPORTER": "none",
    }  # fmt: skip
    async with ScriptedModel(scenario, "gpt-5") as model:
        flags = ("--upstream", model.base_url, "--store", f"sqlite:///{store}")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *MAIN, *flags, env={**os.environ, **traced}, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr
        try:
            port = await listening(process.stderr)
            await play_session(f"http://127.0.0.1:{port}/v1", scenario, "gpt-5", lambda: None)
        finally:
            process.terminate()
            await process.communicate()


async def listening(said: asyncio.StreamReader) -> str:
    """The port that a proxy says it listens on."""
    while line := (await said.readline()).decode():
        if found := re.search(r"listens on http://127\.0\.0\.1:(\d+)", line):
            return found[1]
    raise click.ClickException("the proxy did not start")


def journal(store: Path) -> dict[str, list[AnyEntry]]:
    opened = open_store(f"sqlite:///{store}", read_only=True)
    try:
        return {row.key.hex(): [decode(one.body) for one in opened.entries(row.key)] for row in opened.sessions()}
    finally:
        opened.close()


def spans(base: str) -> list[Mapping[str, Any]]:
    """All spans that Phoenix has."""
    found: list[Mapping[str, Any]] = []
    cursor = ""
    while True:
        page = asked(base, f"/v1/projects/default/spans?limit=200{cursor}") or {"data": []}
        found += page["data"]
        if not page.get("next_cursor"):
            return found
        cursor = f"&cursor={page['next_cursor']}"


def compared(sessions: Mapping[str, Sequence[AnyEntry]], base: str) -> list[Check]:
    """What the store says of the run beside what Phoenix does."""
    entries = [entry for found in sessions.values() for entry in found]
    requests = [one for one in entries if isinstance(one, Allocation)]
    used = [one.usage or Usage() for one in entries if isinstance(one, Settlement)]
    seen = spans(base)
    kinds = Counter(one["name"].partition(" gpt")[0] for one in seen)
    chats = [one["attributes"] for one in seen if one["name"].startswith("chat ")]
    collects = [one for one in seen if one["name"] == n.COLLECT_SPAN]
    known = asked(base, "/v1/projects/default/sessions") or {"data": []}
    changed = sum(one.received != one.sent for one in requests)
    return [
        Check("requests", len(requests), kinds[n.CHAT]),
        Check("collector's spans", len(requests), kinds[n.COLLECT_SPAN]),
        Check("client requests", sum(not one.again for one in requests), kinds[n.SERVER_SPAN]),
        Check("sessions", sorted(sessions), sorted(one["session_id"] for one in known["data"])),
        Check("input tokens", sum(one.input for one in used), total(chats, "llm.token_count.prompt")),
        Check("output tokens", sum(one.output for one in used), total(chats, "llm.token_count.completion")),
        Check("cache read", sum(one.cached for one in used), total(chats, "llm.token_count.prompt_details.cache_read")),
        Check("compacted requests", changed, sum(bool(one.get(n.COMPACTED)) for one in chats)),
        Check("kinds of the collector's spans", {n.CHAIN}, {one["span_kind"] for one in collects}),
    ]  # fmt: skip


def total(attributes: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(one.get(name, 0)) for one in attributes)


def ran(python: str) -> list[Check]:
    """Run it all, and compare."""
    with tempfile.TemporaryDirectory(prefix="ctxgc-phoenix-") as made:
        folder = Path(made)
        with phoenix(interpreter(python, folder), folder) as base:
            asyncio.run(play(base, folder / "audit.db"))
            sessions = journal(folder / "audit.db")
            wanted = sum(isinstance(one, Allocation) for found in sessions.values() for one in found)
            until(lambda: sum(one["name"].startswith("chat ") for one in spans(base)) >= wanted)
            return compared(sessions, base)


@click.command()
@click.option("--python", default="", help="The interpreter of an environment with arize-phoenix; else one is made.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(python: str, as_json: bool) -> None:
    """Does a real Phoenix show the spans, sessions and tokens that the store has?"""
    checks = ran(python)
    if as_json:
        rows = [{**asdict(one), "agrees": one.agrees} for one in checks]
        json.dump({"schema": "ctxgc.bench.phoenix/1", "results": rows}, sys.stdout, indent=2, default=sorted)
    else:
        for one in checks:
            print(f"{'agrees ' if one.agrees else 'DIFFERS'} {one.name:<32}{one.store!s:>20.20}{one.phoenix!s:>22.20}")
    sys.exit(not all(one.agrees for one in checks))


if __name__ == "__main__":
    main()
