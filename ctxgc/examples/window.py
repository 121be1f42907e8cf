"""One window: what it begins with, and the loop of model and tools until the model calls no more tools.

Rule: a window begins with the system prompt, the opening balance and the next task; no transcript is carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxgc.core.opening import Opening
from ctxgc.examples.chat import Message, Model, ModelFailed, Scale, answer, calls, content
from ctxgc.examples.host import Host

SYSTEM = (
    "You are a careful programmer who does one sub-task at a time in a folder of files. What was done before this"
    " sub-task is listed below as facts, each with the voucher it rests on; read a voucher back by its handle where you"
    " need a detail, and do not guess. When the sub-task is done, say so in one line without calling a tool."
)
PINS = ("Change no file that the sub-task does not name.",)
"""What holds in every window, word for word."""
STEPS = 40
"""Requests after which a window is given up."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window at its end: what it began with (``head``), all its messages, and the tokens of both as requests.

    ``facts`` are those that the opening shows, ``pointed`` how many it only points to.
    """

    head: tuple[Message, ...]
    messages: tuple[Message, ...]
    head_tokens: int
    tokens: int
    facts: tuple[str, ...] = ()
    pointed: int = 0

    @property
    def said(self) -> str:
        """What the model said last."""
        return content(self.messages[-1])


Begin = Callable[[str, str, Sequence[Window]], tuple[Message, ...]]
"""Opening balance, task and the windows before to what a window begins with."""


def begin(opening: str, text: str, earlier: Sequence[Window] = ()) -> tuple[Message, ...]:
    """What a window begins with. The ``earlier`` ones are not looked at."""
    return (
        {"role": "system", "content": f"{SYSTEM}\n\n{opening}" if opening else SYSTEM},
        {"role": "user", "content": text},
    )


def run(
    model: Model, host: Host, head: Sequence[Message], tools: Sequence[Message], scale: Scale, opening: Opening
) -> Window:
    """Play a window to its end. Raises ``ModelFailed`` where it finds none, and ``StoreError``."""
    messages = list(head)
    for _ in range(STEPS):
        reply = model(messages, tools)
        messages.append(reply)
        made = calls(reply)
        if not made:
            return _ended(head, messages, scale, opening)
        messages += [answer(call, host.answer(call)) for call in made]
    raise ModelFailed(f"the model has called tools in {STEPS} requests and come to no end")


def _ended(head: Sequence[Message], messages: Sequence[Message], scale: Scale, opening: Opening) -> Window:
    before = scale.fixed + scale.of(head)
    after = before + scale.of(messages[len(head) :])
    return Window(tuple(head), tuple(messages), before, after, opening.facts, len(opening.pointed))
