"""A store whose contradictions are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxgc.store import Store, StoreCorrupt, Stored, StoreMissing
from ctxgc.telemetry import watched
from tests.lab.collected import KEY, bodies, collecting_kit, run
from tests.session.scripts import memory


class Changed:
    """A store in which somebody changed all there is."""

    def entries(self, session: bytes, start: int = 0) -> Iterator[Stored]:
        yield Stored(0, "open", b"", b"", b"")
        raise StoreCorrupt("entry 1 does not match its leaf")

    def blob(self, digest: bytes) -> bytes:
        raise StoreCorrupt("does not match its hash") if digest else StoreMissing("no such blob")


def seen_through(store: object) -> tuple[Store, list[None]]:
    told: list[None] = []
    return watched(store, lambda: told.append(None)), told  # type: ignore[arg-type]


def test_what_contradicts_its_hash_is_told_and_raised_all_the_same():
    store, told = seen_through(Changed())
    entries = store.entries(b"s")
    assert next(entries).kind == "open"
    assert not told
    with pytest.raises(StoreCorrupt):
        next(entries)
    with pytest.raises(StoreCorrupt):
        store.blob(b"d")
    assert len(told) == 2


def test_control_what_is_only_missing_is_no_contradiction():
    store, told = seen_through(Changed())
    with pytest.raises(StoreMissing):
        store.blob(b"")
    assert not told


def test_a_store_that_is_whole_gives_what_it_gave():
    with memory() as inner:
        store, told = seen_through(inner)
        run(collecting_kit(store), bodies(3))
        assert [one.leaf for one in store.entries(KEY)] == [one.leaf for one in inner.entries(KEY)]
        assert next(iter(store.entries(KEY, 1))).seq == 1
        assert (store.secret, store.size()) == (inner.secret, inner.size())
    assert not told
