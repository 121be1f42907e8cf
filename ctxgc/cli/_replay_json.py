"""A comparison as JSON, with keys that stay.

Rule: schema ``ctxgc.replay/1``. Keys may be added; none changes its meaning. ``KEYS`` is what the command's help says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ctxgc.cli._replay_keys import SCHEMA
from ctxgc.lab.batch import Batch, Compared, Plan
from ctxgc.lab.comparison import Run
from ctxgc.lab.judge import Survival
from ctxgc.lab.totals import Totals

_DIGITS = 6


def document(batch: Batch, plan: Plan, totals: Sequence[Totals]) -> dict[str, object]:
    """The one document of a run."""
    return {
        "schema": SCHEMA,
        "policies": list(plan.policies),
        "classes": [{"name": one.name, "read": one.read, "write": one.write} for one in plan.classes],
        "size": plan.size,
        "min_tokens": plan.min_tokens,
        "small": batch.small,
        "errors": list(batch.errors),
        "sessions": [_session(one) for one in batch.compared],
        "totals": [_totals(one) for one in totals],
    }


def _session(one: Compared) -> dict[str, object]:
    return {
        "id": one.name,
        "source": one.source,
        "model": one.model,
        "turns": one.never.turns,
        "prefix": round(one.fit.prefix, 1),
        "factor": round(one.fit.factor, _DIGITS),
        "usages": one.fit.usages,
        "peak": round(one.peak),
        "peak_counted": one.peak_count,
        "reported": one.reported,
        "received": round(one.never.tokens),
        "received_counted": one.never.count,
        "runs": [_run(run, one) for run in one.runs],
    }


def _run(run: Run, one: Compared) -> dict[str, object]:
    judged = run.judged
    return {
        "policy": run.policy,
        "class": run.price_class.name,
        "sent": round(judged.tokens),
        "sent_counted": judged.count,
        "read": round(judged.read),
        "written": round(judged.written),
        "cost_ratio": round(run.cost_ratio(one.never), _DIGITS),
        **_survival(judged.survival),
        "rewrites": judged.rewrites,
        "rewritten": round(judged.rewritten),
        "invalid": len(judged.invalid),
        "broken": list(judged.invalid),
        "bypasses": run.bypasses,
        "collections": dict(run.collections),
        "compactions": run.compactions,
        "prepare_seconds": round(run.prepare_seconds, _DIGITS),
        "admit_seconds": round(run.admit_seconds, _DIGITS),
        "by_tag": _by(judged.by_tag),
        "by_use": _by(judged.by_use),
    }


def _totals(one: Totals) -> dict[str, object]:
    return {
        "policy": one.policy,
        "class": one.price_class,
        "sessions": one.sessions,
        "turns": one.turns,
        "cost_ratio": round(one.cost, _DIGITS),
        "cost_ratios": asdict(one.costs),
        "sent_ratio": round(one.tokens, _DIGITS),
        "sent_ratios": asdict(one.tokens_spread),
        **_survival(one.survival),
        "survivals": asdict(one.survivals),
        "rewrite_ratio": round(one.rewrites, _DIGITS),
        "rewrite_ratios": asdict(one.rewrites_spread),
        "rewritten": round(one.rewritten),
        "invalid": one.invalid,
        "bypasses": one.bypasses,
        "collections": dict(one.collections),
        "compactions": one.compactions,
        "prepare_seconds": round(one.prepare_seconds, _DIGITS),
        "admit_seconds": round(one.admit_seconds, _DIGITS),
        "by_tag": _by(one.by_tag),
        "by_use": _by(one.by_use),
    }


def _survival(one: Survival) -> dict[str, object]:
    return {
        "needed": one.needed,
        "visible": one.visible,
        "named": one.named,
        "recallable": one.recallable,
        "survival": round(one.survived, _DIGITS),
    }


def _by(parts: Mapping[str, Survival]) -> dict[str, object]:
    return {name: _survival(one) for name, one in parts.items()}
