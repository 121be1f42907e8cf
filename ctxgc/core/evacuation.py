"""Evacuation: what the policies say of residents, the cells that were sent before, checked and made into edits.

Rule: only the text of tool results and old reasoning ever goes, never what is pinned, quoted by an edit to come, or
pointed at by a stub; nothing goes that would not be smaller, and what goes leaves its handle.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.core import stub
from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit, encodable, plain
from ctxgc.core.digest import Excerpt
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Policy, Urgency, Verdict

GAP = "\u2026\n"
"""The line that stands for lines left out."""
SILENCE = " "
"""What is left of reasoning: some providers insist on it being there (DeepSeek, Moonshot), and take one space."""
LATEST = 1 << 31
"""Turns: nothing is due later, and who says so is mistaken."""
LEAST = 16
"""Tokens that an evacuation must save: less is not worth a change of what was sent."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit of a resident that policies ask for: since when it is due, how urgently, and what it saves each turn."""

    edit: Edit
    position: int
    since: int
    urgency: Urgency
    saved: int


@dataclass(frozen=True, slots=True)
class Reprieve:
    """A resident that stays though a policy would have it go, and why."""

    cell: int
    policy: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What may be evacuated, newest first, what was reprieved, and which policies failed."""

    candidates: tuple[Candidate, ...] = ()
    reprieves: tuple[Reprieve, ...] = ()
    faults: tuple[str, ...] = ()


Render = Callable[[Resident, Verdict], Edit | None]
"""Makes the edit of a resident that a verdict asks for; None where it would not be smaller."""


def planning(
    heap: Heap, policies: Sequence[Policy], pointers: Mapping[int, int], render: Render
) -> Generator[None, None, Plan]:
    """Ask the policies about the residents, in slices: yields after each policy, and before each edit that is made.

    ``pointers`` maps cells that are only a pointer to what they point at.
    """
    residents = {resident.id: resident for resident in heap.residents}
    verdicts: dict[int, list[Verdict]] = {}
    reprieves: list[Reprieve] = []
    faults: list[str] = []
    for policy in policies:
        for verdict in _proposed(policy, heap, faults):
            resident = residents.get(verdict.cell)
            if resident is None or verdict.excerpt is None or not _sensible(verdict):
                continue
            why = _protected(resident, verdict)
            if why:
                reprieves.append(Reprieve(resident.id, verdict.policy, why))
            else:
                verdicts.setdefault(resident.id, []).append(verdict)
        yield
    found: dict[int, Candidate] = {}
    for cell, said in verdicts.items():
        one = _smallest(residents[cell], said, render)
        if one is not None:
            found[cell] = one
        yield
    # A pointer goes with what it points at: it is newer, so that whoever takes that takes it, too.
    for target in {target for cell, target in pointers.items() if cell not in found} & found.keys():
        reprieves.append(Reprieve(target, found.pop(target).edit.policy, "a later result points at it"))
    ordered = sorted(found.values(), key=lambda one: (-one.position, one.edit.cell))
    return Plan(tuple(ordered), tuple(reprieves), tuple(faults))


def _proposed(policy: Policy, heap: Heap, faults: list[str]) -> tuple[Verdict, ...]:
    """What a policy says; one that fails, since it may be anyone's, says nothing."""
    try:
        return tuple(policy.propose(heap))
    except Exception as error:
        faults.append(f"policy failed: {type(error).__name__}")
        return ()


def evacuate(
    resident: Resident,
    verdict: Verdict,
    text: str,
    part: Excerpt,
    handle: str,
    count: Callable[[str], int],
    *,
    offered: bool,
) -> Edit | None:
    """The edit that leaves ``part`` of a resident's original ``text``; None where that saves too little."""
    if not encodable(text):
        return None
    before = count(text)
    head = stub.evacuated(handle, _amount(part, before), why(verdict), offered=offered)
    left = SILENCE if resident.kind is Kind.THINKING else "\n".join((head, _body(text, part.spans))).rstrip("\n")
    after = count(left)
    if after + LEAST > before or len(left) >= len(text):
        return None  # no smaller than the original; whether it is smaller than what is sent, the caller sees
    return Edit(resident.id, verdict.policy, verdict.action, verdict.reason, left, handle, before, after)


def why(verdict: Verdict) -> str:
    """The reason in words that stay the same from turn to turn: a stub is made once."""
    words = plain(verdict.reason)
    return "unused" if any(map(str.isdigit, words)) or not words else words


def _amount(part: Excerpt, tokens: int) -> str:
    """How much of a text is left, or how much it was."""
    if part.kept:
        return f"{part.kept} of {part.total} {part.unit} kept"
    return f"{part.total} {part.unit} not shown" if part.total > 1 else f"{tokens} tokens not shown"


def _body(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The kept spans, with a mark for each gap between and after them; without any, nothing."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if start > at:
            parts.append(GAP)
        piece = stub.defuse(text[start:end])
        parts.append(piece if piece.endswith("\n") else f"{piece}\n")
        at = end
    if spans and at < len(text):
        parts.append(GAP)
    return "".join(parts)


def _protected(resident: Resident, verdict: Verdict) -> str:
    """Why a resident may not go; empty where it may."""
    if resident.pinned:
        return "pinned"
    if resident.kind not in (Kind.TOOL_RESULT, Kind.THINKING):
        return "only results and reasoning are collected"
    if resident.kind is Kind.THINKING and verdict.excerpt:
        return "reasoning goes as a whole or not at all"
    return ""


def _sensible(verdict: Verdict) -> bool:
    share, since = verdict.excerpt, verdict.since
    if type(since) is not int or not 0 <= since <= LATEST:
        return False
    words = f"{verdict.policy}{verdict.action}{verdict.reason}"
    return (
        share is not None
        and 0 <= share <= 1
        and verdict.density >= 0
        and encodable(words)
        and verdict.urgency in ("priced", "now", "forced")
    )


def _smallest(resident: Resident, said: Iterable[Verdict], render: Render) -> Candidate | None:
    """The verdict that leaves least; it is due since the first of those that leave as little."""
    best: Candidate | None = None
    for verdict in said:
        edit = render(resident, verdict)
        if edit is None:
            continue
        saved = resident.sent - (resident.tokens - edit.before + edit.after)
        if saved >= (-LEAST if resident.points else LEAST) and (best is None or saved > best.saved):
            best = Candidate(edit, resident.position, verdict.since, verdict.urgency, saved)
    return best
