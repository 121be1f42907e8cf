"""Journal entries in human form: one line each.

Rule: a line is made from the entry and the state it led to, and holds no content of the conversation beyond sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from ctxgc.cli._booked import booked
from ctxgc.cli._output import shorten
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Gap,
    Insertion,
    Marking,
    Open,
    Pace,
    Pin,
    Recall,
    Recovery,
    Settlement,
)
from ctxgc.core.state import State

_EDITS = 3
_SITE = 40


def describe(entry: AnyEntry, state: State, numbers: Mapping[bytes, int]) -> str:
    """What an entry says; ``numbers`` counts the calls of the session from 1."""
    match entry:
        case Open():
            return f"session found by {entry.origin}, format {entry.codec}"
        case Allocation():
            return f"{_call(entry.call, numbers)}: {_allocation(entry, state)}"
        case Collection():
            return f"{_call(entry.call, numbers)}: {_collection(entry, state)}"
        case Marking():
            return f"{_call(entry.call, numbers)}: {_marking(entry, state)}"
        case Settlement():
            return f"{_call(entry.call, numbers)}: {_settlement(entry)}"
        case Recall(found=True):
            return f"{entry.handle} read back by the {entry.by}: {_site(state, entry.cell)}"
        case Recall():
            return f"{entry.handle} asked for by the {entry.by}: no such handle"
        case Insertion(void=True):
            return f"{_call(entry.call, numbers)}: a recall of the model's was refused by the provider and taken back"
        case Insertion():
            return f"{_call(entry.call, numbers)}: {_insertion(entry)}"
        case Compaction():
            return f"{_call(entry.call, numbers)}: {_compaction(entry)}"
        case Summary():
            return _summary(entry)
        case Milestone():
            return f"the host declares done: {shorten(entry.name, _SITE)}"
        case Pin():
            return f"the host {'pins' if entry.pinned else 'unpins'} {_site(state, entry.cell)}"
        case Bypass():
            return f"{_call(entry.call, numbers)} went on unchanged ({entry.size:,} bytes): {entry.reason}"
        case Gap():
            return f"{entry.calls} calls were stored late or not at all: {entry.reason}"
        case Recovery():
            return f"{_call(entry.call, numbers)} was never settled: the process ended in between"
        case _:
            return booked(entry)


def _call(call: bytes, numbers: Mapping[bytes, int]) -> str:
    return f"call {numbers[call]}" if call in numbers else f"call {call.hex()[:8]}"


def _allocation(entry: Allocation, state: State) -> str:
    cells = [cell for node in entry.nodes for cell in node.cells] + list(entry.schemas or ())
    new = f"{len(entry.nodes)} new messages, {sum(cell.tokens for cell in cells):,} new tokens"
    whole = f"history of {state.node(entry.head).depth + 1} messages, {entry.size:,} bytes"
    paced = f"; {_pace(entry.pace)}" if entry.pace is not None and entry.pace.candidates else ""
    return f"{new}; {whole}; {entry.model or 'no model named'}{paced}"


def _pace(pace: Pace) -> str:
    """What the pacer decided, and by which figures where it collected."""
    if not pace.trigger:
        return f"{pace.candidates:,} cells could go, none is due"
    figures = f"{pace.dead:,} tokens dead, {pace.live:,} rewritten, rent {pace.rent:.6g}, price {pace.price:.6g}"
    return f"collects ({pace.trigger}) of {pace.candidates:,} cells: {figures}"


def _marking(entry: Marking, state: State) -> str:
    """What the new cells refer to, and what they put out of date."""
    targets = dict.fromkeys(edge.target for edge in entry.edges)
    parts = [f"{len(entry.edges):,} references to {len(targets):,} cells: {_some(state, targets)}"] if targets else []
    if entry.overwritten:
        gone = dict.fromkeys(one.cell for one in entry.overwritten)
        parts.append(f"{len(gone):,} cells out of date: {_some(state, gone)}")
    return "; ".join(parts)


def _some(state: State, cells: Iterable[int]) -> str:
    shown = list(cells)
    more = f", and {len(shown) - _EDITS} more" if len(shown) > _EDITS else ""
    return f"{', '.join(_site(state, cell) for cell in shown[:_EDITS])}{more}"


def _collection(entry: Collection, state: State) -> str:
    before, after = sum(edit.before for edit in entry.edits), sum(edit.after for edit in entry.edits)
    some = (
        f"{edit.action} {_site(state, edit.cell)} {edit.before:,} to {edit.after:,}"
        for edit in islice(entry.edits, _EDITS)
    )
    more = f", and {len(entry.edits) - _EDITS} more" if len(entry.edits) > _EDITS else ""
    return f"{entry.generation}, {before:,} tokens to {after:,}: {', '.join(some)}{more}"


def _insertion(entry: Insertion) -> str:
    what = "news of the ledger stand" if entry.told >= 0 else "a recall of the model's stands"
    return f"{what} in its history, {sum(cell.tokens for cell in entry.cells):,} tokens"


def _compaction(entry: Compaction) -> str:
    span = f"what stands behind node {entry.after} up to node {entry.upto}"
    by = f" with the help of {entry.by}" if entry.by else ""
    figures = f"{entry.before:,} tokens to {entry.tokens:,}"
    return f"{span} compacted ({entry.trigger}){by}, {figures}, the record is {entry.handle}"


def _summary(entry: Summary) -> str:
    items = f"{len(entry.items)} items, {sum(item.stands for item in entry.items)} with a quote that stands"
    figures = f"{entry.attempts} attempts, {entry.input:,} tokens in, {entry.output:,} out"
    span = f"nodes behind {entry.after} up to {entry.upto}"
    return f"{entry.model or 'no model'} on {span}: {shorten(entry.outcome)}; {items}; {figures}"


def _settlement(entry: Settlement) -> str:
    parts = [f"{entry.outcome}, status {entry.status}"]
    if entry.usage is not None:
        cached = f" ({entry.usage.cached:,} cached)" if entry.usage.cached else ""
        parts.append(f"{entry.usage.input:,} tokens in{cached}, {entry.usage.output:,} out")
    if entry.duration:
        parts.append(f"{entry.duration:.1f} s")
    return "; ".join(parts)


def _site(state: State, cell: int) -> str:
    return shorten(state.cells[cell].site, _SITE) if 0 <= cell < len(state.cells) else f"cell {cell}"
