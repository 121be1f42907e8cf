"""Playing the agent: sub-task after sub-task, each in a window of its own, with a close after each.

Rule: a period is closed when the host has found the sub-task done, and the next window knows of it what the opening
balance says.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ctxgc.core.opening import Opening
from ctxgc.examples.chat import Model, Scale, scale_for
from ctxgc.examples.host import Host
from ctxgc.examples.tasks import task
from ctxgc.examples.tools import RECALL, TOOLS, Workspace
from ctxgc.examples.window import PINS, Begin, Window, begin, run
from ctxgc.ledger import Closed, Ledger, open_ledger
from ctxgc.store import Store

SHARE = 8
"""An opening balance takes at most one of so many parts of a window."""
COUNTED = "gpt-4o"
"""The model whose tokens are counted where the model is a scripted one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played: how many sub-tasks, by which seed, in windows of how many tokens, by which model."""

    tasks: int
    seed: int = 1
    budget: int = 4_000
    counted: str = COUNTED

    @property
    def opening(self) -> int:
        """Tokens of an opening balance at most."""
        return self.budget // SHARE


@dataclass(frozen=True, slots=True)
class Played:
    """A task that was played: the store (open) and the name of its ledger, its files, and its windows in order."""

    plan: Plan
    store: Store
    name: str
    root: Path
    windows: tuple[Window, ...]

    def ledger(self) -> Ledger:
        """Its ledger, read from the store anew: nothing of what was played is left in it but what is stored."""
        return open_ledger(self.store, self.name, root=self.root)


def play(
    plan: Plan,
    model: Model,
    store: Store,
    root: Path,
    *,
    begun: Begin = begin,
    host: Callable[[Ledger, Workspace], Host] = Host,
) -> Played:
    """Play all sub-tasks into a new ledger of a store, with files in ``root``.

    ``begun`` and ``host`` are there so that it can be played with a fault. Raises ``ModelFailed``, ``NotDone``,
    ``LedgerError`` and ``StoreError``.
    """
    name = f"settling {uuid.uuid4().hex[:12]}"
    scale = scale_for(plan.counted, (*TOOLS, RECALL))
    windows: list[Window] = []
    ledger = open_ledger(store, name, root=root)
    agent, closed = host(ledger, Workspace(root)), None
    for number in range(plan.tasks):
        due = task(plan.seed, number, ledger.books)
        opening = opened(closed, plan, scale)
        head = begun(opening.text, due.text, windows)
        windows.append(run(model, agent, head, (*TOOLS, RECALL), scale, opening))
        due.check(agent)
        closed = ledger.close(due.milestone)
    return Played(plan, store, name, root, tuple(windows))


def opened(closed: Closed | None, plan: Plan, scale: Scale) -> Opening:
    """What the next window begins with; the first one begins with the pinned constraints alone."""
    if closed is None:
        text = "\n".join(("Constraints, word for word:", *PINS))
        return Opening(text, scale.count(text), (), ())
    return closed.opening(plan.opening, PINS, scale.count)
