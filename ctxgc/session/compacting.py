"""Compacting: a span of a history gives way to a typed record that is made from its originals.

Rule: it is prepared when a request has left, never while one waits; whatever goes wrong in it, the history is sent as
it was. What a model says of the span may be in the record, and the record does without it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ctxgc.core import stub
from ctxgc.core.cells import NewCell
from ctxgc.core.collector import Edit
from ctxgc.core.heap import content_digest
from ctxgc.core.nodes import Node
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Policy
from ctxgc.core.record import Original, deterministic, with_items
from ctxgc.core.record_text import render, whole
from ctxgc.core.state import State
from ctxgc.policies.compact import Compact
from ctxgc.session import forms
from ctxgc.session.admission import Meter
from ctxgc.session.collecting import Standing, circumstances
from ctxgc.session.cutting import cut
from ctxgc.session.drafts import Draft, Span
from ctxgc.session.kit import Kit
from ctxgc.session.originals import Originals
from ctxgc.session.questions import Questions, said
from ctxgc.session.reading import TOOL_NAME
from ctxgc.session.tags import RECORD
from ctxgc.session.transcribing import transcribed

TAG = RECORD
LARGE = 4_000
"""Tokens above which a result is not shown again where a pointer to it has lost what it stood for."""
NOTHING = "nothing is posted in the ledger: begin with the task and what is still open"
REFUSALS = 3
"""Drafts that may break a rule of the format before no more are made in a session."""
DRAFTS = 8
"""Histories for which a draft is kept ready."""
SMALLEST = 400
"""Tokens that any record may take."""


@dataclass(slots=True)
class Compacting:
    """Prepares the compactions of one session, on these ``terms`` (None: there are none).

    ``balance`` gives the ledger's opening balance for a history, counted by a counter, and how far in the ledger's log
    it goes; ``listed`` all facts that stand.
    """

    state: State
    kit: Kit
    pacer: Pacer
    mint: Callable[[bytes], str]
    terms: Compact | None
    balance: Callable[[Callable[[str], int], int], tuple[str, int]] = lambda _count, _head: ("", -1)
    listed: Callable[[], str] = lambda: ""
    advice: dict[int, str] = field(default_factory=dict)
    """By the end of a history that may not be compacted again and should be: what a new window would begin with."""
    questions: Questions = field(init=False)
    _drafts: OrderedDict[int, Draft | None] = field(default_factory=OrderedDict)
    _refused: int = 0

    def __post_init__(self) -> None:
        self.questions = Questions(self.state, self.kit, self.pacer)

    def ready(self, head: int, *, urgent: bool = True) -> Draft | None:
        """What was prepared for the request after the one that ends at ``head``; unless it is ``urgent``, not while a
        model is being asked about it."""
        return self._drafts.get(head) if urgent or not self.questions.out else None

    def planned(self, head: int) -> bool:
        """Whether it was looked into what could be done."""
        return head in self._drafts

    def made(self, head: int) -> bool:
        """Whether a draft was made, even one that waits for an answer."""
        return self._drafts.get(head) is not None

    def refused(self) -> None:
        """Note that the last check has thrown a draft away: after some, no more are made."""
        self._refused += 1

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
            originals = yield from self.originals(head, span, texts)
            draft = yield from self._draft(head, span, trigger, self.state.node(until).turn, originals, texts, meter)
            if draft is not None:
                now = circumstances(self.state, tariff, head, standing.tokens, fresh, cold=False)
                self.questions.consider(draft, self.state.path(head), originals, meter, tariff, now)
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
        stays = frozenset(span.kept)
        within = stays.union(span.dropped)
        inside = [node for node in self.state.path(head) if node.id in within]
        found = yield from transcribed(self.state, inside, texts.message, self.mint)
        return [replace(one, pinned=True) if one.node in stays else one for one in found]

    def _draft(
        self,
        head: int,
        span: Span,
        trigger: str,
        since: int,
        originals: Sequence[Original],
        texts: Originals,
        meter: Meter,
    ) -> Generator[None, None, Draft | None]:
        assert self.terms is not None
        path = self.state.path(head)
        behind = path[self.state.nodes[span.upto].depth + 1 :]
        items, resolved, by = said(self.state, path)
        record = deterministic(originals, running=behind[0].role != "user", tokens=span.before)
        yield
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
