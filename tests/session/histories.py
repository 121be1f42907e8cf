"""Conversations of every shape that clients send, from a source of chance: what servers take, and some more.

The same source gives the same conversation. Every request is a whole body, as a client would send it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.core import alike
from tests.session.scripts import STYLES, Dict, Style, agent, body, call, marked, result, schema, system, user

ECHO = "[ctxgc:aaaaaaaaaaaaaaaa lines 1-2 of 3 not shown]"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
TOOLS = ("search", "Read", "bash", "read_file", "edit_file", "find_pages", "list_dir", "")
PATHS = ("src/app.py", "src/app.py", "README.md", "lib/deep/util.ts", "/etc/hosts")
ODD_TEXTS = (
    "",
    " ",
    "\n\n",
    "ok",
    "\ud800 lone",
    "部署前请勿删除表\n" * 40,
    ECHO,
    "Error: no such file",
    "null",
    "x" * 3000,
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request body, sent so many seconds after the one before it. ``done``: behind it, the host says that something
    is done."""

    text: bytes
    wait: float = 1.0
    done: bool = False


Story = list[Request | None]
"""Requests in their order; ``None`` is a restart of the process."""


def results(chance: Random) -> str:
    """The text of a result: many alike lines, JSON of one line and of many, code, and whatever breaks things."""
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice(ODD_TEXTS)
    lines = chance.choice((3, 30, 120))
    if kind == 1:
        rows = [{"id": n, "name": f"row_{n}", "path": chance.choice(PATHS)} for n in range(lines)]
        return json.dumps(rows, indent=chance.choice((None, 4)))
    if kind == 2:
        return "".join(f"{n:5}\tdef handler_{n}(request): return value_{n * 7 % 100}\n" for n in range(1, lines + 1))
    one = alike.LINES[chance.choice(sorted(alike.LINES))]
    text = "\n".join(alike.units(one, lines, chance.randrange(lines), chance.randrange(9)))
    return text + chance.choice(("", "", "\n" + ECHO, ECHO.replace("[", "\uff3b"), "\udfff"))


def content(chance: Random) -> object:
    """The content of a result: a text, parts, parts with an image, or none."""
    kind = chance.randrange(10)
    if kind == 0:
        return chance.choice((None, [], [{"type": "text", "text": ""}], [IMAGE]))
    if kind < 3:
        parts: list[object] = [{"type": "text", "text": results(chance)} for _ in range(chance.randint(1, 3))]
        return [*parts, *chance.choice(([], [IMAGE], [results(chance)]))]
    return results(chance)


def arguments(chance: Random) -> str:
    path = chance.choice(PATHS)
    return chance.choice(
        (
            json.dumps({"path": path}),
            json.dumps({"path": path, "offset": chance.randint(1, 90), "limit": 40}),
            json.dumps({"path": path, "old_string": f"value_{chance.randint(0, 99)}", "new_string": "other_value"}),
            json.dumps({"command": f"cat {path}"}),
            json.dumps({"q": chance.randint(0, 3)}),
            "not json",
            "",
        )
    )


@dataclass(slots=True)
class Author:
    """Writes a conversation turn by turn. ``pending``: calls of the last batch are left without answer now and then."""

    chance: Random
    style: Style
    messages: list[Dict] = field(default_factory=list)
    number: int = 0

    def begin(self) -> None:
        """The opening: a system or developer prompt or none, and the task."""
        chance = self.chance
        self.messages += chance.choice(([], [system("be brief")], [{"role": "developer", "content": "rules v1"}]))
        self.messages.append(
            user(chance.choice(("do it", "Never push to main. " * 3, [IMAGE, _text("what is this?")])))
        )

    def turn(self) -> None:
        """One reply of the agent, with what follows it."""
        chance = self.chance
        kinds: Sequence[Callable[[], None]] = (
            *[self.calls] * 4, self.talk, self.legacy, self.orphan, self.rule, self.pending,
        )  # fmt: skip
        chance.choice(kinds)()

    def calls(self) -> None:
        """A batch of calls and their results; ids are used again now and then, and results come twice."""
        chance, ids = self.chance, []
        for index in range(chance.choice((1, 1, 1, 2, 4))):
            self.number += 1
            ids.append(chance.choice((f"c{self.number}", f"c{self.number}", f"f:{index}")))
        self._ask(ids)
        for one in chance.sample(ids, len(ids)):
            more: Dict = chance.choice(
                ({}, {}, {}, {"ctxgc": {"pin": True}}, {"ctxgc": {"tag": "notes"}}, {"name": "n"})
            )
            self.messages.append(result(one, content(chance), **more))
        if chance.randrange(12) == 0:
            self.messages.append(result(ids[-1], "late"))

    def talk(self) -> None:
        """The agent answers, perhaps with what it read, and the user goes on."""
        chance = self.chance
        said = f"It is row_{chance.randint(0, 99)} in {chance.choice(PATHS)}, value_{chance.randint(0, 99)}."
        self.messages.append(agent(said, **self._thinking()))
        self.messages.append(user(chance.choice(("go on", "", "use port 5433", [_text("look"), IMAGE], "ok " + ECHO))))

    def legacy(self) -> None:
        """A call of the old form, and its result."""
        asked = {"name": "lookup", "arguments": arguments(self.chance)}
        self.messages.append({"role": "assistant", "content": None, "function_call": asked})
        self.messages.append({"role": "function", "name": "lookup", "content": results(self.chance)})

    def orphan(self) -> None:
        """A result without a call."""
        self.messages.append(result("gone", results(self.chance)))

    def pending(self) -> None:
        """A call that is answered never, or only in part, and a user who goes on."""
        self.number += 1
        self._ask([f"p{self.number}", f"q{self.number}"])
        if self.chance.random() < 0.5:
            self.messages.append(result(f"p{self.number}", results(self.chance)))
        self.messages.append(user("meanwhile?"))

    def rule(self) -> None:
        """A system or developer message in the middle."""
        self.messages.append({"role": self.chance.choice(("system", "developer")), "content": "read-only from now on"})

    def branch(self) -> None:
        """The user goes back and says something else."""
        self.messages = self.messages[: self.chance.randint(1, len(self.messages))]
        self.messages.append(user(f"instead {self.chance.randint(0, 9)}"))

    def written(self, *, marker: bool, model: str) -> bytes:
        """The request for the conversation as it stands."""
        shown = [*self.messages[:-1], marked(self.messages[-1])] if marker and self.messages[-1:] else self.messages
        tools = [schema(name or "x") for name in TOOLS]
        return body(shown, self.style, tools=tools, model=model)

    def _ask(self, ids: Sequence[str]) -> None:
        asked = [call(one, self.chance.choice(TOOLS), arguments(self.chance)) for one in ids]
        self.messages.append(agent(self.chance.choice((None, "", "so")), *asked, **self._thinking()))

    def _thinking(self) -> Dict:
        thought = f"I saw value_{self.chance.randint(0, 99)} before. " * self.chance.choice((1, 40))
        signed = {"reasoning_content": thought, "reasoning_details": [{"type": "text", "text": thought}]}
        return self.chance.choice(({}, {}, {"reasoning_content": thought}, {"reasoning": thought}, signed))


def _text(words: str) -> Dict:
    return {"type": "text", "text": words}


def story(chance: Random, turns: int = 12, *, branches: bool = True, milestones: bool = False) -> Story:
    """A client's requests: growing, sent again, branched, with helper calls, moved markers, pauses and restarts.

    With ``milestones``, the host says now and then that something is done.
    """
    author = Author(chance, chance.choice(STYLES))
    author.begin()
    told: Story = [Request(author.written(marker=False, model="gpt-5"))]
    for _ in range(chance.randint(2, turns)):
        kind = chance.choice((*("turn",) * 9, "again", "branch", "helper", "restart"))
        if kind == "helper":
            told.append(Request(body([system("name it"), user("x")], author.style, model="gpt-5-mini")))
        elif kind == "restart":
            told.append(None)
        elif kind == "branch" and branches:
            author.branch()
        for _ in range(chance.choice((1, 1, 2)) if kind == "turn" else 0):
            author.turn()
        text = author.written(marker=chance.randrange(4) == 0, model=chance.choice(("gpt-5",) * 9 + ("gpt-4o",)))
        done = milestones and chance.randrange(6) == 0
        told.append(Request(text, chance.choice((1.0, 1.0, 1.0, 1.0, 4000.0)), done))
    return told
