"""``ctxgc profile``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._journals import codec_of, find_session, journal, opened, store_option
from ctxgc.cli._output import as_json, progress

if TYPE_CHECKING:
    from ctxgc.cli._profile_json import Profiled
    from ctxgc.core.policy import Policy
    from ctxgc.lab.costs import PriceOf
    from ctxgc.lab.transcripts import Transcript

ASSUMED = "gpt-5"
"""The model whose tokens and prices stand in where none is named."""


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True), metavar="[PATH]...")
@click.option("--session", metavar="ID", help="A session of the store (any unambiguous beginning of its id).")
@store_option
@click.option("--model", metavar="NAME", help=f"Count and price as this model [the one named, else {ASSUMED}].")
@click.option("--policy", metavar="NAMES", help="Replay with these policies or this preset [observe: none].")
@click.option("--by", type=click.Choice(["tag", "site", "turn"]), help="Only this table [for --csv: tag].")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Rows a table shows.")
@click.option("--json", "json_", is_flag=True, help="One JSON document (schema ctxgc.profile/1), all rows.")
@click.option("--csv", "csv_", is_flag=True, help="CSV of one table, all rows.")
def command(
    paths: tuple[Path, ...],
    session: str | None,
    store: str | None,
    model: str | None,
    policy: str | None,
    by: str | None,
    top: int,
    json_: bool,
    csv_: bool,
) -> None:
    """Say where the tokens of transcripts, or of a recorded session, went and what they cost.

    PATH is {"messages": [...]}, a list of messages, or JSON lines of either kind, also gzipped; - is stdin. The
    requests its agent would have sent are replayed; nothing is sent anywhere.

    \b
    Examples:
      ctxgc profile transcript.jsonl
      ctxgc profile run.json --policy eden         what would have been sent
      ctxgc profile run.json --by site --top 30
      ctxgc profile *.jsonl --json | jq '.profiles[].total'
      ctxgc profile --session 3fa2
    """
    _usable(paths, session, policy, json_ and csv_)
    profiles = _session(session, store, model) if session else _transcripts(paths, model, policy)
    _print(profiles, by, top, json_, csv_)


def _usable(paths: Sequence[Path], session: str | None, policy: str | None, both: bool) -> None:
    """Raises ``UsageError`` for options that do not go together."""
    if bool(paths) == bool(session):
        raise click.UsageError("give one or more PATHs, or --session ID")
    if session and policy:
        raise click.UsageError("--policy is for transcripts: a recorded session shows what was sent")
    if both:
        raise click.UsageError("give --json or --csv, not both")


def _print(profiles: Iterator[Profiled], by: str | None, top: int, json_: bool, csv_: bool) -> None:
    from ctxgc.cli import _profile_json

    if json_:
        as_json(_profile_json.document(list(profiles)))
    elif csv_:
        _profile_json.write_csv(list(profiles), by or "tag", sys.stdout)
    else:
        from ctxgc.cli._profile_text import show_profile

        for one in profiles:
            show_profile(one, by, top)


def _transcripts(paths: Sequence[Path], model: str | None, policy: str | None) -> Iterator[Profiled]:
    from ctxgc.config import load
    from ctxgc.tokens import PriceTable

    policies, tags, price_of = _policies(policy or "observe"), load().config.tags, PriceTable.load().price
    for path in paths:
        for transcript in _read(path):
            yield _replayed(transcript, str(path), model, policy or "observe", policies, tags, price_of)


def _policies(names: str) -> tuple[Policy, ...]:
    from ctxgc.errors import ConfigError
    from ctxgc.policies import PolicyError, from_config

    try:
        return from_config(names)
    except PolicyError as error:
        raise ConfigError(str(error)) from None


def _read(path: Path) -> Iterator[Transcript]:
    from ctxgc.lab.transcripts import parse, read

    if str(path) == "-":
        return parse(sys.stdin.buffer.read(), "standard input", "stdin")
    return read(path)


def _replayed(
    transcript: Transcript,
    source: str,
    model: str | None,
    policy: str,
    policies: Sequence[Policy],
    tags: dict[str, str],
    price_of: PriceOf,
) -> Profiled:
    """The profile of a transcript, replayed in memory."""
    from ctxgc.assemble import make_kit
    from ctxgc.cli._profile_json import Profiled
    from ctxgc.lab.profile import profile
    from ctxgc.lab.replay import replay
    from ctxgc.store import open_store

    name = model or transcript.model or ASSUMED
    store = open_store("sqlite://")
    try:
        with progress(transcript.id) as tell:
            replayed = replay(transcript, make_kit(store, policies, tags), name, tell)
        found = profile(replayed.entries, transcript.id, price_of, replayed.last_calls)
    finally:
        store.close()
    return Profiled(found, source, policy, assumed=not (model or transcript.model))


def _session(prefix: str, url: str | None, model: str | None) -> Iterator[Profiled]:
    """The profile of a recorded session; ``model`` changes its prices, and not its counts."""
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
