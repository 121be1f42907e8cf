"""Collecting: which residents of a history could go, prepared while the upstream thinks, and decided when it is asked.

Rule: what a request needs before it leaves is a look at figures that are ready; only when something is collected is
the history gone through. A plan follows from the state and the texts alone, so that a restart makes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ctxgc.core import stub
from ctxgc.core.block import Kind
from ctxgc.core.collector import Edit
from ctxgc.core.digest import excerpt
from ctxgc.core.evacuation import Candidate, Plan, evacuate, planning, why
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.journal import Pace
from ctxgc.core.nodes import Marks, Node
from ctxgc.core.pacer import Circumstances, Decision, Load, Pacer, Tariff
from ctxgc.core.policy import Policy, Verdict
from ctxgc.core.state import State
from ctxgc.session.drafts import Draft

SLICE = 256
"""Cells looked at between two points at which an event loop may serve others."""
YOUNG = 8
"""Turns; a collection of nothing older is a minor one."""

_COLLECTED = (Kind.TOOL_RESULT, Kind.THINKING)

Texts = Callable[[int], str]
"""The original text of a cell of the history in hand."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What could be collected from the history that ends at ``head``, before the next request is known.

    ``tokens`` are those of the whole request as it was sent, the tool list in it; ``due`` says whether a warm cache
    suffices; ``marked`` is how often the session's references had changed, which plans for several histories share.
    """

    head: int
    plan: Plan
    loads: tuple[Load, ...]
    tokens: int
    surplus: int
    due: bool
    marked: int = 0


@dataclass(frozen=True, slots=True)
class Collected:
    """What is collected with a request: the edits of residents, and how it was decided; the ``compaction`` that is
    made with it, and the ``news`` from the ledger at its end, which go up to the position ``told`` in its log."""

    edits: tuple[Edit, ...]
    pace: Pace
    generation: str = "minor"
    compaction: Draft | None = None
    news: tuple[bytes, ...] = ()
    told: int = -1


@dataclass(slots=True)
class Collecting:
    """Plans and decides for one session."""

    state: State
    policies: Sequence[Policy]
    pacer: Pacer
    mint: Callable[[bytes], str]
    said: Callable[[str, int], bool] = lambda _term, _turn: False
    _rendered: dict[tuple[int, float, float, str, bool], tuple[int, int, Edit | None]] = field(default_factory=dict)

    def standing(
        self,
        head: int,
        toolset: int,
        tariff: Tariff,
        quotable: frozenset[int],
        texts: Texts,
        count: Callable[[str], int],
        fresh: int = 0,
    ) -> Generator[None, None, Standing]:
        """Plan for the request after the one that ends at ``head``, in slices."""
        state, marked = self.state, self.state.marked
        path = state.shown(head)
        residents: list[Resident] = []
        learned = _resurrections(state)
        pointers = {cell: edit.of for cell, edit in state.edits.items() if edit.of is not None}
        for node in path:
            residents += _residents(state, node, quotable, learned)
            if node.depth % SLICE == SLICE - 1:
                yield
        tokens = self._tokens(head, toolset)
        surplus = self.pacer.surplus(tariff, tokens + fresh)
        heap = Heap((), count, lambda _: None, _turn(state, head), stub.TOKENS, residents, surplus)
        render = partial(self._render, texts=texts, count=count, offered=state.node(head).offer >= 0)
        found = yield from planning(heap, self.policies, pointers, render)
        yield
        loads = tuple(self._load(candidate, head) for candidate in found.candidates)
        now = circumstances(state, tariff, head, tokens, fresh, cold=False)
        offers = [load for load in loads if _offered(load, tariff, now, forced=bool(surplus))]
        decision = self.pacer.decide(offers, tariff, now)
        return Standing(head, found, loads, tokens, surplus, bool(decision.taken), marked)

    def decide(
        self, standing: Standing, referred: frozenset[int], tariff: Tariff, fresh: int, *, cold: bool
    ) -> tuple[Decision, tuple[Candidate, ...]]:
        """What is collected now that the request is known; ``referred`` are the cells that its new messages need."""
        forced = bool(self.pacer.surplus(tariff, standing.tokens + fresh))
        edits = ((cell, self.state.edits.get(cell)) for cell in referred)
        referred |= {edit.of for _, edit in edits if edit is not None and edit.of is not None}
        now = circumstances(self.state, tariff, standing.head, standing.tokens, fresh, cold=cold)
        pairs = [
            (candidate, load)
            for candidate, load in zip(standing.plan.candidates, standing.loads, strict=True)
            if candidate.edit.cell not in referred and _offered(load, tariff, now, forced=forced)
        ]
        decision = self.pacer.decide([load for _, load in pairs], tariff, now)
        return decision, tuple(candidate for candidate, _ in pairs[: decision.taken])

    def compact(self, draft: Draft, standing: Standing, tariff: Tariff, fresh: int, *, cold: bool) -> Decision:
        """Whether a history is compacted now that the request is known, and the figures this is decided by.

        What evacuation can do is not done by compaction: a forced one is for where that is not enough.
        """
        now = circumstances(self.state, tariff, standing.head, standing.tokens, fresh, cold=cold)
        surplus = self.pacer.surplus(tariff, standing.tokens + fresh)
        forced = draft.load().urgency == "forced"
        if forced and (not surplus or sum(load.saved for load in standing.loads) >= surplus):
            return Decision()
        return self.pacer.decide([draft.load()], tariff, now)

    def generation(self, candidates: Sequence[Candidate], head: int) -> str:
        """``minor`` where only young cells go, else ``major``."""
        now = _turn(self.state, head)
        return "minor" if all(now - self.state.cells[one.edit.cell].turn <= YOUNG for one in candidates) else "major"

    def _tokens(self, head: int, toolset: int) -> int:
        """Of the request that ended at ``head``: what stands of ours behind it and did not leave with it is fresh."""
        offered = self.state.heads[head].offered
        return self.state.tokens(head, toolset, sent=True, offered=offered) - self.state.fresh(head)

    def forget(self) -> None:
        """Let go of the edits that were made ready."""
        self._rendered.clear()

    def _load(self, candidate: Candidate, head: int) -> Load:
        """``behind`` is what of the history was sent from the cell's message on."""
        node = self.state.nodes[self.state.owners[candidate.edit.cell]]
        before = self.state.sent(node.parent, node.id)
        behind = sum(self.state.left(head).values()) - sum(before.values())
        return Load(candidate.saved, behind, candidate.since, candidate.urgency)

    def _render(
        self, resident: Resident, verdict: Verdict, texts: Texts, count: Callable[[str], int], *, offered: bool
    ) -> Edit | None:
        """The edit for a verdict; made once, since neither the text nor what is kept of it changes by itself.

        ``offered`` says that the history offers the recall tool: then its stubs need not say how to see the rest.
        """
        assert verdict.excerpt is not None
        key = resident.id, verdict.excerpt, verdict.density, why(verdict), offered
        known = self._rendered.get(key)
        if known is None or known[:2] != (len(resident.marks), resident.referenced):
            edit = self._edit(resident, verdict, texts(resident.id), count, offered=offered)
            known = self._rendered[key] = len(resident.marks), resident.referenced, edit
        edit = known[2]
        return edit and replace(edit, policy=verdict.policy, action=verdict.action, reason=verdict.reason)

    def _edit(
        self, resident: Resident, verdict: Verdict, text: str, count: Callable[[str], int], *, offered: bool
    ) -> Edit | None:
        assert verdict.excerpt is not None
        # Of what was said later than that, nothing counts: an excerpt is the same whenever it is made.
        known = partial(self._known, turn=resident.referenced + 1)
        share = 0.0 if resident.points else verdict.excerpt  # what it holds is kept where it points to
        part = excerpt(text, resident.tokens, share, resident.marks, verdict.density, known)
        handle = self.mint(self.state.cells[resident.id].content)
        return evacuate(resident, verdict, text, part, handle, count, offered=offered)

    def _known(self, term: str, *, turn: int) -> bool:
        return self.said(term, turn)


def circumstances(state: State, tariff: Tariff, head: int, tokens: int, fresh: int, *, cold: bool) -> Circumstances:
    """What a decision about the request after ``head`` depends on: its ``tokens`` of old and ``fresh`` ones.

    What models were asked about spans is paid too: at the price of uncached input, as if the session's own were asked.
    """
    pace, toolset = state.pace, state.heads[head].toolset if head in state.heads else -1
    received = state.tokens(head, toolset, sent=False)
    paid = pace.paid + tariff.write * state.asked
    return Circumstances(_turn(state, head), tokens, fresh, cold, received, paid, pace.untouched)


def changed(state: State, edits: Sequence[Edit]) -> Mapping[int, Mapping[int, str]]:
    """The texts by block number of each node that these edits change, with the edits that it has."""
    found: dict[int, dict[int, str]] = {}
    for edit in edits:
        node = state.nodes[state.owners[edit.cell]]
        found.setdefault(node.id, dict(node.edits))[edit.cell - node.cells[0]] = edit.text
    return found


def _offered(load: Load, tariff: Tariff, now: Circumstances, *, forced: bool) -> bool:
    """Whether a candidate comes into question: forced ones only where room is made, and early ones only where they
    save a rewrite of their own later, which without a cache costs nothing."""
    if load.urgency == "forced":
        return forced
    return load.since <= now.turn or tariff.read < tariff.write


def _turn(state: State, head: int) -> int:
    """The turn of the reply that the next request will carry: what it says cannot be known yet."""
    return state.node(head).turn + 1


def _resurrections(state: State) -> Mapping[str, int]:
    """How often results of each tool were recalled."""
    found: dict[str, int] = {}
    for cell, times in state.resurrected.items():
        tool = state.cells[cell].site.partition("(")[0]
        found[tool] = found.get(tool, 0) + times
    return found


def _residents(
    state: State, node: Node, quotable: frozenset[int], learned: Mapping[str, int]
) -> Generator[Resident, None, None]:
    for number in node.cells:
        cell = state.cells[number]
        if cell.kind not in _COLLECTED or cell.fixed:
            continue
        marks = state.marks.get(number, _UNMARKED)
        gone, edit = state.overwritten.get(number), state.edits.get(number)
        yield Resident(
            id=number,
            position=node.depth,
            kind=cell.kind,
            tag=cell.tag,
            site=cell.site,
            tokens=cell.tokens,
            sent=cell.sent,
            turn=cell.turn,
            pinned=cell.pinned,
            referenced=max(cell.turn, marks.turn),
            references=marks.count,
            marks=marks.at,
            stale=gone.why if gone and not gone.overcome else "",
            overcome=bool(gone and gone.overcome),
            quotable=number in quotable,
            resurrected=learned.get(cell.site.partition("(")[0], 0),
            edited=f"{edit.policy}: {edit.action}" if edit else "",
            points=edit is not None and edit.of is not None,
        )


_UNMARKED = Marks()
