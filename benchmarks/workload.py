"""A deterministic agent session of any length, and how figures are shown. No randomness but a seeded one."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Iterator, Sequence

Message = dict[str, object]
SYSTEM = "You are a coding agent. Work in small steps, read before you write, run the tests after each change. " * 40
WORDS = [
    "request",
    "session",
    "token",
    "parser",
    "handler",
    "worker",
    "config",
    "update",
    "return",
    "value",
    "error",
    "stream",
    "buffer",
    "message",
    "index",
    "cache",
    "the",
    "a",
    "of",
    "in",
    "to",
    "is",
    "for",
    "with",
    "not",
    "and",
    "this",
    "that",
    "from",
    "by",
    "on",
    "if",
    "when",
    "then",
    "else",
    "while",
    "class",
    "def",
    "import",
]


def tools(count: int = 12) -> list[Message]:
    """Tool schemas of an ordinary size."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{number}",
                "description": f"Does thing number {number} to a file in the workspace and reports what changed.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "Path relative to the workspace root"},
                        "limit": {"type": "integer", "description": "How many lines to return at most"},
                    },
                    "required": ["path"],
                },
            },
        }
        for number in range(count)
    ]


def turns(size: int, seed: int = 7) -> Iterator[list[Message]]:
    """Endless turns: a call and its result of about ``size`` characters."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        arguments = json.dumps({"path": f"src/module_{rng.randrange(200)}.py", "limit": rng.randrange(500)})
        call = {
            "id": f"call_{seed}_{number:06d}",
            "type": "function",
            "function": {"name": "tool_1", "arguments": arguments},
        }
        yield [
            {"role": "assistant", "content": f"Step {number}: {sentence(rng, 20)}", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": text(rng, size)},
        ]


def text(rng: random.Random, size: int) -> str:
    """Lines that look like code and logs, with identifiers and numbers of their own."""
    lines: list[str] = []
    length = 0
    while length < size:
        line = f"{rng.randrange(1, 2000):5d}: {sentence(rng, rng.randrange(4, 14))} id_{rng.getrandbits(24):06x}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def history(count: int, size: int) -> list[Message]:
    """A history of about ``count`` messages with results of ``size`` characters."""
    messages: list[Message] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Fix the parser."}]
    source = turns(size)
    while len(messages) < count:
        messages += next(source)
    return messages


def body(messages: Sequence[Message], *, stream: bool = True, model: str = "gpt-5") -> bytes:
    """The request that an OpenAI client sends for these messages."""
    return json.dumps({"messages": messages, "model": model, "stream": stream, "tools": tools()}).encode()


def spread(values: Sequence[float], scale: float = 1.0) -> dict[str, float]:
    """Median and the 10th and 90th percentile."""
    ordered = sorted(value * scale for value in values)
    tenth = len(ordered) // 10
    return {"median": statistics.median(ordered), "p10": ordered[tenth], "p90": ordered[-1 - tenth]}
