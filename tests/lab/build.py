"""Small conversations, a session to send them through, and journals of it."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxgc.core.block import Block
from ctxgc.core.heap import Heap
from ctxgc.core.journal import AnyEntry, Settlement
from ctxgc.core.policy import Policy, Verdict
from ctxgc.core.state import State
from ctxgc.session import Kit, Session
from ctxgc.store import Store, open_store
from ctxgc.wire.openai_chat import OpenAIChat


class Words:
    """Counts words, so that a test can say what it expects."""

    exact = True

    def count(self, text: str) -> int:
        return len(text.split())

    def measure(self, block: Block) -> int:
        return self.count(block.text)

    def warming(self, text: str) -> Iterator[int]:
        return iter(())


@dataclass(frozen=True)
class Keep:
    """A policy that leaves the first words of a long result."""

    limit: int = 12
    name = "keep"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for arrival in heap.eden:
            words = arrival.text.split()
            if len(words) > self.limit:
                yield Verdict(arrival.id, self.name, "cut", "long", text=" ".join(words[: self.limit // 2]))


@dataclass(frozen=True)
class Same:
    """A policy that points to an earlier identical result."""

    name = "same"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for arrival in heap.eden:
            of = heap.same(arrival)
            if of is not None:
                yield Verdict(arrival.id, self.name, "dedup", "identical", of=of)


def kit(store: Store, *policies: Policy) -> Kit:
    ticks, calls = itertools.count(1_700_000_000), itertools.count(1)
    return Kit(store, OpenAIChat(), policies, lambda _: Words(), lambda: float(next(ticks)), lambda: _id(next(calls)))


def _id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def system(text: str = "you are an agent") -> dict:
    return {"role": "system", "content": text}


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def agent(text: str) -> dict:
    return {"role": "assistant", "content": text}


def call(tool: str, call_id: str, **arguments: object) -> dict:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str, text: str) -> dict:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name: str, words: str = "does something") -> dict:
    return {"type": "function", "function": {"name": name, "description": words, "parameters": {"type": "object"}}}


def body(messages: Sequence[dict], tools: Sequence[dict] = (), model: str = "m") -> bytes:
    fields = {"model": model, **({"tools": list(tools)} if tools else {}), "messages": list(messages)}
    return json.dumps(fields).encode()


def recorded(bodies: Iterable[bytes], *policies: Policy) -> tuple[State, list[AnyEntry]]:
    """Send bodies through one session; its state and its journal."""
    store, entries = open_store("sqlite://"), list[AnyEntry]()
    made = replace(kit(store, *policies), observe=lambda _, entry: entries.append(entry))
    session = Session(b"k" * 32, b"s" * 32, "test", made)
    for text in bodies:
        prepared = session.prepare(text)
        session.settle(Settlement(at=0.0, call=prepared.call, outcome="ok", status=200))
    store.close()
    return session.state, entries


def wild(seed: int, length: int = 40) -> list[bytes]:
    """The requests of an agent that re-reads files, regenerates, asks helpers and changes its tools."""
    rng = random.Random(seed)
    tools, history, made = [tool("read"), tool("run", "runs a command")], [system(), user("the task is to do it")], []
    for number in range(length):
        kind = rng.choice(["tool", "tool", "tool", "user", "branch", "helper", "tools"])
        if kind == "tool":
            name, words = rng.choice(["read", "run"]), rng.choice([3, 10, 60])
            history = [*history, call(name, f"c{number}", path=rng.choice("abc")), result(f"c{number}", "w " * words)]
        elif kind == "user":
            history = [*history, agent(f"did step {number}"), user(f"go on with {number}")]
        elif kind == "branch" and len(history) > 4:
            history = [*history[: rng.randrange(2, len(history))], user(f"no, instead {number}")]
        elif kind == "helper":
            made.append(body([user(f"a title for {number}")], model="small"))
        elif kind == "tools":
            tools = tools[: rng.randrange(1, 3)] if len(tools) > 2 else [*tools, tool(f"extra{number}")]
        made.append(body(history, tools))
    return made
