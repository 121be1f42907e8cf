from dataclasses import replace

import pytest

from ctxgc.store import KINDS, Node, StoreRefused, Stub
from ctxgc.store.records import check

from .helpers import digest, record

GOOD = Node(0, -1, digest(b"c"), digest(b"m"), digest(b"b"))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_accepted(kind):
    check(record(1, kind=kind))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"session": b"short"}, "session must be 32 bytes"),
        ({"kind": "gossip"}, "unknown kind of entry 'gossip'"),
        ({"idem": b"1"}, "idem must be 16 bytes"),
        ({"body": b"\xff"}, "UTF-8"),
        ({"body": "text"}, "UTF-8"),
        ({"blobs": ("text",)}, "blobs must be bytes"),
        ({"at": -1}, "-1 is no position in a log"),
        ({"at": True}, "True is no position in a log"),
        ({"at": 1.0}, "1.0 is no position in a log"),
        ({"nodes": (replace(GOOD, chain=b""),)}, "chain of a node must be 32 bytes"),
        ({"nodes": (replace(GOOD, parent=0),)}, "node 0 has parent 0"),
        ({"nodes": (replace(GOOD, parent=-2),)}, "node 0 has parent -2"),
        ({"stubs": (Stub("short", 1),)}, "handle 'short' is not 16 characters"),
        ({"stubs": (Stub("ABCDEFGHIJKLMNOP", 1),)}, "is not 16 characters of a-z2-7"),
    ],
)
def test_a_record_that_breaks_a_rule_is_refused_and_says_which(wrong, words):
    with pytest.raises(StoreRefused, match=words):
        check(replace(record(1), **wrong))


def test_weight_is_what_a_record_keeps_in_memory():
    assert record(1, body=b"12345", blobs=(b"123", b"")).weight == 8
