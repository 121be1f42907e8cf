"""Questions about details, asked of an agent that has seen nothing but an opening balance.

Rule: the right answers are read from the files themselves, and not from the ledger.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxgc.examples.chat import Message, Model, scale_for
from ctxgc.examples.host import Host
from ctxgc.examples.play import Played
from ctxgc.examples.tasks import KINDS, SETTINGS, round_of
from ctxgc.examples.tools import RECALL, Workspace
from ctxgc.examples.window import PINS, begin, run

MOST = 12
"""Questions about one played task."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the right answer."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Answers:
    """How many questions were asked, and answered right by recall and without it; ``tokens`` is the largest window."""

    asked: int
    right: int
    unaided: int
    tokens: int

    @property
    def ok(self) -> bool:
        """Whether recall gives all of it, and nothing else gives any."""
        return self.asked > 0 and self.right == self.asked and self.unaided == 0


def questions(played: Played) -> list[Question]:
    """Questions about a played task: the settings, lines of files, counts of tests; the same ones by the same seed."""
    dice = random.Random(f"questions {played.plan.seed} {played.plan.tasks}")
    numbers = range((played.plan.tasks + KINDS - 1) // KINDS)
    asked = [one for number in numbers for one in _about(played, number, dice)]
    return _settings(played.root) + dice.sample(asked, min(len(asked), MOST - 2))


def ask(played: Played, model: Model, asked: Sequence[Question]) -> Answers:
    """Ask each question in a new window, of an agent that has never been there, with recall and without."""
    right, tokens = _answered(played, model, asked, (RECALL,))
    unaided, _ = _answered(played, model, asked, ())
    return Answers(len(asked), right, unaided, tokens)


def _answered(played: Played, model: Model, asked: Sequence[Question], tools: Sequence[Message]) -> tuple[int, int]:
    """How many answers are right, and the tokens that the largest window came to."""
    ledger, scale = played.ledger(), scale_for(played.plan.counted, tools)
    host = Host(ledger, Workspace(played.root), recalls=bool(tools))
    opening = ledger.opening(played.plan.opening, PINS, scale.count)
    windows = [run(model, host, begin(opening.text, one.text), tools, scale, opening) for one in asked]
    right = sum(_bare(window.said) == _bare(one.answer) for window, one in zip(windows, asked, strict=True))
    return right, max((window.tokens for window in windows), default=0)


def _bare(text: str) -> str:
    """An answer without what models like to put around it."""
    return text.strip().strip("`'\".").strip()


def _settings(root: Path) -> list[Question]:
    found = json.loads((root / SETTINGS).read_text("utf-8"))
    text = 'What is the value of "{}" in {}? Answer with the value alone.'
    return [Question(text.format(key, SETTINGS), str(found[key])) for key in ("port", "workers")]


def _about(played: Played, number: int, dice: random.Random) -> list[Question]:
    """Questions about the files of one round, as far as they are there."""
    made = round_of(played.plan.seed, number)
    paths = [played.root / f"{name}.py" for name in (made.part, made.client)]
    lines = [_line(path, dice) for path in paths if path.exists()]
    test = played.root / f"test_{made.part}.py"
    return [*lines, _count(test)] if test.exists() else lines


def _line(path: Path, dice: random.Random) -> Question:
    lines = [(number, line) for number, line in enumerate(path.read_text("utf-8").split("\n"), 1) if "=" in line]
    number, line = dice.choice(lines)
    return Question(f"What is line {number} of {path.name}? Answer with that line alone.", line)


def _count(path: Path) -> Question:
    text = f"How many tests in {path.name} passed when they were last run? Answer with the number alone."
    return Question(text, str(len(re.findall(r"(?m)^def test", path.read_text("utf-8")))))
