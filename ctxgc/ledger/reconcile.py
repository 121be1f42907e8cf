"""Reconciling: the log, the vouchers and the live files are read again, and held against what the facts say.

Rule: nothing is changed by it, and a file that has changed since (drift) is never taken for a voucher that was tampered
with (corrupt).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ctxgc.core.bookings import Artifact, Evidence, Fact
from ctxgc.core.books import Books
from ctxgc.ledger import files, wording
from ctxgc.ledger.evidence import disagreement
from ctxgc.ledger.log import Log
from ctxgc.ledger.vault import digest_of
from ctxgc.store import Store, StoreCorrupt, Stored, StoreMissing

MATCH, DRIFT, MISSING, CORRUPT = "match", "drift", "missing", "corrupt"
_GRAVITY = (MATCH, DRIFT, MISSING, CORRUPT)
Finding = tuple[str, str]
"""A state, and what was found."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was found of one fact: ``match``, ``drift`` (the live file is another one now), ``missing`` (voucher or live
    file), or ``corrupt`` (voucher, slice or entry is not what it was). ``fact`` is empty for the log itself."""

    fact: str
    state: str
    detail: str = ""
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a reconciliation found, in the order of posting; ``whole`` is False for a sample."""

    rows: tuple[Row, ...]
    whole: bool = True

    @property
    def ok(self) -> bool:
        """Whether everything agreed."""
        return not self.findings

    @property
    def findings(self) -> tuple[Row, ...]:
        """The rows that do not agree."""
        return tuple(row for row in self.rows if row.state != MATCH)

    @property
    def critical(self) -> tuple[Row, ...]:
        """Those of them that forbid a close: critical facts, and the log itself."""
        return tuple(row for row in self.findings if row.critical or not row.fact)


def sampled(facts: Sequence[Fact], sample: int | None, seed: int) -> list[Fact]:
    """``sample`` of the facts by that seed, in their order; all of them where that is None or more than there are."""
    if sample is None or sample >= len(facts):
        return list(facts)
    return [facts[number] for number in sorted(random.Random(seed).sample(range(len(facts)), max(sample, 0)))]


def reconciled(log: Log, books: Books, facts: Sequence[Fact], root: str, *, whole: bool = False) -> list[Row]:
    """One row for each fact: critical ones strongly, with the live file, the others by entry, voucher and slice.

    With ``whole`` all other entries of the log are read again too; each that is not what it was has a row of its own.
    Raises ``StoreError`` where the store cannot be read at all.
    """
    found: dict[str, list[Finding]] = {fact.id: [] for fact in facts}
    rows: list[Row] = []
    names = {books.posted_at[fact.id]: fact.id for fact in facts}
    for position, why in reread(log, range(books.length) if whole else sorted(names)):
        if position in names:
            found[names[position]].append((CORRUPT, why))
        else:
            rows.append(Row("", CORRUPT, why))
    critical = [fact for fact in facts if fact.criticality == "critical"]
    for name, finding in (*_vouchers(log.store, books, facts), *_live(books, critical, root)):
        found[name].append(finding)
    return rows + [_row(fact, found[fact.id]) for fact in facts]


def _row(fact: Fact, found: Sequence[Finding]) -> Row:
    state, detail = max(found, key=lambda finding: _GRAVITY.index(finding[0]), default=(MATCH, ""))
    return Row(fact.id, state, detail, fact.criticality == "critical")


def reread(log: Log, positions: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Which of the entries at these positions, in order, are not what the books were made from, and why."""
    stream: Iterator[Stored] = iter(())
    due = -1
    for position in positions:
        if position != due:
            stream = log.store.entries(log.key, position)
        due = position + 1
        try:
            stored = next(stream, None)
            why = "is not there any more" if stored is None else _changed(log, position, stored)
        except StoreCorrupt as error:
            due, why = -1, f"is damaged: {error}"
        if why:
            yield position, f"entry {position} of the log {why}"


def _changed(log: Log, position: int, stored: Stored) -> str:
    """How an entry differs from what the books were made from, by its leaf hash."""
    return "" if stored.leaf == log.leaf(position) else "says something else than when it was read first"


def _vouchers(store: Store, books: Books, facts: Iterable[Fact]) -> Iterator[tuple[str, Finding]]:
    """What is wrong with the vouchers of facts and their slices; each voucher is read once."""
    resting: dict[str, list[tuple[str, Evidence]]] = {}
    for fact in facts:
        for evidence in fact.source:
            resting.setdefault(evidence.artifact, []).append((fact.id, evidence))
    for handle, pairs in resting.items():
        artifact = books.artifacts[handle]
        content, finding = _kept(store, artifact)
        for name, evidence in pairs:
            wrong = "" if content is None else disagreement(evidence, artifact, content)
            if wrong or finding:
                yield name, finding or (CORRUPT, wrong)


def _kept(store: Store, artifact: Artifact) -> tuple[bytes | None, Finding | None]:
    try:
        return store.blob(digest_of(artifact)), None
    except StoreMissing:
        return None, (MISSING, f"voucher {artifact.id} ({wording.shown(artifact.ref)}) is not in the store")
    except StoreCorrupt as error:
        return None, (CORRUPT, f"voucher {artifact.id} ({wording.shown(artifact.ref)}) is damaged: {error}")


def _live(books: Books, facts: Iterable[Fact], root: str) -> Iterator[tuple[str, Finding]]:
    """How the files that the vouchers of facts were taken from differ from them; each file is read once."""
    found: dict[str, Finding | None] = {}
    for fact in facts:
        for handle in dict.fromkeys(one.artifact for one in fact.source):
            artifact = books.artifacts[handle]
            if artifact.type != "file":
                continue
            if handle not in found:
                found[handle] = _drift(artifact, root)
            finding = found[handle]
            if finding is not None:
                yield fact.id, finding


def _drift(artifact: Artifact, root: str) -> Finding | None:
    live, name = files.read(artifact.ref, root), wording.shown(artifact.ref)
    if live.fault:
        return MISSING, f"the file {name} {live.fault}"
    if len(live.content) == artifact.size and sha256(live.content).digest() == digest_of(artifact):
        return None
    return DRIFT, f"the file {name} is not what voucher {artifact.id} holds: it has changed since"
