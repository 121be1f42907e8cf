"""A model that recalls, before a session: what it asks for, and the round in which it is told."""

from __future__ import annotations

import json
from typing import Any

from ctxgc.core.journal import Settlement, decode
from ctxgc.session import Kit, Prepared, Session, drain
from ctxgc.session.reading import TOOL_NAME
from ctxgc.wire.codec import Asking
from tests.session.growing import Growing
from tests.session.scripts import body, kit, restored, settle, values


def recalling(store: Any, *policies: Any, **changes: Any) -> Kit:
    """A kit whose histories are offered the recall tool."""
    return kit(store, *policies, **{"recall": True, **changes})


def asking(used: Kit, *handles: str, text: str | None = None) -> Asking:
    """A reply in which the model recalls some handles."""
    calls = [
        {"id": f"r{at}", "type": "function", "function": {"name": TOOL_NAME, "arguments": json.dumps({"handle": each})}}
        for at, each in enumerate(handles)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": calls}
    reply = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
    found = used.codec.asking(reply, TOOL_NAME)
    assert found is not None
    return found


def ask(session: Session, prepared: Prepared, *handles: str, limited: bool = False) -> None:
    """Settle a call in whose reply the model recalls, when what came with it is on disk."""
    session.flush()
    settled = Settlement(at=1.0, call=prepared.call, outcome="ok", status=200)
    session.settle(settled, b"", asking(session.kit, *handles), limited=limited)


def again(session: Session, text: bytes) -> Prepared:
    """The same request once more, with what was recalled."""
    return drain(session.preparing(text, again=True))


def entries(used: Kit, session: Session) -> list[Any]:
    session.flush()
    return [decode(stored.body) for stored in used.store.entries(session.key)]


class Reading(Growing):
    """A conversation whose model reads back. ``left`` are the bodies of all requests and rounds, in order."""

    def __post_init__(self) -> None:
        self.left: list[bytes] = []
        super().__post_init__()

    def send(self) -> list[Any]:
        sent = super().send()
        self.left.append(self.prepared[-1].body)
        return sent

    def recall(self, handle: str) -> list[Any]:
        """The request is made, the model recalls in its reply, and is asked again: what it then sees."""
        text = body(self.messages, **self.fields)
        prepared = self.session.prepare(text)
        ask(self.session, prepared, handle)
        further = again(self.session, text)
        settle(self.session, further)
        self.left += (prepared.body, further.body)
        return values(further.body)

    def restart(self) -> None:
        """Go on as another process would."""
        self.session.flush()
        self.session = restored(self.used)
