"""What a scripted session is made of: turns of the agent, the calls they make, and what the tools answer.

Rule: a scenario is a value: all results are worked out before anything is sent, so two runs of it see the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.demo.workspace import Files, perform

Output = str | Callable[[Files], str] | None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model makes it (``arguments`` is JSON text), and what the tool answers."""

    id: str
    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model. After a turn without calls the user says ``user``, or the session ends."""

    text: str
    calls: tuple[Call, ...] = ()
    user: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A whole session: what it starts from, the tools on offer (chat-completions JSON), and the model's turns."""

    system: str
    task: str
    tools: tuple[Mapping[str, object], ...]
    turns: tuple[Turn, ...]

    def result(self, call: str) -> str:
        """What the tool answers to the call of that id. Raises ``KeyError`` for one that is not in the script."""
        return next(made.result for turn in self.turns for made in turn.calls if made.id == call)


@dataclass(frozen=True, slots=True)
class Use:
    """A tool to be used: file tools work on the files, others answer ``output`` (or what it makes of the files)."""

    name: str
    arguments: Mapping[str, object]
    output: Output = None


@dataclass(frozen=True, slots=True)
class Step:
    """A turn before its results are known."""

    text: str
    uses: tuple[Use, ...] = ()
    user: str = ""


def play(files: Files, steps: Sequence[Step]) -> Iterator[Turn]:
    """The turns that the steps come to, each on the files that the ones before it left."""
    for number, step in enumerate(steps):
        calls: list[Call] = []
        for use in step.uses:
            files, result = _use(files, use)
            arguments = json.dumps(use.arguments, ensure_ascii=False)
            calls.append(Call(f"call_{number:02}{len(calls)}_{use.name}", use.name, arguments, result))
        yield Turn(step.text, tuple(calls), step.user)


def _use(files: Files, use: Use) -> tuple[Files, str]:
    if use.output is None:
        return perform(files, use.name, use.arguments)
    return files, use.output if isinstance(use.output, str) else use.output(files)
