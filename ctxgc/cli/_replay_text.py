"""A comparison for people: one table a price class, and more where it is asked for.

Rule: costs are relative to never collecting, and every table says what its figures mean before it shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ctxgc.cli._output import Table, say, show
from ctxgc.cli._turns import many
from ctxgc.lab.batch import Batch, Compared, Plan
from ctxgc.lab.judge import Survival
from ctxgc.lab.totals import Totals, dominated

_COLUMNS = (
    "<policy",
    ">total",
    ">p10",
    ">median",
    ">p90",
    ">worst",
    ">survival",
    ">median",
    ">worst",
    ">named",
    ">recallable",
    ">rewrites",
    ">tokens sent",
    ">invalid",
    ">bypasses",
    ">prepare",
    ">admit",
)
_BY = ("<{}", "<policy", "<class", ">needed", ">survival", ">named", ">recallable")
_SESSIONS = ("<session", "<policy", "<class", ">turns", ">peak", ">cost", ">survival", ">rewrites", ">tokens sent")
_PARETO = ("<policy", ">cost", ">survival", "<")


def show_comparison(batch: Batch, plan: Plan, totals: Sequence[Totals], by: str | None, pareto: bool) -> None:
    """Print a comparison: the table of each class, or those asked for."""
    for line in _summary(batch, plan):
        say(line)
    if not batch.compared:
        return
    for table in _tables(batch, plan, totals, by, pareto):
        say()
        show(table)


def _tables(batch: Batch, plan: Plan, totals: Sequence[Totals], by: str | None, pareto: bool) -> Iterator[Table]:
    for one in plan.classes:
        mine = [total for total in totals if total.price_class == one.name]
        title = (
            f"Price class {one.name} (read {one.read:g}, write {one.write:g}): input cost relative to never collecting"
        )
        yield Table(title, _COLUMNS, [_row(total) for total in mine])
        if pareto:
            yield Table(f"Price class {one.name}: cost and survival", _PARETO, _pareto(mine))
    if by == "session":
        yield Table("By session", _SESSIONS, [row for one in batch.compared for row in _session(one)])
    elif by is not None:
        columns = tuple(column.format(by) for column in _BY)
        yield Table(f"Survival by {by}", columns, [row for total in totals for row in _by(total, by)])


def _summary(batch: Batch, plan: Plan) -> Iterator[str]:
    found = batch.compared
    left = f", {batch.small:,} smaller ones left out" if plan.min_tokens > 0 else ""
    above = f" above {plan.min_tokens:,} tokens ({plan.size})" if plan.min_tokens > 0 else ""
    yield f"{many(len(found), 'segment')}{above}{left}"
    if found:
        fitted = [one for one in found if one.fit.usages]
        yield (
            f"medians: largest request {median(one.peak for one in found):,.0f} tokens"
            f" ({median(one.peak_count for one in found):,.0f} as we count),"
            f" {median(one.never.turns for one in found):g} turns"
        )
        yield _calibration(fitted, len(found))
    for error in batch.errors:
        yield f"not read: {error}"


def _calibration(fitted: Sequence[Compared], total: int) -> str:
    if not fitted:
        return "no usage was reported: sizes are our counts"
    factor, prefix = median(one.fit.factor for one in fitted), median(one.fit.prefix for one in fitted)
    return (
        f"{len(fitted):,} of {total:,} calibrated by reported usage: median {factor:.2f} of a provider's tokens"
        f" to one of ours, and a prefix of {prefix:,.0f} that was not recorded"
    )


def _row(one: Totals) -> Sequence[str]:
    lost = one.survival.needed - one.survival.visible
    return (
        one.policy,
        f"{one.cost:.3f}",
        *(f"{value:.3f}" for value in (one.costs.p10, one.costs.median, one.costs.p90, one.costs.worst)),
        *_survivals(one),
        _share(one.survival.named, one.survival.needed),
        _share(one.survival.recallable, lost),
        f"{one.rewrites:.1%}",
        f"{one.tokens:.1%}",
        f"{one.invalid:,}",
        f"{one.bypasses:,}",
        f"{one.prepare_seconds / max(one.turns, 1) * 1000:.2f} ms",
        f"{one.admit_seconds / max(one.turns, 1) * 1000:.2f} ms",
    )


def _pareto(totals: Sequence[Totals]) -> list[Sequence[str]]:
    ordered = sorted(totals, key=lambda one: (one.cost, -one.survival.survived))
    beaten = dominated([(one.cost, one.survival.survived) for one in ordered])
    return [
        (one.policy, f"{one.cost:.3f}", _share(one.survival.visible, one.survival.needed), "dominated" if lost else "")
        for one, lost in zip(ordered, beaten, strict=True)
    ]


def _session(one: Compared) -> Iterator[Sequence[str]]:
    for run in one.runs:
        judged = run.judged
        yield (
            one.name,
            run.policy,
            run.price_class.name,
            f"{judged.turns:,}",
            f"{one.peak:,.0f}",
            f"{run.cost_ratio(one.never):.3f}",
            _share(judged.survival.visible, judged.survival.needed),
            f"{judged.rewrites:,}",
            f"{judged.tokens / max(one.never.tokens, 1):.1%}",
        )


def _by(total: Totals, by: str) -> Iterator[Sequence[str]]:
    parts = total.by_tag if by == "tool" else total.by_use
    for name, one in parts.items():
        yield (name, total.policy, total.price_class, f"{one.needed:,}", *_survival(one))


def _survivals(one: Totals) -> Sequence[str]:
    """What survived in all, in the median session and in the worst; nothing is said where nothing was needed."""
    if not one.survival.needed:
        return "-", "-", "-"
    return tuple(f"{value:.1%}" for value in (one.survival.survived, one.survivals.median, one.survivals.worst))


def _survival(one: Survival) -> Sequence[str]:
    lost = one.needed - one.visible
    return (_share(one.visible, one.needed), _share(one.named, one.needed), _share(one.recallable, lost))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
