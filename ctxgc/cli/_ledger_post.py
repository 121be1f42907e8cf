"""``ctxgc ledger post``, ``voucher`` and ``claim``: what adds to a ledger.

Rule: the voucher is kept first, the verifiers look at it as it is kept, and a fact is posted only if all of them agree.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxgc.cli._ledger_options import Chosen, ledger_options, writing
from ctxgc.cli._ledger_verify import FORMS, verifiers
from ctxgc.cli._output import as_json, say, shorten

if TYPE_CHECKING:
    from ctxgc.core.bookings import Artifact
    from ctxgc.ledger import Ledger

KINDS = ("file", "query", "test", "tool_result")
_CHOICES = f"One of {', '.join(KINDS)}."
LIMIT = 256 * 1024 * 1024
"""Bytes of an original that are kept at most."""
_HANDLE = re.compile(r"[a-z2-7]{16}\Z")
Function = Callable[..., None]


def _original(function: Function) -> Function:
    """The options that say what an original is."""
    text = "How the command ended whose output it is."
    function = click.option("--exit-status", type=click.IntRange(-(2**31), 2**32 - 1), metavar="N", help=text)(function)
    text = "Where it really lives: a path, a query, a command [the path of the FILE]."
    function = click.option("--ref", metavar="REF", help=text)(function)
    text = "What it is [file; of standard input tool_result]."
    return click.option("--kind", type=click.Choice(KINDS), metavar="KIND", help=f"{text} {_CHOICES}")(function)


@click.command()
@click.argument("statement")
@click.option("--voucher", metavar="FILE|HANDLE", required=True, help="The original; - reads standard input.")
@_original
@click.option("--verify", "specs", metavar="SPEC", multiple=True, help=f"What is to be found in it: {FORMS}.")
@click.option("--critical", is_flag=True, help="Reconcile it with the live file, and before every close.")
@click.option("--of", metavar="C3", default="", help="The claim that it has come from.")
@click.option("--supersedes", metavar="F2", default="", help="The fact that it overturns.")
@ledger_options("post")
def post(
    chosen: Chosen,
    statement: str,
    voucher: str,
    kind: str | None,
    ref: str | None,
    exit_status: int | None,
    specs: tuple[str, ...],
    critical: bool,
    of: str,
    supersedes: str,
) -> None:
    """Keep an original, have it verified, and post STATEMENT as a fact.

    SPEC may be given several times; all of them must hold. quotes: the text stands in the voucher. number: a number on
    a line of it (that holds NEAR) equals VALUE. json: the value at PATH, such as a.b[0], equals VALUE. exit: the
    command ended with N. file_exists, reads_back: the live file is there, or has exactly the voucher's bytes.

    Exit code 6: one does not hold, and nothing is posted. What is posted already is not posted twice.

    \b
    Examples:
      ctxgc ledger post "report.md is written" --voucher report.md --verify reads_back --critical
      ctxgc ledger post "the limit is 3" --voucher config.json --verify json=limits.max=3
      make test 2>&1 | ctxgc ledger post "no test fails" --voucher - --kind test --ref "make test" \\
        --verify number=0@failed
      ctxgc ledger post "the port is 8787" --voucher k3v7qzsx2mhd4ayb --verify "quotes=port = 8787" --of C3
    """
    from ctxgc.cli._ledger_json import document, fact_document
    from ctxgc.cli._ledger_text import evidence_line

    expected = verifiers(specs)
    get = _source(voucher, kind, ref, exit_status)
    with writing(chosen, begin=True) as ledger:
        before = ledger.version
        artifact = get(ledger)
        source = [ledger.verify(artifact, verifier) for verifier in expected]
        fact = ledger.post(statement, source, "critical" if critical else "normal", of, supersedes)
        books = ledger.books
        new = books.posted_at[fact.id] >= before
        if chosen.json:
            as_json(document("post", ledger, posted=new, fact=fact_document(books, fact)))
            return
    say(f"{fact.id} {'posted' if new else 'was posted already'}: {fact.statement}")
    for evidence in fact.source:
        say(f"  rests on {evidence_line(evidence)}")


@click.command()
@click.argument("file", metavar="FILE")
@_original
@ledger_options("voucher")
def voucher(chosen: Chosen, file: str, kind: str | None, ref: str | None, exit_status: int | None) -> None:
    """Keep an original as a voucher, and print its handle; - reads standard input.

    The same content of the same place is kept once, under one handle.

    \b
    Examples:
      ctxgc ledger voucher report.md
      pytest -q | ctxgc ledger voucher - --kind test --ref "pytest -q"
    """
    from ctxgc.cli._ledger_json import document, voucher_document

    keep = _kept(file, kind, ref, exit_status)
    with writing(chosen, begin=True) as ledger:
        artifact = keep(ledger)
        if chosen.json:
            as_json(document("voucher", ledger, voucher=voucher_document(artifact)))
            return
    say(artifact.id)


@click.command()
@click.argument("statement")
@click.option("--author", type=click.Choice(["agent", "host"]), default="agent", show_default=True, help="Who says so.")
@click.option("--pointer", metavar="HANDLE", default="", help="What it is said to rest on.")
@click.option("--quote", metavar="TEXT", default="", help="The words that are said to stand there.")
@click.option("--critical", is_flag=True, help="Much depends on it.")
@ledger_options("claim")
def claim(chosen: Chosen, statement: str, author: str, pointer: str, quote: str, critical: bool) -> None:
    """Note what somebody says. It is in no balance until `ctxgc ledger post --of` has verified it.

    \b
    Example:
      ctxgc ledger claim "the port is 8787" --pointer k3v7qzsx2mhd4ayb --quote "port = 8787"
    """
    from ctxgc.cli._ledger_json import document, fact_document

    with writing(chosen, begin=True) as ledger:
        criticality = "critical" if critical else "normal"
        noted = ledger.claim(statement, author=author, pointer=pointer, quote=quote, criticality=criticality)
        if chosen.json:
            as_json(document("claim", ledger, claim=fact_document(ledger.books, noted)))
            return
    say(f"{noted.id} claimed: {noted.statement}")


def _source(given: str, kind: str | None, ref: str | None, exit_status: int | None) -> Callable[[Ledger], Artifact]:
    """How to come by the voucher that is named: a file if there is one of that name, else what has this handle."""
    from ctxgc.session.reading import bare

    handle = bare(given.strip().lstrip("["))
    if not _HANDLE.match(handle) or Path(given).is_file():
        return _kept(given, kind, ref, exit_status)
    if (kind, ref, exit_status) != (None, None, None):
        raise click.UsageError(
            "--kind, --ref and --exit-status are for a FILE: a voucher that is kept has them already"
        )
    return lambda ledger: ledger.vault.get(handle)


def _kept(file: str, kind: str | None, ref: str | None, exit_status: int | None) -> Callable[[Ledger], Artifact]:
    """How to keep a file, which is read now. Raises ``UsageError`` and ``InputError``."""
    if file == "-" and not ref:
        raise click.UsageError("say with --ref where standard input comes from, such as the command")
    what = kind or ("tool_result" if file == "-" else "file")
    content = _read(file)
    # A relative path would be another file wherever it is looked at from.
    where = ref or (str(Path(file).absolute()) if what == "file" else file)
    return lambda ledger: ledger.vault.store(ref=where, content=content, kind=what, exit_status=exit_status)


def _read(file: str) -> bytes:
    from ctxgc.errors import InputError

    try:
        content = _content(file)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {shorten(file)}: {why}") from None
    if len(content) > LIMIT:
        raise InputError(f"cannot keep {shorten(file)}: it has more than {LIMIT >> 20} MB")
    return content


def _content(file: str) -> bytes:
    """At most one byte more than `LIMIT`: there are devices that never end."""
    if file == "-":
        return sys.stdin.buffer.read(LIMIT + 1)
    with Path(file).open("rb") as opened:
        return opened.read(LIMIT + 1)
