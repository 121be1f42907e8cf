"""What the collector did in the demo's session: its edits by policy, and the messages that each request may change.

Rule: everything is read from the journal's collections; an edit of an edit counts from what was sent before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.core.collector import Edit
from ctxgc.core.journal import AnyEntry, Collection
from ctxgc.core.state import EDEN, State


@dataclass(frozen=True, slots=True)
class Edited:
    """What one policy did in one way: to how many results, and their tokens before and after, as they were sent.

    ``resident`` says that they had been sent before; otherwise that was done before they were sent at all. A result
    that was made shorter again counts again.
    """

    resident: bool
    policy: str
    action: str
    results: int
    before: int
    after: int


def edited(entries: Iterable[AnyEntry]) -> tuple[Edited, ...]:
    """The edits of a journal by policy and action: those before sending first. Their savings add up to all."""
    groups: dict[tuple[bool, str, str], list[tuple[int, int]]] = {}
    sent: dict[int, int] = {}
    for entry in entries:
        for edit in entry.edits if isinstance(entry, Collection) else ():
            key = _resident(entry), edit.policy, edit.action
            groups.setdefault(key, []).append((sent.get(edit.cell, edit.before), edit.after))
            sent[edit.cell] = edit.after
    return tuple(
        Edited(*key, len(group), sum(before for before, _ in group), sum(after for _, after in group))
        for key, group in sorted(groups.items())
    )


def may_change(entries: Iterable[AnyEntry], state: State) -> Mapping[bytes, frozenset[int]]:
    """The positions of the messages sent before that a request changes, by its call; ``state`` is the journal's."""
    found: dict[bytes, frozenset[int]] = {}
    for entry in entries:
        if isinstance(entry, Collection) and _resident(entry):
            found[entry.call] = found.get(entry.call, frozenset()) | _positions(entry.edits, state)
    return found


def _resident(entry: AnyEntry) -> bool:
    return isinstance(entry, Collection) and entry.generation != EDEN


def _positions(edits: Sequence[Edit], state: State) -> frozenset[int]:
    return frozenset(state.node(state.owners[edit.cell]).depth for edit in edits)
