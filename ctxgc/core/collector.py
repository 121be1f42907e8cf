"""The collector disposes: the only code that decides what of a heap is sent in another form.

Rule: verdicts are proposals. Whatever a policy says, what leaves here keeps pinned cells and everything but the text
of tool results byte for byte, is shorter than what it replaces, and names a handle that gives the original back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ctxgc.core import stub
from ctxgc.core.block import Author, Kind
from ctxgc.core.heap import Arrival, Heap
from ctxgc.core.policy import Policy, Verdict


@dataclass(frozen=True, slots=True)
class Edit:
    """What the collector decided about one cell: the text that stands for it from now on, and why."""

    cell: int
    policy: str
    action: str
    reason: str
    text: str
    handle: str
    before: int
    after: int
    of: int | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A cell on its way through the policies; ``note`` is what is still to be said at its end, ``final`` ends it."""

    arrival: Arrival
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""
    final: bool = False


def collect_eden(
    heap: Heap, policies: Sequence[Policy], mint: Callable[[bytes], str], site: Callable[[int], str]
) -> tuple[Edit, ...]:
    """Run the policies, in order, over the arrivals, and return what is to be changed.

    ``mint`` makes the handle of a content, ``site`` names the allocation site of an earlier cell. Each policy sees
    what the ones before it made of a text. Without policies nothing is touched.
    """
    if not policies:
        return ()
    plans = {arrival.id: _defused(arrival) for arrival in heap.eden if _editable(arrival)}
    for policy in policies:
        view = replace(heap, eden=tuple(plan.arrival for plan in plans.values() if not plan.final))
        for verdict in policy.propose(view):
            plan = plans.get(verdict.cell)
            if plan is not None and not plan.final:
                plans[verdict.cell] = _apply(plan, verdict, mint, site)
    originals = {arrival.id: arrival for arrival in heap.eden}
    edits = (_finish(originals[cell], plan, heap.count, mint) for cell, plan in plans.items())
    return tuple(edit for edit in edits if edit is not None)


def _editable(arrival: Arrival) -> bool:
    block = arrival.block
    return (
        block.kind is Kind.TOOL_RESULT and block.author is Author.TOOL and block.path is not None and not arrival.pinned
    )


def _defused(arrival: Arrival) -> _Plan:
    text = stub.defuse(arrival.text)
    if text == arrival.text:
        return _Plan(arrival)
    verdict = Verdict(arrival.id, "collector", "defuse", "looked like a stub of ours", text=text)
    return _Plan(replace(arrival, text=text), (verdict,))


def _apply(plan: _Plan, verdict: Verdict, mint: Callable[[bytes], str], site: Callable[[int], str]) -> _Plan:
    """The plan after one verdict; a verdict that makes no sense leaves it as it was."""
    arrival, handle = plan.arrival, mint(plan.arrival.content)
    if verdict.of is not None:
        text = stub.pointer(handle, site(verdict.of))
        return _Plan(replace(arrival, text=text), (*plan.verdicts, verdict), final=True)
    if verdict.text is not None:
        changed = replace(arrival, text=stub.defuse(verdict.text))
        return _Plan(changed, (*plan.verdicts, verdict), note=verdict.reason)
    cut = _cut(arrival.text, verdict, handle)
    if cut is None:
        return plan
    return _Plan(replace(arrival, text=cut), (*plan.verdicts, verdict), final=True)


def _cut(text: str, verdict: Verdict, handle: str) -> str | None:
    """``text`` with a stub in place of each gap between the kept spans; None for spans that do not fit it."""
    edges = [0, *(edge for span in verdict.keep for edge in span), len(text)]
    if edges != sorted(edges):
        return None
    out: list[str] = []
    for number, (start, end) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
        if end > start:
            label = _label(verdict, number, start, end, len(text))
            mark = stub.gap(handle, *label)
            if len(mark) >= end - start:
                return None
            out.append(("" if not out or out[-1].endswith("\n") else "\n") + mark + "\n")
        if number < len(verdict.keep):
            out.append(text[slice(*verdict.keep[number])])
    return "".join(out)


def _label(verdict: Verdict, number: int, start: int, end: int, size: int) -> tuple[str, int, int, int]:
    if verdict.gaps and number < len(verdict.gaps):
        return verdict.unit, *verdict.gaps[number], verdict.total
    return "characters", start + 1, end, size


def _finish(arrival: Arrival, plan: _Plan, count: Callable[[str], int], mint: Callable[[bytes], str]) -> Edit | None:
    """The edit that a plan comes to, or None where it changes nothing or would not make the cell smaller."""
    text, handle = plan.arrival.text, mint(arrival.content)
    if not plan.verdicts or not _encodable(text):
        return None
    if plan.note and not plan.final:
        text = f"{text}\n{stub.note(handle, plan.note)}"
    before, after = count(arrival.text), count(text)
    defused = [verdict for verdict in plan.verdicts if verdict.action == "defuse"]
    if (after >= before or len(text) >= len(arrival.text)) and not defused:
        return None
    if after >= before:  # defusing is for safety and may cost a few tokens; nothing else may
        text = stub.defuse(arrival.text)
        return _edit(arrival, defused, text, handle, before, count(text))
    return _edit(arrival, plan.verdicts, text, handle, before, after)


def _encodable(text: str) -> bool:
    """Whether UTF-8 can carry it: a text with lone surrogates goes on as it came, since the journal could not hold it."""
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


def _edit(arrival: Arrival, verdicts: Iterable[Verdict], text: str, handle: str, before: int, after: int) -> Edit:
    said = tuple(verdicts)
    return Edit(
        cell=arrival.id,
        policy=said[-1].policy,
        action="+".join(dict.fromkeys(verdict.action for verdict in said)),
        reason="; ".join(verdict.reason for verdict in said),
        text=text,
        handle=handle,
        before=before,
        after=after,
        of=said[-1].of,
    )
