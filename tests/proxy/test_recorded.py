"""Recorded sessions of real agents, through the real proxy: everything arrives, valid, and rebuilds from the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxgc.core.journal import Bypass, Settlement
from ctxgc.lab.replay import requests
from ctxgc.lab.transcripts import read
from ctxgc.wire.openai_chat_rules import valid
from tests.session.scripts import history
from tests.test_traces import FILES, HANDFUL, REST, named


async def passes(path: Path, start, upstream) -> None:
    """Send every request of a trace, a transcript a session: what arrives breaks no rule that was not broken."""
    async with start(policy="eden") as running:
        for number, transcript in enumerate(read(path)):
            bodies = list(requests(transcript))
            for at, text in enumerate(bodies):
                answer = await running.chat(text, [("authorization", f"Bearer {path.name}{number}")])
                assert answer.status == 200
                arrived = upstream.calls.pop().body
                if (
                    at % max(1, len(bodies) // 8) == 0 or at == len(bodies) - 1
                ):  # reading all of all of them is quadratic
                    assert set(valid(history(arrived))) <= set(valid(history(text)))
        await running.store.until(Settlement)
        assert not running.store.of(Bypass)
        running.check()


@pytest.mark.skipif(not FILES, reason="the recorded traces are not here")
@pytest.mark.parametrize("path", HANDFUL[:2], ids=named)
async def test_a_recorded_session_passes(path: Path, start, upstream) -> None:
    await passes(path, start, upstream)


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="the recorded traces are not here")
@pytest.mark.parametrize("path", [*HANDFUL[2:], *REST], ids=named)
async def test_every_recorded_session_passes(path: Path, start, upstream) -> None:
    await passes(path, start, upstream)
