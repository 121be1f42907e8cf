"""What the example prints: five lines with their figures, or one JSON document.

Rule: every figure that is printed is in the JSON, and nothing is called good that a check did not find so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from ctxgc.examples.bounded import Sizes
from ctxgc.examples.checks import Checks

SCHEMA = "ctxgc.settling/1"


@dataclass(frozen=True, slots=True)
class Report:
    """The checks, and what they were made on: ``ledger`` is the name of the shortest task's ledger in ``store``
    (empty: it was temporary)."""

    model: str
    seed: int
    budget: int
    store: str
    ledger: str
    checks: Checks


def document(report: Report) -> dict[str, object]:
    """The report as JSON, schema ``ctxgc.settling/1``."""
    checks, verdicts = report.checks, report.checks.verdicts
    found: dict[str, dict[str, object]] = {
        "bounded": {"runs": [asdict(one) for one in checks.bounded]},
        "resumable": {"runs": [asdict(one) for one in checks.resumable]},
        "auditable": asdict(checks.auditable),
        "tampering": {**asdict(checks.tampered), "missed": checks.tampered.missed},
        "superseding": {"runs": [asdict(one) for one in checks.superseded]},
    }
    return {
        "schema": SCHEMA,
        "model": report.model,
        "seed": report.seed,
        "tasks": [one.tasks for one in checks.bounded],
        "budget": report.budget,
        "store": report.store,
        "ledger": report.ledger,
        "ok": checks.ok,
        "checks": {name: {"ok": ok, **found[name]} for name, ok in verdicts.items()},
    }


def lines(report: Report) -> Iterator[str]:
    """The report for people."""
    tasks = ", ".join(f"{one.tasks:,}" for one in report.checks.bounded)
    yield f"{report.model}: {tasks} sub-tasks, each in a window of its own of at most {report.budget:,} tokens"
    yield ""
    told = (_bounded, _resumable, _auditable, _tampering, _superseding)
    for number, ((name, ok), tell) in enumerate(zip(report.checks.verdicts.items(), told, strict=True), 1):
        first, *rest = tell(report.checks)
        yield f"{number} {name.capitalize():<12}{'holds' if ok else 'FAILS':<7}{first}"
        yield from (f"{'':21}{line}" for line in rest)
    if report.store:
        yield from ("", f"Look into it: ctxgc ledger facts --store {report.store} --ledger '{report.ledger}'")


def _bounded(checks: Checks) -> Iterator[str]:
    for one in checks.bounded:
        yield (
            f"{one.tasks:,} sub-tasks: at most {one.largest:,} tokens, {one.beginning:,} at the beginning{_slope(one)};"
            f" {one.carried} windows with text of earlier ones"
        )


def _slope(one: Sizes) -> str:
    if one.slope is None:
        return ""
    return f", {one.slope:+.3f} a sub-task over {one.full:,} windows"


def _resumable(checks: Checks) -> Iterator[str]:
    for sizes, one in zip(checks.bounded, checks.resumable, strict=True):
        yield (
            f"after {sizes.tasks:,} sub-tasks: {one.right} of {one.asked} questions right by recall,"
            f" {one.unaided} without it; at most {one.tokens:,} tokens"
        )


def _auditable(checks: Checks) -> Iterator[str]:
    found = checks.auditable
    yield f"{found.picks:,} random facts of balances followed to their bytes: {found.disagreeing} disagree"


def _tampering(checks: Checks) -> Iterator[str]:
    found = checks.tampered
    yield (
        f"{found.tampers:,} bytes changed, {found.tampers - found.missed:,} named, {found.missed} missed;"
        f" untouched: {found.untouched} findings"
    )
    for table, by in found.named.items():
        who = ", ".join(f"{count} by {_NAMES[name]}" for name, count in by.items())
        yield f"{_TABLES[table]}: {who or 'none'}"


_NAMES = {"both": "both", "reconcile": "reconcile alone", "verify": "Store.verify alone", "nobody": "nobody"}
_TABLES = {"blob": "vouchers", "entry": "entries"}


def _superseding(checks: Checks) -> Iterator[str]:
    for sizes, one in zip(checks.bounded, checks.superseded, strict=True):
        yield (
            f"{sizes.tasks:,} sub-tasks: {one.overturned} facts overturned, {one.kept} still there,"
            f" {one.restored} restored on the way; {one.wrong} wrong balances;"
            f" {one.returned} of {one.tried} come back in a copy"
        )
