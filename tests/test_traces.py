"""Recorded sessions of real agents, replayed request by request: everything that must hold, holds on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxgc.assemble import make_kit
from ctxgc.core.journal import Bypass, decode
from ctxgc.lab.replay import requests
from ctxgc.lab.transcripts import Transcript, read
from ctxgc.policies import preset
from ctxgc.session import Kit, Session
from ctxgc.store import open_store
from ctxgc.wire.openai_chat_rules import valid
from tests.session import checks
from tests.session.scripts import KEY, fresh, history, restored, send

TRACES = Path(__file__).parents[2] / "shared" / "traces"
FILES = sorted(TRACES.glob("*.jsonl.gz")) if TRACES.is_dir() else []
LARGE = 120_000
"""Bytes of a trace, compressed, above which it is left to the long campaign."""

HANDFUL = sorted((path for path in FILES if path.stat().st_size < LARGE), key=lambda path: path.stat().st_size)[::30][
    :4
]
REST = [path for path in FILES if path not in HANDFUL]


def named(path: Path) -> str:
    return path.name.partition(".")[0]


def replay(transcript: Transcript, used: Kit) -> Session:
    """Send a trace's requests; checked as they go: prefixes are kept, and no rule is broken that was not broken."""
    session = fresh(used)
    seen = checks.Prefixes(used.codec)
    bodies = list(requests(transcript))
    for number, text in enumerate(bodies):
        prepared = send(session, text)
        assert prepared.bypass == ""
        # Hashing every prefix of every request is quadratic: of a long trace, a few are compared, and the last ones.
        if number % max(1, len(bodies) // 12) == 0 or number >= len(bodies) - 2:
            seen.see(text, prepared.body)
            assert set(valid(history(prepared.body))) <= set(valid(history(text)))
    session.flush()
    return session


def holds(path: Path) -> None:
    """Replay every transcript of a file, and check what must hold at the end."""
    for transcript in read(path):
        store = open_store("sqlite://")
        try:
            used = make_kit(store, preset("eden"))
            session = replay(transcript, used)
            checks.rebuilds(session, used)
            checks.attribution_at(session.state, heads(session))
            checks.originals(session, used)
            texts = checks.recalled(session)
            checks.shorter(session.state, texts)
            assert checks.recalled(restored(used)) == texts
            assert not any(isinstance(decode(stored.body), Bypass) for stored in store.entries(KEY))
        finally:
            store.close()


def heads(session: Session) -> Iterator[int]:
    """The last nodes of all histories."""
    parents = {node.parent for node in session.state.nodes}
    return (node.id for node in session.state.nodes if node.id not in parents)


@pytest.mark.skipif(not HANDFUL, reason="the recorded traces are not here")
@pytest.mark.parametrize("path", HANDFUL, ids=named)
def test_a_recorded_session(path: Path) -> None:
    holds(path)


@pytest.mark.slow
@pytest.mark.skipif(not REST, reason="the recorded traces are not here")
@pytest.mark.parametrize("path", REST, ids=named)
def test_every_recorded_session(path: Path) -> None:
    holds(path)
