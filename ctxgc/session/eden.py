"""Eden: what becomes of messages that were never forwarded. Makes their arrivals and asks the collector about them.

Rule: decisions here look only at what came before a message in its own history, so that the same history gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxgc.core import stub
from ctxgc.core.block import Author, Block, Kind
from ctxgc.core.collector import Edit, collect_eden
from ctxgc.core.heap import Arrival, Heap, content_digest, site_of, tag_of
from ctxgc.core.policy import Policy
from ctxgc.core.state import State
from ctxgc.session.recognise import Draft


@dataclass(frozen=True, slots=True)
class Planned:
    """A draft with its cells-to-be and what was decided about them."""

    draft: Draft
    arrivals: tuple[Arrival, ...]
    edits: tuple[Edit, ...] = ()

    def texts(self) -> Mapping[int, str]:
        """The edited texts by block number."""
        first = self.arrivals[0].id
        return {edit.cell - first: edit.text for edit in self.edits}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a session decides by: its policies, how it counts, its handles, and the tools that retrieve."""

    policies: Sequence[Policy]
    count: Callable[[str], int]
    mint: Callable[[bytes], str]
    retrieval: Callable[[str], str | None]


@dataclass(slots=True)
class Eden:
    """Plans the drafts of one request, in order; ``parent`` is the node they follow, ``cell`` the next cell's id."""

    state: State
    rules: Rules
    parent: int
    cell: int
    begun: bool
    faults: list[str] = field(default_factory=list)
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    _new: dict[tuple[str, bytes], int] = field(default_factory=dict)
    _sites: dict[int, str] = field(default_factory=dict)
    _edits: dict[int, Edit] = field(default_factory=dict)

    def plan(self, draft: Draft) -> Planned:
        """Give a draft its cells and, if it is eden, run the policies over them."""
        arrivals = tuple(self._arrival(draft, block) for block in draft.message.blocks)
        self.begun = self.begun or draft.message.author is Author.USER
        edits = self._collect(draft, arrivals) if draft.eden else ()
        self._edits.update((edit.cell, edit) for edit in edits)
        hidden = {edit.cell for edit in edits if edit.of is not None}
        for arrival in arrivals:
            self._sites[arrival.id] = arrival.site
            if arrival.block.kind is Kind.TOOL_RESULT and arrival.id not in hidden:
                self._new[arrival.site, arrival.content] = arrival.id
        return Planned(draft, arrivals, edits)

    def _arrival(self, draft: Draft, block: Block) -> Arrival:
        name, site = self._origin(block)
        block = replace(block, name=clean(name), call_id=clean(block.call_id))
        mark = draft.message.mark
        task = block.author is Author.USER and not self.begun
        tag = clean(mark.tag or tag_of(block, self.rules.retrieval))
        self.cell += 1
        return Arrival(
            id=self.cell - 1,
            block=block,
            tag=tag,
            site=site,
            pinned=mark.pin or task or block.author is Author.SYSTEM or self._pins(tag, site),
            text=block.text,
            content=content_digest(block.text),
        )

    def _pins(self, tag: str, site: str) -> bool:
        """Whether the application has asked, by a policy, to keep what has this tag or comes from this site."""
        try:
            pins = (getattr(policy, "pins", None) for policy in self.rules.policies)
            return any(ask(tag, site) for ask in pins if callable(ask))
        except Exception as error:  # a policy may be anyone's
            fault = f"policy failed: {type(error).__name__}"
            self.faults += [] if fault in self.faults else [fault]
            return True

    def _origin(self, block: Block) -> tuple[str, str]:
        """The tool's name and the allocation site; a result has those of its call."""
        if block.kind is Kind.TOOL_CALL:
            site = clean(site_of(block, block.text))
            self._calls[block.call_id] = (block.name, site)
            return block.name, site
        if block.author is Author.TOOL:
            name, site = self._calls.get(block.call_id) or self._earlier_call(block)
            return block.name or name, site
        return block.name, clean(site_of(block))

    def _earlier_call(self, block: Block) -> tuple[str, str]:
        """The call in the known part that this result answers: it stands at the newest agent message before it."""
        node = self.state.node(self.parent)
        while node.id >= 0:
            cell = self.state.call_sites.get((node.id, clean(block.call_id)))
            if cell is not None:
                found = self.state.cells[cell]
                return found.site.partition("(")[0], found.site
            if any(self.state.cells[number].kind is Kind.TOOL_CALL for number in node.cells):
                break
            node = self.state.node(node.parent)
        return block.name, clean(site_of(block))

    def _collect(self, draft: Draft, arrivals: tuple[Arrival, ...]) -> tuple[Edit, ...]:
        if draft.message.author is not Author.TOOL:
            return ()
        heap = Heap(arrivals, self.rules.count, self._same, draft.turn, stub.TOKENS)
        try:
            return collect_eden(heap, self.rules.policies, self.rules.mint, self._site)
        except Exception as error:  # a policy may be anyone's; the request goes on without it, and the journal says so
            self.faults.append(f"policy failed: {type(error).__name__}")
            return ()

    def _site(self, cell: int) -> str:
        """The site of an earlier cell, for the pointer to it; whether all of it is there to be read is said too."""
        site = self._sites[cell] if cell in self._sites else self.state.cells[cell].site
        edit = self._edits.get(cell) or self.state.edits.get(cell)
        return f"{site} (shown in part)" if edit is not None and "truncate" in edit.action else site

    def _same(self, arrival: Arrival) -> int | None:
        """The visible cell of this history with the same site and content, the newest one."""
        found = self._new.get((arrival.site, arrival.content))
        if found is not None:
            return found
        for cell in reversed(self.state.results.get((arrival.site, arrival.content), ())):
            edit = self.state.edits.get(cell)
            hidden = cell in self.state.evacuated or (edit is not None and edit.of is not None)
            if not hidden and self._on_path(self.state.owners[cell]):
                return cell
        return None

    def _on_path(self, node: int) -> bool:
        """Whether a node belongs to this history, and is sent with it."""
        owner, at = self.state.node(node), self.state.node(self.parent)
        if at.compacted is not None and self.state.hidden(owner, at.compacted):
            return False
        while at.depth > owner.depth:
            at = self.state.node(at.parent)
        return at.id == node


def clean(text: str) -> str:
    """``text`` as UTF-8 can carry it: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
