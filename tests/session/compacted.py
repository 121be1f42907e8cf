"""A conversation that is compacted when it is long, and what became of it: small, and the same every time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ctxgc.core.bookings import Fact
from ctxgc.core.compaction import Compaction
from ctxgc.core.pacer import Pacer
from ctxgc.ledger import Ledger, open_ledger
from ctxgc.policies.compact import Compact
from ctxgc.session import Session
from ctxgc.store import Store
from tests.session import checks, rules
from tests.session.growing import FREE, Growing
from tests.session.scripts import Dict, Known, body, kit, restored

QUALITY = 2_600
"""Tokens above which these conversations are compacted."""
TERMS = Compact(tail=400, record=400, opening=300, saving=200)
LOOKUP = {"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}


def row(number: int) -> str:
    """A result of about 60 tokens, as no other row has it."""
    return f"row_{number} is value_{number * 31}\n" * 5


@dataclass
class Long(Growing):
    """Its turns are about 100 tokens each."""

    turn: int = 0

    def one(self, **more: Any) -> list[Any]:
        """One turn: the agent says why, calls a tool, and reads a row."""
        self.turn += 1
        self.say(row(self.turn), text=f"I look at shelf_{self.turn} now, since it is next. " * 2, **more)
        return self.sent

    def rows(self, count: int) -> list[Any]:
        """So many turns."""
        for _ in range(count):
            self.one()
        return self.sent

    def until(self, count: int = 1) -> Compaction:
        """Turns until it has been compacted so often; the last of the compactions."""
        for _ in range(90):
            if len(self.compactions) >= count:
                return self.compactions[-1]
            self.one()
        raise AssertionError("it is not compacted")

    @property
    def compactions(self) -> list[Compaction]:
        return [entry for entry in self.entries() if isinstance(entry, Compaction)]

    @property
    def head(self) -> int:
        """The node of the newest request's last message."""
        heads = self.session.state.heads
        return max(heads, key=lambda head: (heads[head].at, head))

    @property
    def gone(self) -> list[int]:
        """The numbers of the messages that the newest request goes without."""
        return gone(self.session, len(self.messages), self.head)

    @property
    def broken(self) -> list[str]:
        """What is wrong with what was sent last."""
        found = rules.broken(body(self.messages, **self.fields), self.prepared[-1].body, self.gone)
        offered = {"something besides the messages changed"} if self.used.recall else set()
        return [fault for fault in found if fault not in offered]

    @property
    def record(self) -> str:
        """The text that stands for what is gone."""
        (text,) = [one["content"] for one in self.sent if rules.says_so(one.get("content"))]
        return str(text)

    def branch(self, length: int, *messages: Dict) -> list[Any]:
        """Go back to the first so many messages, and on from there in another way."""
        self.messages = [*self.messages[:length], *messages]
        return self.send()

    def restart(self) -> Session:
        """Go on as another process would."""
        self.session.flush()
        self.session = restored(self.used)
        return self.session

    def check(self) -> None:
        """What holds of any session: the journal tells its state and its bytes, and every token has its place."""
        self.session.flush()
        checks.rebuilds(self.session, self.used)
        checks.originals(self.session, self.used)
        checks.attribution(self.session.state)
        checks.recalled(self.session)
        checks.recorded(self.session, self.used)


def gone(session: Session, messages: int, head: int) -> list[int]:
    """The numbers of the messages that a history goes without."""
    state = session.state
    made = state.node(head).compacted
    found = [node.depth for node in state.path(head) if made is not None and state.hidden(node, made)]
    assert all(number < messages for number in found)
    return found


def long(
    store: Store,
    *policies: Any,
    terms: Compact | None = TERMS,
    quality: int = QUALITY,
    opening: list[Dict] | None = None,
    fields: Dict | None = None,
    **changes: Any,
) -> Long:
    """A conversation under these terms, with a provider that has no cache."""
    settled = {"pacer": Pacer(quality=quality), "tariff": lambda _: FREE, **changes}
    used = kit(Known(store), (*policies, *([terms] if terms else [])), **settled)
    more = {"opening": opening} if opening else {}
    return Long(used, fields=fields or {"tools": [LOOKUP]}, **more)


def books(store: Store) -> Ledger:
    """The ledger of the session, as any process opens it."""
    return open_ledger(store, "books", clock=lambda: 1.0)


def post(ledger: Ledger, statement: str, **more: Any) -> Fact:
    """A fact that the host has verified."""
    voucher = ledger.vault.store(ref=f"file:{statement}", content=f"it says: {statement}\n")
    return ledger.post(statement, [ledger.verify(voucher, statement)], **more)


def dumped(messages: list[Any]) -> list[str]:
    """Messages to be compared and looked for."""
    return [json.dumps(message, sort_keys=True) for message in messages]
