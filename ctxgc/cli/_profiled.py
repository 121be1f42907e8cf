"""What ``ctxgc profile`` looks at: transcripts, replayed in memory, or a session of the store.

Rule: nothing is sent anywhere, and nothing is written into the store.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxgc.cli._journals import codec_of, find_session, journal, opened
from ctxgc.cli._output import progress

if TYPE_CHECKING:
    from ctxgc.cli._profile_json import Profiled
    from ctxgc.core.policy import Policy
    from ctxgc.lab.costs import PriceOf
    from ctxgc.lab.replay import Replayed
    from ctxgc.lab.transcripts import Transcript
    from ctxgc.store import Store

ASSUMED = "gpt-5"
"""The model whose tokens and prices stand in where none is named."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How transcripts are to be replayed: as which model (None: the one they name), and with which policies."""

    model: str | None = None
    policy: str = "observe"

    def named(self, transcript: Transcript) -> str:
        """The model that a transcript is counted and priced as."""
        return self.model or transcript.model or ASSUMED


def of_transcripts(paths: Sequence[Path], wanted: Wanted) -> Iterator[Profiled]:
    """The profile of each transcript, in order. Raises ``ConfigError`` and ``InputError``."""
    from ctxgc.tokens import PriceTable

    price_of = PriceTable.load().price
    policies = _policies(wanted.policy)
    for path, transcript in _transcripts(paths):
        yield _profiled(transcript, str(path), wanted, policies, price_of)


def replayed_into(store: Store, paths: Sequence[Path], wanted: Wanted) -> list[bytes]:
    """Replay all transcripts into one store; the keys of their sessions, in order.

    Transcripts of one id are told apart by a number. Raises ``ConfigError`` and ``InputError``.
    """
    policies, seen = _policies(wanted.policy), dict[str, int]()
    for _, transcript in _transcripts(paths):
        number = seen[transcript.id] = seen.get(transcript.id, 0) + 1
        one = replace(transcript, id=f"{transcript.id} ({number})") if number > 1 else transcript
        _replay(store, one, wanted, policies)
    store.flush()
    return [row.key for row in store.sessions()]


def of_session(prefix: str, url: str | None, model: str | None) -> Iterator[Profiled]:
    """The profile of a recorded session; ``model`` changes its prices, and not its counts. Raises ``InputError``."""
    from ctxgc.cli._profile_json import Profiled
    from ctxgc.core.journal import Open
    from ctxgc.lab.profile import profile
    from ctxgc.lab.replay import last_calls
    from ctxgc.tokens import PriceTable

    table = PriceTable.load()
    with opened(url) as store:
        key = find_session(store, prefix).key
        entries = [entry for _, entry in journal(store, key)]
        formats = [entry.codec for entry in entries if isinstance(entry, Open)]
        calls = last_calls(entries, store, codec_of(formats[0])) if formats else ()
    found = profile(entries, key.hex(), lambda named: table.price(model or named or ASSUMED), calls)
    yield Profiled(found, "store", None, assumed=not (model or any(found.models)))


def _transcripts(paths: Sequence[Path]) -> Iterator[tuple[Path, Transcript]]:
    from ctxgc.lab.transcripts import parse, read

    for path in paths:
        read_in = str(path) == "-"
        found = parse(sys.stdin.buffer.read(), "standard input", "stdin") if read_in else read(path)
        yield from ((path, transcript) for transcript in found)


def _policies(names: str) -> tuple[Policy, ...]:
    from ctxgc.errors import ConfigError
    from ctxgc.policies import PolicyError, from_config

    try:
        return from_config(names)
    except PolicyError as error:
        raise ConfigError(str(error)) from None


def _replay(store: Store, transcript: Transcript, wanted: Wanted, policies: Sequence[Policy]) -> Replayed:
    from ctxgc.assemble import make_kit
    from ctxgc.config import load
    from ctxgc.lab.replay import replay

    with progress(transcript.id) as tell:
        return replay(transcript, make_kit(store, policies, load().config.tags), wanted.named(transcript), tell)


def _profiled(
    transcript: Transcript, source: str, wanted: Wanted, policies: Sequence[Policy], price_of: PriceOf
) -> Profiled:
    from ctxgc.cli._profile_json import Profiled
    from ctxgc.lab.profile import profile
    from ctxgc.store import open_store

    store = open_store("sqlite://")
    try:
        replayed = _replay(store, transcript, wanted, policies)
    finally:
        store.close()
    found = profile(replayed.entries, transcript.id, price_of, replayed.last_calls)
    return Profiled(found, source, wanted.policy, assumed=not (wanted.model or transcript.model))
