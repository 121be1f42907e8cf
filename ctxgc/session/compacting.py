"""Compacting: a span of a history gives way to a typed record that is made from its originals.

Rule: it is prepared when a request has left, never while one waits; whatever goes wrong in it, the history is sent as
it was. What a model says of the span may be in the record, and the record does without it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from ctxgc.core import stub
from ctxgc.core.cells import NewCell
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Item
from ctxgc.core.heap import content_digest
from ctxgc.core.nodes import Node
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.record import Original, Record, deterministic, still_open, with_items
from ctxgc.core.record_text import render, whole
from ctxgc.core.state import State
from ctxgc.policies.compact import Compact
from ctxgc.session import forms
from ctxgc.session.admission import Meter
from ctxgc.session.collecting import Standing
from ctxgc.session.cutting import cut
from ctxgc.session.drafts import Draft, Span
from ctxgc.session.kit import Kit
from ctxgc.session.originals import Originals
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.transcribing import transcribed
from ctxgc.summarise import Breaker, Job

TAG = "summary"
LARGE = 4_000
"""Tokens above which a result is not shown again where a pointer to it has lost what it stood for."""
NOTHING = "nothing is posted in the ledger: begin with the task and what is still open"
LEAST = 2_000
"""Characters of a span below which no model is asked about it."""
SHARE = 4
"""The part of a span, one in so many, that no model was asked about yet, from which on one is asked."""
WINDOW = 32_000
"""Tokens that a summariser's window is taken to have, if it is not known."""
REFUSALS = 3
"""Drafts that may break a rule of the format before no more are made in a session."""
DRAFTS = 8
"""Histories for which a draft is kept ready."""
SMALLEST = 400
"""Tokens that any record may take."""


@dataclass(slots=True)
class Compacting:
    """Prepares the compactions of one session. ``faults`` are why one could not be made."""

    state: State
    kit: Kit
    pacer: Pacer
    mint: Callable[[bytes], str]
    terms: Compact | None
    balance: Callable[[Callable[[str], int], int], tuple[str, int]] = lambda _count, _head: ("", -1)
    listed: Callable[[], str] = lambda: ""
    advice: dict[int, str] = field(default_factory=dict)
    """By the end of a history that may not be compacted again and should be: what a new window would begin with."""
    jobs: list[Job] = field(default_factory=list)
    """What is to be asked of a model, for whoever takes it."""
    _drafts: OrderedDict[int, Draft | None] = field(default_factory=OrderedDict)
    _asked: bool = False
    _refused: int = 0

    def ready(self, head: int, *, urgent: bool = True) -> Draft | None:
        """What was prepared for the request after the one that ends at ``head``; unless it is ``urgent``, not while a
        model is being asked about it."""
        return self._drafts.get(head) if urgent or not self._asked else None

    def planned(self, head: int) -> bool:
        """Whether it was looked into what could be done."""
        return head in self._drafts

    def made(self, head: int) -> bool:
        """Whether a draft was made, even one that waits for an answer."""
        return self._drafts.get(head) is not None

    def refused(self) -> None:
        """Note that the last check has thrown a draft away: after some, no more are made."""
        self._refused += 1

    def answered(self) -> None:
        """Wait for no answer any more."""
        self._asked = False

    def forget(self) -> None:
        """Let go of what was prepared."""
        self._drafts.clear()

    def wanted(self, standing: Standing, tariff: Tariff, fresh: int = 0) -> tuple[str, int]:
        """Why a history should be compacted, and up to which node (-1: as far as may be); empty for not at all."""
        surplus = self.pacer.surplus(tariff, standing.tokens + fresh)
        if surplus and sum(load.saved for load in standing.loads) < surplus:
            full = tariff.window and standing.tokens + fresh > self.pacer.high * tariff.window
            return ("window" if full else "quality"), -1
        reached = self._milestone(standing.head)
        return ("milestone", reached) if reached >= 0 else ("", -1)

    def preparing(
        self, standing: Standing, texts: Originals, meter: Meter, tariff: Tariff, fresh: int = 0
    ) -> Generator[None, None, Draft | None]:
        """Make the draft for the request after the one that ends at ``standing.head``, in slices; None for none."""
        head, draft = standing.head, None
        trigger, until = self.wanted(standing, tariff, fresh) if self.terms and not self.state.plain else ("", -1)
        if trigger and not self._may(head, tariff):
            self.advice[head] = self._advised(head, meter)
        elif trigger and (span := self.span(head, tariff, until, texts)):
            draft = yield from self._draft(head, span, trigger, self.state.node(until).turn, texts, meter)
        self._drafts.pop(head, None)
        self._drafts[head] = draft
        while len(self._drafts) > DRAFTS:
            self.advice.pop(self._drafts.popitem(last=False)[0], None)
        return draft

    def _may(self, head: int, tariff: Tariff) -> bool:
        """Whether a history may be compacted once more."""
        made = self.state.node(head).compacted
        if tariff.binds_thinking or self._refused >= REFUSALS:
            return False
        return made is None or self.terms is None or made.number < self.terms.limit

    def _advised(self, head: int, meter: Meter) -> str:
        """What a new window would begin with: the opening balance, or else the record that stands in this one."""
        made = self.state.node(head).compacted
        blocks = self.kit.codec.decode(made.messages[-1]).blocks if made else ()
        return self.balance(meter.count, -1)[0] or "".join(block.text for block in blocks) or NOTHING

    def span(self, head: int, tariff: Tariff, until: int, texts: Originals) -> Span | None:
        """What of a history can go; None where it is not worth a record."""
        assert self.terms is not None
        terms, window = self.terms, tariff.window
        limit = min((size for size in (int(window * self.pacer.low), self._quality()) if size), default=0)
        tail = min(terms.tail, limit // 2) if limit else terms.tail
        found = cut(self.state, head, tail, until, read=texts.message)
        least = min(terms.saving, limit // 4) if limit else terms.saving
        return found if found is not None and found.before >= max(least, 2 * _budget(terms, found)) else None

    def originals(self, head: int, span: Span, texts: Originals) -> Generator[None, None, list[Original]]:
        """The originals of a span, in order, in slices: of what stays in it, too."""
        inside = [node for node in self.state.path(head) if node.id in {*span.dropped, *span.kept}]
        found = yield from transcribed(self.state, inside, texts.message, self.mint)
        stays = frozenset(span.kept)
        return [replace(one, pinned=True) if one.node in stays else one for one in found]

    def _draft(
        self, head: int, span: Span, trigger: str, since: int, texts: Originals, meter: Meter
    ) -> Generator[None, None, Draft | None]:
        assert self.terms is not None
        originals = yield from self.originals(head, span, texts)
        path = self.state.path(head)
        behind = path[self.state.nodes[span.upto].depth + 1 :]
        items, resolved, by = said(self.state, path)
        self._ask(span, path, originals, meter)
        record = deterministic(originals, running=behind[0].role != "user", tokens=span.before)
        record = with_items(record, items, resolved)
        full = "\n".join(filter(None, (whole(record, originals), self.listed()))).encode("utf-8", "replace")
        handle = self.mint(hashlib.sha256(full).digest()[:16])
        opening, told = self.balance(meter.count, head)
        yield
        text = render(record, handle=handle, budget=_budget(self.terms, span), count=meter.count, opening=opening)
        messages = self._messages(head, span, behind, text, handle)
        if not messages:
            return None
        gone = frozenset(cell for number in span.dropped for cell in self.state.nodes[number].cells)
        edits = tuple(self._pointers((*map(self.state.node, span.kept), *behind), gone, texts, meter))
        known = self.state.by_handle
        handles = {one.handle: one.cell for one in originals if one.handle and one.handle not in known}
        draft = Draft(
            span, trigger, since, messages, tuple(self._cells(messages, meter)), full, handle, handles,
            edits, by, told, gone, sum(edit.after - self.state.edits[edit.cell].after for edit in edits),
        )  # fmt: skip
        return draft if draft.load().saved > 0 else None

    def _ask(self, span: Span, path: Sequence[Node], originals: Sequence[Original], meter: Meter) -> None:
        """Have a model asked about what of a span none was asked about yet, unless they have failed too often."""
        summariser, state = self.kit.summariser, self.state
        if summariser is None or self._asked or not Breaker.of(state.outcomes).asks:
            return
        depths = {node.id: node.depth for node in path}
        done = max((depths.get(one.upto, -1) for one in state.summaries), default=-1)
        unsaid = tuple(one for one in originals if depths[one.node] > done and not one.pinned)
        size = sum(len(one.text) for one in originals)
        if sum(len(one.text) for one in unsaid) < max(LEAST, size // SHARE):
            return
        items, resolved, _ = said(state, path)
        model = summariser.model or state.heads[path[-1].id].model
        job = Job(
            model=model, originals=unsaid, count=meter.count, after=span.after, upto=span.upto, at=self.kit.clock(),
            still_open=still_open(with_items(Record(), items, resolved)), number=len(items),
            window=summariser.window or self.kit.tariff(model).window or WINDOW,
        )  # fmt: skip
        self.jobs.append(job)
        self._asked = True

    def _quality(self) -> int:
        return int(self.pacer.quality * self.pacer.low / self.pacer.high)

    def _milestone(self, head: int) -> int:
        """The newest node of a history up to which the host has said that something is done; -1 for none."""
        made, path = self.state.node(head).compacted, self.state.path(head)
        ends = {one.head for one in self.state.milestones}
        found = next((node for node in reversed(path) if node.id in ends), None)
        if found is None or (made is not None and found.depth <= self.state.nodes[made.upto].depth):
            return -1
        return found.id

    def _messages(self, head: int, span: Span, behind: Sequence[Node], text: str, handle: str) -> tuple[bytes, ...]:
        """As a recall where the agent speaks next, and else as words of the agent's. None where thinking that is signed
        would stand behind it."""
        state = self.state
        first = state.nodes[min(span.kept)] if span.kept else behind[0]
        speaks = first.role not in ("user", "system", "developer")
        bound = forms.signed(state, behind)
        if speaks and bound:
            return ()
        tool = forms.tool(state, head, signed=bound) if speaks else ""
        reasons = forms.reasons(state, (state.nodes[span.following], *behind))
        return self.kit.codec.record(text, handle, tool, reasoning=reasons)

    def _cells(self, messages: Sequence[bytes], meter: Meter) -> Iterator[NewCell]:
        for raw in messages:
            for block in self.kit.codec.decode(raw).blocks:
                yield NewCell(
                    str(block.kind), TAG, TOOL_NAME, meter.measure(block), content_digest(block.text), True,
                    exact=meter.exact,
                )  # fmt: skip

    def _pointers(self, stays: Iterable[Node], gone: frozenset[int], texts: Originals, meter: Meter) -> Iterator[Edit]:
        """What pointed to a result that goes is shown itself again, or says where it is."""
        for node in stays:
            for cell in node.cells:
                edit = self.state.edits.get(cell)
                if edit is not None and edit.of in gone:
                    yield _restored(edit, texts(cell), meter)


def said(state: State, path: Sequence[Node]) -> tuple[tuple[Item, ...], frozenset[int], str]:
    """What models have said of a history: the items, the numbers of those that are done with, and which model.

    Items are numbered in the order of the log; those of other histories keep their places, and say nothing.
    """
    here = {node.id for node in path}
    items: list[Item] = []
    resolved: set[int] = set()
    by = ""
    for summary in state.summaries:
        if summary.upto in here:
            items += summary.items
            resolved |= set(summary.resolved)
            by = summary.model if summary.items else by
        else:
            items += (structs.replace(item, field="") for item in summary.items)
    return tuple(items), frozenset(resolved), by


def _restored(edit: Edit, text: str, meter: Meter) -> Edit:
    gone = stub.note(edit.handle, "same output as an earlier one that is not shown any more")
    shown = stub.defuse(text) if edit.before <= LARGE else gone
    reason = "what it pointed to is not shown any more"
    return replace(
        edit, policy="compaction", action="restore", reason=reason, text=shown, after=meter.count(shown), of=None
    )


def _budget(terms: Compact, span: Span) -> int:
    """Tokens that the record of a span may take."""
    return max(min(terms.record, span.before // 4), SMALLEST)


def terms_of(policies: Sequence[Policy]) -> Compact | None:
    """The terms that the policies ask for; None where nothing is to be compacted."""
    return next((policy for policy in policies if isinstance(policy, Compact)), None)
