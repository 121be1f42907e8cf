"""Whole-text reference encodings, and texts of the kinds an agent's context is made of."""

from __future__ import annotations

import base64
import json
import random
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxgc.tokens.ranks import load_encoding

Ids = Callable[[str], list[int]]


@pytest.fixture(scope="session")
def o200k() -> Ids:
    return load_encoding("o200k_base").encode_ordinary


@pytest.fixture(scope="session")
def cl100k() -> Ids:
    return load_encoding("cl100k_base").encode_ordinary


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a network connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="session")
def corpora() -> dict[str, str]:
    """About 60 KB each, so that each is counted in several pieces."""
    rng = random.Random(7)
    words = ["the", "cache", "isn't", "cold,", "we'll", "keep", "what", "they've", "read;", "don't", "rewrite", "1,024"]
    hanzi = "我们把上下文当作一个堆来管理，谁分配了它。还有谁引用它？保留它要花多少钱！"
    rows = [{"id": i, "name": f"user_{i}", "ok": i % 3 == 0, "tags": ["a/b", "c-d"]} for i in range(900)]
    return {
        "code": Path(json.__file__).with_name("decoder.py").read_text() * 5,
        "json": json.dumps(rows, indent=2),
        "minified": json.dumps(rows, separators=(",", ":")),
        "english": " ".join(rng.choice(words) + rng.choice(["", ",", ".\n\n"]) for _ in range(12_000)),
        "chinese": "".join(rng.choice(hanzi) for _ in range(30_000)),
        "log": "".join(f"-rw-r--r-- 1 root root {rng.randrange(10**7)} a{i}.py\r\n" for i in range(1_500)),
        "base64": base64.b64encode(rng.randbytes(45_000)).decode(),
        "hex": rng.randbytes(30_000).hex(),
        "paths": "".join(f"/usr/lib/python3/x{rng.randrange(99)}.py:\n//\n\n\t/tmp\n" for _ in range(1_500)),
    }
