"""Milestones that a host has configured: a tool's result that a verifier bears out ends a period.

Rule: which tool, and what must be seen in its result, is the host's word; a result can only be what it is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ctxgc.core.block import Kind
from ctxgc.core.bookings import Artifact
from ctxgc.errors import LedgerError
from ctxgc.session.eden import Planned, clean

if TYPE_CHECKING:
    from ctxgc.ledger import Verifier


@dataclass(frozen=True, slots=True)
class Watch:
    """The milestone ``name`` is reached by a result from a ``site`` (a shell pattern) that the verifier passes."""

    name: str
    site: str
    verifier: Verifier


def reached(watches: Iterable[Watch], planned: Iterable[Planned]) -> Iterator[str]:
    """The names of the milestones that new messages reach."""
    arrivals = [one for plan in planned for one in plan.arrivals if one.block.kind is Kind.TOOL_RESULT]
    for watch in watches:
        if any(fnmatchcase(one.site, watch.site) and _passes(watch.verifier, one.site, one.text) for one in arrivals):
            yield watch.name


def _passes(verifier: Verifier, site: str, text: str) -> bool:
    from ctxgc.ledger import Voucher

    content = clean(text).encode()
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    artifact = Artifact(
        at=0, id="", type="tool_result", ref=site, hash=digest, size=len(content), lines=text.count("\n")
    )
    try:
        verifier(Voucher(artifact, content))
    except LedgerError:
        return False
    return True
