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
    """A cell on its way through the policies; ``note`` is what is still to be said at its end, ``final`` ends it.

    ``before`` is the plan without the last verdict: what is done where that one does not pay.
    """

    arrival: Arrival
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""
    final: bool = False
    before: _Plan | None = None

    def then(self, verdict: Verdict, text: str, *, note: str = "", final: bool = False) -> _Plan:
        """The plan with one more verdict, which makes ``text`` of it."""
        return _Plan(replace(self.arrival, text=text), (*self.verdicts, verdict), note, final, self)


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
                plans[verdict.cell] = _apply(plan, verdict, heap, mint, site)
    originals = {arrival.id: arrival for arrival in heap.eden}
    edits = (_finish(originals[cell], plan, heap.count, mint) for cell, plan in plans.items())
    return tuple(edit for edit in edits if edit is not None)


def _editable(arrival: Arrival) -> bool:
    block = arrival.block
    ours = block.kind is Kind.TOOL_RESULT and block.author is Author.TOOL and block.path is not None
    return ours and not arrival.pinned and encodable(arrival.text)


def _defused(arrival: Arrival) -> _Plan:
    text = stub.defuse(arrival.text)
    if text == arrival.text:
        return _Plan(arrival)
    return _Plan(arrival).then(Verdict(arrival.id, "collector", "defuse", "looked like a stub of ours"), text)


def _apply(
    plan: _Plan, verdict: Verdict, heap: Heap, mint: Callable[[bytes], str], site: Callable[[int], str]
) -> _Plan:
    """The plan after one verdict; a verdict that makes no sense, or cannot be checked, leaves it as it was."""
    arrival = plan.arrival
    if not encodable(f"{verdict.policy}{verdict.action}{verdict.reason}{verdict.unit}{verdict.text or ''}"):
        return plan
    handle = mint(arrival.content)
    if verdict.of is not None:
        if verdict.of == arrival.id or verdict.of != heap.same(arrival):
            return plan
        return plan.then(verdict, stub.pointer(handle, site(verdict.of)), final=True)
    if verdict.text is not None:
        if not verdict.text:
            return plan
        return plan.then(verdict, stub.defuse(verdict.text), note=plain(verdict.reason) or "changed")
    cut = _cut(arrival.text, verdict, handle)
    return plan if cut is None else plan.then(verdict, cut, final=True)


def _cut(text: str, verdict: Verdict, handle: str) -> str | None:
    """``text`` with a stub in place of each gap between the kept spans; None for spans that do not fit it."""
    edges = [0, *(edge for span in verdict.keep for edge in span), len(text)]
    if edges != sorted(edges):
        return None
    gaps = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
    out = [text[: gaps[0][0]]] if gaps else []
    for number, (start, end) in enumerate(gaps):
        mark = stub.gap(handle, *_label(verdict, number, start, end, len(text))) + "\n"
        mark = mark if start == 0 or text[start - 1] == "\n" else "\n" + mark
        if len(mark) >= end - start:
            return None
        following = gaps[number + 1][0] if number + 1 < len(gaps) else len(text)
        out += (mark, text[end:following])
    return "".join(out) if gaps else None


def _label(verdict: Verdict, number: int, start: int, end: int, size: int) -> tuple[str, int, int, int]:
    first, last = verdict.gaps[number] if number < len(verdict.gaps) else (0, 0)
    if 1 <= first <= last <= verdict.total <= size:
        return plain(verdict.unit), first, last, verdict.total
    return "characters", start + 1, end, size


def plain(words: str) -> str:
    """Words for the inside of a stub: what a policy calls things must not end the stub, or begin another."""
    return " ".join(words.translate({ord("["): "(", ord("]"): ")"}).split())


def _finish(arrival: Arrival, plan: _Plan, count: Callable[[str], int], mint: Callable[[bytes], str]) -> Edit | None:
    """The edit that a plan comes to: with the last verdicts left out that make nothing smaller, or None."""
    if not plan.verdicts:
        return None
    handle, before, defused = mint(arrival.content), count(arrival.text), stub.defuse(arrival.text)
    step: _Plan | None = plan
    while step is not None and step.verdicts:
        text = f"{step.arrival.text}\n{stub.note(handle, plain(step.note))}" if step.note else step.arrival.text
        after = count(text)
        smaller = after < before and len(text) < len(arrival.text)
        # Defusing is for safety and may cost a few tokens; nothing else may.
        if smaller or (text == defused and text != arrival.text):
            return _edit(arrival, step.verdicts, text, handle, before, after)
        step = step.before
    return None


def encodable(text: str) -> bool:
    """Whether UTF-8 can carry it: one with lone surrogates goes on as it came, since the journal could not hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
