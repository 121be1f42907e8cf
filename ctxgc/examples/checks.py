"""The five acceptance checks of the ledger, on tasks that were played.

Rule: each is a set of figures that it follows from, and each fails where the figures say so.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxgc.examples.auditing import disagreeing
from ctxgc.examples.bounded import Sizes, flat, sizes
from ctxgc.examples.chat import Model
from ctxgc.examples.play import Played
from ctxgc.examples.questions import Answers, ask, questions
from ctxgc.examples.superseding import Superseding, superseding
from ctxgc.examples.tampering import Tampering, copied, tampering


@dataclass(frozen=True, slots=True)
class Audited:
    """Random facts of balances, and how many of them did not agree with their vouchers."""

    picks: int
    disagreeing: int

    @property
    def ok(self) -> bool:
        """Whether all agree."""
        return self.picks > 0 and not self.disagreeing


@dataclass(frozen=True, slots=True)
class Checks:
    """The figures of all five: those of the first, second and fifth for each played task, in its order."""

    bounded: tuple[Sizes, ...]
    resumable: tuple[Answers, ...]
    auditable: Audited
    tampered: Tampering
    superseded: tuple[Superseding, ...]

    @property
    def verdicts(self) -> dict[str, bool]:
        """Each check by name, and whether it holds."""
        return {
            "bounded": all(one.ok for one in self.bounded) and flat(self.bounded),
            "resumable": all(one.ok for one in self.resumable),
            "auditable": self.auditable.ok,
            "tampering": self.tampered.ok,
            "superseding": all(one.ok for one in self.superseded),
        }

    @property
    def ok(self) -> bool:
        """Whether all five hold."""
        return all(self.verdicts.values())


def check(played: Sequence[Played], model: Model, folder: Path, *, picks: int, tampers: int) -> Checks:
    """Check tasks that were played, the shortest first. ``folder`` is an empty one.

    Facts are picked from the longest, and bytes are changed in a copy of the shortest.
    """
    folders = [folder / f"copy-{number}" for number in range(len(played) + 1)]
    for one in folders:
        one.mkdir()
    return Checks(
        bounded=tuple(map(sizes, played)),
        resumable=tuple(ask(one, model, questions(one)) for one in played),
        auditable=audited(played[-1], picks),
        tampered=changed(played[0], tampers, folders[-1]),
        superseded=tuple(superseding(one, place) for one, place in zip(played, folders, strict=False)),
    )


def audited(played: Played, picks: int) -> Audited:
    """Follow random facts of a played task."""
    return Audited(picks, disagreeing(played.ledger(), picks, random.Random(f"picks {played.plan.seed}")))


def changed(played: Played, tampers: int, folder: Path) -> Tampering:
    """Change random bytes of copies of a played task's ledger."""
    path = folder / "books.db"
    copied(played.store, played.ledger().key, path)
    return tampering(path, tampers, random.Random(f"tampers {played.plan.seed}"), played.name, played.root)
