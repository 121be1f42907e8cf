"""Entries of a ledger in human form: one line each.

Rule: a line says which vouchers and facts it is about, and holds no statement and no content.
"""

from __future__ import annotations

from ctxgc.cli._output import shorten
from ctxgc.core.bookings import AnyBooking, Artifact, Fact, Period, Reconciliation, Restoration, Supersession

_REF = 40
_SOME = 3


def booked(entry: AnyBooking) -> str:
    """What an entry of a ledger's log says."""
    match entry:
        case Artifact():
            return f"{entry.type} {shorten(entry.ref, _REF)} kept as {entry.id}, {entry.size:,} bytes"
        case Fact():
            return _fact(entry)
        case Supersession(new=""):
            return f"{entry.old} withdrawn{_why(entry.reason)}"
        case Supersession():
            return f"{entry.old} superseded by {entry.new}{_why(entry.reason)}"
        case Restoration():
            return f"{entry.fact} restored{_why(entry.reason)}"
        case Period():
            return _period(entry)
        case Reconciliation():
            return _reconciliation(entry)


def _fact(entry: Fact) -> str:
    critical = ", critical" if entry.criticality == "critical" else ""
    if entry.type == "claim":
        return f"{entry.id} claimed by the {entry.author}{critical}"
    verifiers = ", ".join(dict.fromkeys(f"{one.verifier} {one.version} in {one.artifact}" for one in entry.source))
    return f"{entry.id} verified by {shorten(verifiers)}{f', was {entry.of}' if entry.of else ''}{critical}"


def _period(entry: Period) -> str:
    name = f" ({shorten(entry.milestone, _REF)})" if entry.milestone else ""
    lossy = ", claims were left behind" if entry.lossy else ""
    return f"{entry.id}{name} closed with {len(entry.balance):,} facts, listed in {entry.opening_balance_ref}{lossy}"


def _reconciliation(entry: Reconciliation) -> str:
    found = [f"{fact} {shorten(what, _REF)}" for fact, what in list(entry.findings.items())[:_SOME]]
    more = f", and {len(entry.findings) - _SOME} more" if len(entry.findings) > _SOME else ""
    sample = "" if entry.whole else " of a sample"
    return f"{entry.match:,} facts{sample} agree" + (f"; {', '.join(found)}{more}" if found else "")


def _why(reason: str) -> str:
    return f": {shorten(reason)}" if reason else ""
