"""``ctxgc demo`` as JSON, schema ``ctxgc.demo/1``.

Rule: every figure that is printed is in here, and the savings of all edits add up to what collecting took out.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ctxgc.cli._demo_text import following

if TYPE_CHECKING:
    from ctxgc.demo.report import Bill, Report
    from ctxgc.lab.gc_log import Made

_MADE = (
    "turn", "generation", "trigger", "cells", "before", "after", "context_before", "context_after", "rewritten",
    "rent", "price", "usd",
)  # fmt: skip


def document(report: Report, *, kept: bool) -> dict[str, object]:
    """The report; ``kept`` says whether its store still exists."""
    store = asdict(report.store)
    return {
        "schema": "ctxgc.demo/1",
        "model": report.model,
        "policy": report.policy,
        "exact": report.exact,
        "tags": [{"tag": row.tag, "without": row.without, "with": row.through} for row in report.rows],
        "billed": {"without": _bill(report.without), "with": _bill(report.through)},
        "edits": [asdict(edit) for edit in report.edits],
        "collections": [_made(made) for made in report.collections],
        "prefixes": asdict(report.prefixes),
        "store": {"url": store.pop("url"), "kept": kept, **store},
        "next": list(following(report, kept=kept)),
    }


def _bill(bill: Bill) -> dict[str, object]:
    return {"requests": bill.requests, "input": bill.input, **asdict(bill)}


def _made(made: Made) -> dict[str, object]:
    return {name: getattr(made, name) for name in _MADE}
