"""``ctxgc ledger`` as people read it: tables and lines.

Rule: a statement takes no more than a line of a table; where it is shown in full it stands by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxgc.cli._booked import booked
from ctxgc.cli._ledger_json import EXCERPT, excerpt, status
from ctxgc.cli._ledgers import title
from ctxgc.cli._output import Table, shorten, when

if TYPE_CHECKING:
    from ctxgc.core.bookings import Artifact, Evidence, Fact, Period
    from ctxgc.core.books import Books
    from ctxgc.ledger import Ledger, Report, Source, Trace

_STATEMENT = 100
_REF = 60
_LINES = 5
_SOME = 8


def facts_table(ledger: Ledger, books: Books, facts: Sequence[Fact], *, all_: bool = False) -> Table:
    """Facts, a row each; with ``all_`` also what became of those that are not current."""
    columns = ("<id", "<at", "<critical", "<statement", "<rests on", *(("<status",) if all_ else ()))
    rows = [_fact_row(books, fact, all_) for fact in facts]
    return Table(f"Facts of the {title(ledger.name)}", columns, rows)


def _fact_row(books: Books, fact: Fact, all_: bool) -> tuple[str, ...]:
    critical = "critical" if fact.criticality == "critical" else ""
    row = (fact.id, when(fact.at), critical, shorten(fact.statement, _STATEMENT), _resting(fact))
    return (*row, standing(books, fact)) if all_ else row


def _resting(fact: Fact) -> str:
    """The first voucher and lines that a fact rests on, and how many more there are."""
    places = list(dict.fromkeys(f"{one.artifact} lines {one.line_first}-{one.line_last}" for one in fact.source))
    return places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else "") if places else ""


def claims_table(ledger: Ledger, claims: Sequence[Fact]) -> Table:
    """Claims, a row each."""
    columns = ("<id", "<at", "<author", "<critical", "<statement", "<pointer")
    rows = [
        (
            fact.id,
            when(fact.at),
            fact.author,
            "critical" if fact.criticality == "critical" else "",
            shorten(fact.statement, _STATEMENT),
            shorten(fact.pointer, _REF),
        )
        for fact in claims
    ]
    return Table(f"Claims of the {title(ledger.name)} that nobody has verified", columns, rows)


def standing(books: Books, fact: Fact) -> str:
    """What a fact is now: ``current``, ``superseded by F7``, ``withdrawn``, ``claim``."""
    by = books.superseded_by.get(fact.id)
    if by is None:
        return status(books, fact)
    return f"superseded by {by}" if by else "withdrawn"


def fact_lines(books: Books, fact: Fact) -> Iterator[str]:
    """A fact or claim in full, with what became of it."""
    critical = ", critical" if fact.criticality == "critical" else ""
    came = f", was {fact.of}" if fact.of else ""
    yield f"{fact.id} {standing(books, fact)}{critical}{came}, stated by the {fact.author}, {when(fact.at)}"
    yield f"  {fact.statement}"
    if fact.pointer or fact.quote:
        yield f"  points at {shorten(fact.pointer, _REF) or 'nothing'}, quotes {shorten(fact.quote, _STATEMENT)!r}"
    yield from (f"  rests on {evidence_line(evidence)}" for evidence in fact.source)
    for entry in books.history(fact.id):
        yield f"  {when(entry.at)} {booked(entry)}"


def evidence_line(evidence: Evidence) -> str:
    """What a verifier saw, and where."""
    asked = f" {shorten(evidence.asked)}" if evidence.asked not in ("", "{}") else ""
    by = f"{evidence.verifier} {evidence.version}{asked}"
    return f"{evidence.artifact} lines {evidence.line_first}-{evidence.line_last}: {by}"


def voucher_lines(books: Books, artifact: Artifact) -> Iterator[str]:
    """A voucher without its content, and which facts rest on it."""
    ended = "" if artifact.exit_status is None else f", exit status {artifact.exit_status}"
    yield f"{artifact.id} {artifact.type} {artifact.ref}"
    yield f"  {artifact.size:,} bytes, {artifact.lines:,} lines{ended}, kept {when(artifact.at)}"
    yield f"  {artifact.hash}"
    facts = resting_on(books, artifact)
    if facts:
        yield f"  {_some(facts)} rest{'s' if len(facts) == 1 else ''} on it"


def resting_on(books: Books, artifact: Artifact) -> list[str]:
    """The ids of the facts that rest on a voucher, superseded ones too, in the order of posting."""
    return [fact.id for fact in books.facts.values() if any(one.artifact == artifact.id for one in fact.source)]


def period_lines(period: Period) -> Iterator[str]:
    """A period that is closed."""
    named = f" ({period.milestone})" if period.milestone else ""
    yield f"{period.id}{named} closed {when(period.at)}"
    yield f"  {len(period.balance):,} facts{f': {_some(period.balance)}' if period.balance else ''}"
    yield f"  all of them in full: ctxgc recall {period.opening_balance_ref}"
    yield f"  covers entries {period.window_from} to {period.window_to - 1} of the log"
    if period.lossy:
        yield "  claims were left behind that nobody had verified"


def report_lines(report: Report) -> Iterator[str]:
    """What does not agree, a line each, and how many do."""
    for row in report.findings:
        critical = " (critical)" if row.critical else ""
        yield f"{row.fact or 'the log'} {row.state}{critical}: {row.detail}"
    found, total = len(report.findings), len(report.rows)
    sample = "" if report.whole else " of a sample"
    wrong = f", {found:,} do{'es' * (found == 1)} not" if found else ""
    right = total - found
    yield f"{right:,} fact{'s' * (right != 1)}{sample} match{'es' * (right == 1)}{wrong}"


def trace_lines(books: Books, traced: Trace) -> Iterator[str]:
    """A fact, followed to what it rests on, with each hash as booked and as computed now."""
    yield from (line for number, line in enumerate(fact_lines(books, traced.fact)) if number < 2)
    period = f"in {traced.period}" if traced.period else "since the last period was closed"
    carried = f", carried by {_some(traced.balances)}" if traced.balances else ""
    yield f"  entry {traced.position} of the log, posted {period}{carried}"
    if traced.detail:
        yield f"  DISAGREES: {traced.detail}"
    for source in traced.sources:
        yield from _source_lines(source)
    yield _verdict(traced)


def _source_lines(source: Source) -> Iterator[str]:
    evidence, artifact = source.evidence, source.artifact
    yield f"voucher {artifact.id}, {artifact.type} {shorten(artifact.ref, _REF)}, {artifact.size:,} bytes"
    yield from _hashes(artifact.hash, source.hash)
    place = f"lines {evidence.line_first}-{evidence.line_last}, bytes {evidence.first}-{evidence.last}"
    yield f"slice {place}, seen by {evidence_line(evidence).partition(': ')[2]}"
    yield from _hashes(evidence.slice, source.slice_hash)
    if source.detail:
        yield f"  DISAGREES: {source.detail}"
    yield from _excerpt_lines(source)


def _excerpt_lines(source: Source) -> Iterator[str]:
    evidence, artifact = source.evidence, source.artifact
    lines = excerpt(source.slice).split("\n")
    yield from (f"  | {line}" for line in lines[:_LINES])
    if len(lines) > _LINES or len(excerpt(source.slice, EXCERPT + 1)) > EXCERPT:
        yield f"  | ... (ctxgc ledger show {artifact.id} --lines {evidence.line_first}-{evidence.line_last})"


def _hashes(booked: str, now: str) -> Iterator[str]:
    yield f"  booked {booked}"
    yield f"  now    {now or 'cannot be computed'}{'' if now == booked else '  DISAGREES'}"


def _verdict(traced: Trace) -> str:
    if not traced.sources:
        return "nobody has verified this claim: it rests on nothing"
    wrong = sum(not source.agree for source in traced.sources) + bool(traced.detail)
    return f"DISAGREES: {wrong} of what it rests on" if wrong else "agrees: every hash is what was booked"


def _some(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _SOME:,} more" if len(found) > _SOME else ""
    return f"{', '.join(found[:_SOME])}{more}"
