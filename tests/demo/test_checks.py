"""Prefixes that are repeated byte for byte, and those that are not."""

from __future__ import annotations

import json

from ctxgc.demo.checks import TOOLS, Prefixes, changes, prefixes

CALLS = (b"1", b"2", b"3")


def body(*texts: str, tools: str = "[]", space: str = "") -> bytes:
    messages = ",".join(json.dumps({"role": "user", "content": text}) + space for text in texts)
    return f'{{"model":"m","messages":[{messages}],"tools":{tools}}}'.encode()


def test_a_history_that_only_grows_is_repeated_whole() -> None:
    bodies = body("a"), body("a", "b"), body("a", "b", "c", "d")
    assert changes(bodies) == (frozenset(), frozenset())
    assert prefixes(bodies, CALLS, {}) == Prefixes(2, 2, 0, 0)


def test_what_is_not_the_same_bytes_is_a_change() -> None:
    assert changes((body("a", "b"), body("A", "b", "c"))) == ({0},)
    assert changes((body("a", "b"), body("a"))) == ({1},)
    assert changes((body("a"), body("a", tools="[1]"))) == ({TOOLS},)
    escaped = body("é"), body("é").replace(b"\\u00e9", "é".encode())
    assert json.loads(escaped[0]) == json.loads(escaped[1])
    assert changes(escaped) == ({0},)


def test_only_what_the_collection_of_that_very_request_names_may_change() -> None:
    bodies = body("a", "b", "c"), body("a", "-", "c", "d"), body("a", "-", "c", "d", "e")
    assert prefixes(bodies, CALLS, {b"2": frozenset({1})}) == Prefixes(2, 1, 1, 0)
    assert prefixes(bodies, CALLS, {b"2": frozenset({1, 2})}).broken == 0
    assert prefixes(bodies, CALLS, {b"2": frozenset({2})}).broken == 1
    assert prefixes(bodies, CALLS, {b"3": frozenset({1})}).broken == 1
    assert prefixes(bodies, CALLS, {}).broken == 1
