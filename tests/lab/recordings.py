"""Transcripts written by hand, as values and as files, for what is measured on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ctxgc.lab.cases import Case, case_of
from ctxgc.lab.classes import PriceClass, price_class
from ctxgc.lab.segments import segments
from ctxgc.lab.transcripts import Transcript

from .build import agent, call, result, system, user

SECRET = "the port is set in settings/server_port.toml"
FILLER = "\n".join(f"line {number} says nothing" for number in range(400))
LONG = f"first\n{FILLER}\n{SECRET}\n{FILLER}\nlast"
"""A result that any cut in the middle takes SECRET from."""
HISTORY = [
    system(),
    user("find the port"),
    call("search", "1", query="port"),
    result("1", LONG),
    agent("let me look"),
    user("go on"),
    call("read", "2", path="settings/server_port.toml"),
    result("2", "port = 1"),
    agent("it is 1"),
]
"""A session in which one line of an old result is needed at the third request."""


def raw(messages: Sequence[dict]) -> tuple[bytes, ...]:
    return tuple(json.dumps(message).encode() for message in messages)


def transcript(messages: Sequence[dict] = HISTORY, **more: object) -> Transcript:
    roles = tuple(message["role"] for message in messages)
    return Transcript("t", raw(messages), roles, **{"model": "gpt-5", **more})


def case(messages: Sequence[dict] = HISTORY, **more: object) -> Case:
    (segment,) = segments(transcript(messages, **more))
    return case_of(segment)


def at_price(name: str) -> PriceClass:
    return price_class(name, lambda _: None)


def write(path: Path, messages: Sequence[dict] = HISTORY, **more: object) -> Path:
    path.write_text(json.dumps({"id": path.stem, "model": "gpt-5", "messages": messages, **more}))
    return path
