from __future__ import annotations

from ctxgc.tokens.memo import CountMemo, content_key


def test_what_was_used_longest_ago_is_forgotten_first():
    memo = CountMemo(2)
    memo.put(b"a", 1)
    memo.put(b"b", 2)
    assert memo.get(b"a") == 1
    memo.put(b"c", 3)
    assert (memo.get(b"a"), memo.get(b"b"), memo.get(b"c")) == (1, None, 3)
    assert len(memo) == 2


def test_a_count_of_zero_is_remembered():
    memo = CountMemo()
    memo.put(b"a", 0)
    assert memo.get(b"a") == 0


def test_keys_are_small_and_differ_with_the_content():
    assert len(content_key(b"x" * 10**6)) == 16
    assert content_key(b"a") != content_key(b"b")
