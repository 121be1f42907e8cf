"""Replaying a transcript: the requests its agent would have sent, driven through the session behind the proxy.

Rule: bodies are spliced from the transcript's own bytes and grow as an agent's do, so that what is recognised, cached
and collected is what would have been.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxgc.core.journal import Allocation, AnyEntry, Insertion, Settlement
from ctxgc.core.spans import Malformed
from ctxgc.core.state import State
from ctxgc.lab.replies import called, called_in
from ctxgc.lab.transcripts import Transcript
from ctxgc.session import Kit, Session
from ctxgc.session.identity import Identity, credential, scope_of
from ctxgc.store import Store
from ctxgc.wire.codec import Codec

AGENT = "assistant"


@dataclass(frozen=True, slots=True)
class Step:
    """A request of a transcript: its body, and the index of the assistant message that answered it (or None)."""

    body: bytes
    answer: int | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to: the session's state, and its journal in order.

    ``last_calls`` are the tools called in the reply to the last request, which no later request carries.
    """

    state: State
    entries: tuple[AnyEntry, ...]
    last_calls: tuple[str, ...] = ()


def requests(transcript: Transcript, model: str = "") -> Iterator[bytes]:
    """The bodies of the requests, in order: one per assistant message, with all that came before it.

    A transcript that does not end with an assistant message has one more, with all of it. After a recorded compaction
    bodies begin anew, behind the system prompt. ``model`` takes the place of the transcript's.
    """
    return (step.body for step in steps(transcript, model))


def steps(transcript: Transcript, model: str = "") -> Iterator[Step]:
    """``requests``, each with the message that answered it."""
    head = _head(transcript, model)
    system = transcript.messages[: system_prompts(transcript)]
    body = bytearray(head)
    for at, (raw, role) in enumerate(zip(transcript.messages, transcript.roles, strict=True)):
        if at in transcript.compactions and at > len(system):
            body = bytearray(head + b",".join(system))
        if role == AGENT and len(body) > len(head):
            yield Step(bytes(body) + b"]}", at)
        body += (b"," if len(body) > len(head) else b"") + raw
    if transcript.roles[-1] != AGENT:
        yield Step(bytes(body) + b"]}", None)


def replay(
    transcript: Transcript,
    kit: Kit,
    model: str = "",
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Replayed:
    """Send a transcript's requests through a new session, settling each with the usage that was reported for it.

    Nothing is sent anywhere. ``kit`` decides the policies and where the journal goes; ``open_store("sqlite://")`` is
    memory. ``progress`` is told how many messages of all are done. Raises ``StoreError`` where the journal cannot be
    kept, also because this transcript was replayed into the store before.
    """
    entries: list[AnyEntry] = []

    def observe(state: State, entry: AnyEntry) -> None:
        entries.append(entry)
        kit.observe(state, entry)

    session = session_for(transcript, replace(kit, observe=observe))
    usage = dict(transcript.usage)
    for step in steps(transcript, model):
        prepared = session.prepare(step.body)
        session.admit()
        reported = None if step.answer is None else usage.get(step.answer)
        session.settle(
            Settlement(
                at=kit.clock(),
                call=prepared.call,
                outcome="ok",
                status=200,
                model=prepared.model,
                estimated=session.estimated(prepared.call),
                usage=reported,
            )
        )
        progress(len(transcript.messages) if step.answer is None else step.answer, len(transcript.messages))
    session.flush()
    return Replayed(session.state, tuple(entries), _final_calls(transcript, kit.codec))


def last_calls(entries: Sequence[AnyEntry], store: Store, codec: Codec) -> tuple[str, ...]:
    """The tools called in the newest reply of a recorded session, if nothing has come since that carries them. None
    where it was not kept or cannot be read."""
    telling = (entry for entry in reversed(entries) if isinstance(entry, Allocation | Insertion | Settlement))
    newest = next(telling, None)
    return called_in(newest.reply, store, codec) if isinstance(newest, Settlement) else ()


def _head(transcript: Transcript, model: str) -> bytes:
    """What stands before the messages of every body."""
    name = json.dumps(model or transcript.model).encode()
    tools = b'"tools":' + transcript.tools + b"," if transcript.tools else b""
    return b'{"model":' + name + b"," + tools + b'"messages":['


def system_prompts(transcript: Transcript) -> int:
    """How many system prompts a transcript begins with."""
    count = 0
    while count < len(transcript.roles) and transcript.roles[count] in ("system", "developer"):
        count += 1
    return count


def session_for(transcript: Transcript, kit: Kit) -> Session:
    """A new session for the requests of a transcript."""
    scope = scope_of(credential({}), Identity(transcript.id, "transcript"))
    key = hashlib.sha256(b"ctxgc transcript\0" + scope).digest()
    return Session(key, scope, "transcript", kit)


def _final_calls(transcript: Transcript, codec: Codec) -> tuple[str, ...]:
    if transcript.roles[-1] != AGENT:
        return ()
    try:
        return called(codec.decode(transcript.messages[-1]).blocks)
    except Malformed:
        return ()
