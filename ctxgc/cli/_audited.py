"""What ``ctxgc audit verify`` finds, as lines and as JSON.

Rule: every log is looked at, sessions and ledgers alike, and each is called what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxgc.cli._checks import check_session
from ctxgc.cli._journals import SHORT
from ctxgc.cli._ledger_checks import check_ledger
from ctxgc.cli._ledgers import ledgers, title
from ctxgc.cli._output import progress
from ctxgc.store import Finding, Store, Tip

_KEYS = ("kind", "session", "seq", "ref", "detail")


@dataclass(frozen=True, slots=True)
class Audited:
    """What was found, in how many sessions and in which ledgers (names by the hex of their keys); the newest tip."""

    findings: list[Finding]
    sessions: int
    ledgers: dict[str, str]
    tip: Tip


def audited(store: Store, held: Tip | None) -> Audited:
    """Look at everything. Raises ``StoreError`` where the store cannot be read at all."""
    with progress("hashing") as tell:
        findings = list(store.verify(tell, held=held))
    rows, named = store.sessions(), ledgers(store)
    with progress("rebuilding") as tell:
        for number, row in enumerate(rows, 1):
            findings += (check_ledger if row.key in named else check_session)(store, row.key)
            tell(number, len(rows))
    names = {key.hex(): name for key, name in named.items()}
    return Audited(findings, len(rows) - len(named), names, store.tip())


def verdict(whole: Audited) -> str:
    """The last line."""
    found = f"{len(whole.findings)} findings" if whole.findings else "ok: everything agrees, every request rebuilds"
    books = len(whole.ledgers)
    also = f", {books} ledger{'s' * (books != 1)}" if books else ""
    return f"{found}; {whole.sessions} session{'s' * (whole.sessions != 1)}{also}; tip {_tip(whole.tip)}"


def line(finding: Finding, names: Mapping[str, str]) -> str:
    """A finding, and where it is; ``names`` are those of the ledgers."""
    where = [_log(finding.session, names)] if finding.session else []
    where += [f"entry {finding.seq}"] if finding.seq is not None else []
    where += [finding.ref] if finding.ref and not finding.session else []
    return f"{finding.kind}: {', '.join(where)}{': ' if where else ''}{finding.detail}"


def report(whole: Audited) -> dict[str, object]:
    """The document, schema ``ctxgc.audit.verify/1``. ``session`` is the key of a log; a ledger has a name as well."""
    return {
        "schema": "ctxgc.audit.verify/1",
        "ok": not whole.findings,
        "sessions": whole.sessions,
        "ledgers": [{"id": key, "name": name} for key, name in whole.ledgers.items()],
        "tip": _tip(whole.tip),
        "findings": [_finding(finding, whole.ledgers) for finding in whole.findings],
    }


def _finding(finding: Finding, names: Mapping[str, str]) -> dict[str, object]:
    return {**{key: getattr(finding, key) for key in _KEYS}, "ledger": names.get(finding.session or "")}


def _log(key: str, names: Mapping[str, str]) -> str:
    return title(names[key]) if key in names else f"session {key[:SHORT]}"


def _tip(tip: Tip) -> str:
    return f"{tip.number}:{tip.digest.hex()}"
