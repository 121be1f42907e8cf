"""A conversation that grows turn by turn, sent after each: small, and the same every time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ctxgc.core.journal import AnyEntry, Bypass, Collection, decode
from ctxgc.core.pacer import Tariff
from ctxgc.session import Kit, Prepared, Session
from tests.session.scripts import Dict, agent, body, call, fresh, result, send, system, user, values

FREE = Tariff(read=1.0, write=1.0, least=0)
"""No cache: whatever may go goes at once."""
LISTING = "".join(f"row_{number} holds shelf_{number * 7919 % 1000}\n" for number in range(200))


@dataclass
class Growing:
    """The agent and its client. ``sent`` is what left for the newest request, as messages."""

    used: Kit
    opening: list[Dict] = field(default_factory=lambda: [system(), user()])
    fields: Dict = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        self.session: Session = fresh(self.used)
        self.messages: list[Dict] = list(self.opening)
        self.prepared: list[Prepared] = []
        self.send()

    @property
    def sent(self) -> list[Any]:
        return values(self.prepared[-1].body)

    def send(self) -> list[Any]:
        """Send the conversation as it stands."""
        self.prepared.append(send(self.session, body(self.messages, **self.fields)))
        return self.sent

    def say(
        self, content: object, tool: str = "lookup", arguments: object = None, text: str | None = None, **more: object
    ) -> int:
        """The agent calls a tool and reads ``content``; where in the conversation the result stands."""
        self.number += 1
        asked = {"n": self.number} if arguments is None else arguments
        one = call(f"c{self.number}", tool, asked if isinstance(asked, str) else json.dumps(asked))
        self.messages += [agent(text, one), result(f"c{self.number}", content, **more)]
        self.send()
        return len(self.messages) - 1

    def turns(self, count: int) -> list[Any]:
        """So many turns that have to do with nothing before them."""
        for _ in range(count):
            self.say("pong", "ping")
        return self.sent

    def answer(self, text: str, then: object = "go on") -> list[Any]:
        """The agent speaks, and the user goes on."""
        self.messages += [agent(text), user(then)]
        return self.send()

    def entries(self) -> list[AnyEntry]:
        self.session.flush()
        return [decode(stored.body) for stored in self.used.store.entries(self.session.key)]

    def collections(self) -> list[Collection]:
        """What was collected of residents."""
        return [one for one in self.entries() if isinstance(one, Collection) and one.generation != "eden"]

    def reasons(self) -> list[str]:
        return [one.reason for one in self.entries() if isinstance(one, Bypass)]
