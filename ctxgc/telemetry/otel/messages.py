"""How many messages of a history are sent: without spans that were compacted, with what stands of ours in it.

Rule: remembered for the end of each request, so that the next one only counts what is new.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ctxgc.core.state import State


class Messages:
    """Counts them. ``forget`` a session where something was changed that had been sent before."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[State, dict[int, int]] = WeakKeyDictionary()

    def forget(self, state: State) -> None:
        """Count the histories of a session anew."""
        self._known.pop(state, None)

    def sent(self, state: State, head: int) -> int:
        """The messages of a history as it is sent, with what stands of ours behind its last one."""
        known = self._known.setdefault(state, {})
        made, count, at, child = state.node(head).compacted, 0, head, -1
        while at >= 0:
            count += _behind(state, at, child) if at != head else 0
            if at in known:
                count += known[at]
                break
            if made is not None and at == made.upto:
                count += len(made.messages) + len(made.kept)
                at, child, made = made.after, made.following, None
            else:
                count, at, child = count + 1, state.nodes[at].parent, at
        known[head] = count
        return count + _behind(state, head, -1)


def _behind(state: State, node: int, child: int) -> int:
    return sum(len(each.messages) for each in state.own.behind(node, child))
