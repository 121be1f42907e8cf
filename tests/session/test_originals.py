"""The way back: every call's bytes from journal and store, and what is said of those that do not agree."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from ctxgc.core.journal import Allocation, AnyEntry, Collection, decode
from ctxgc.core.state import State
from ctxgc.errors import UnknownHandle
from ctxgc.session import Kit, Session
from ctxgc.session.originals import disagreements, lines, received, sent
from ctxgc.store import Store, StoreMissing, open_store
from tests.session.scripts import (
    KEY,
    LONG,
    STYLES,
    agent,
    body,
    call,
    drive,
    exchange,
    fresh,
    kit,
    memory,
    restored,
    result,
    send,
    system,
    user,
)

SCRIPT = [
    body([system(), user()], STYLES[1]),
    body([system(), user(), *exchange(1)], STYLES[1]),
    None,
    body([system(), user(), *exchange(1), *exchange(2, "short")], STYLES[1]),
    body([system(), user(), *exchange(1), *exchange(3)], STYLES[2]),
]


@pytest.fixture
def used() -> Iterator[Kit]:
    with memory() as store:
        yield kit(store)


def entries(store: Store) -> list[AnyEntry]:
    return [decode(stored.body) for stored in store.entries(KEY)]


def test_every_call_rebuilds_to_the_bytes_that_came_and_left(used: Kit) -> None:
    _, calls = drive(SCRIPT, used)
    state, rebuilt = State(), []
    log = entries(used.store)
    for at, entry in enumerate(log):
        state.apply(entry)
        following = log[at + 1] if at + 1 < len(log) else None
        if isinstance(following, Collection):
            state.apply(following)
        if isinstance(entry, Allocation):
            rebuilt.append(tuple(form(state, used.store, used.codec, entry) for form in (received, sent)))
    assert rebuilt == [(came, prepared.body) for came, prepared in calls]


def test_a_big_body_is_kept_in_blobs_and_only_once(used: Kit) -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{number}", "description": LONG}} for number in range(20)]
    small = {f"option_{number}": "a few words of no use" for number in range(60)}
    session = fresh(used)
    for number in range(3):
        big = {"tools": tools, "metadata": {"x": LONG}}
        send(session, body([user(), *exchange(number, "r")], STYLES[number], **big, **small))
    session.flush()
    assert list(disagreements(entries(used.store), used.store, used.codec)) == []
    assert all(len(stored.body) < 20_000 for stored in used.store.entries(KEY))


@pytest.mark.parametrize("field", ["received", "sent"])
def test_control_a_changed_hash_is_named(used: Kit, field: str) -> None:
    drive(SCRIPT, used)
    log = entries(used.store)
    log = [structs.replace(one, **{field: bytes(32)}) if isinstance(one, Allocation) else one for one in log]
    found = list(disagreements(log, used.store, used.codec))
    assert len(found) == 4
    assert all(f"the body {field} in call" in one for one in found)


def test_control_a_changed_edit_is_named(used: Kit) -> None:
    drive(SCRIPT, used)
    log = entries(used.store)
    at = next(at for at, one in enumerate(log) if isinstance(one, Collection))
    log[at] = structs.replace(log[at], edits=(replace(log[at].edits[0], text="other"),))
    (first, *_) = disagreements(log, used.store, used.codec)
    assert "the body sent" in first


class _Without:
    """A store in which one content cannot be found."""

    def __init__(self, store: Store, digest: bytes) -> None:
        self._store, self._digest = store, digest

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def blob(self, digest: bytes) -> bytes:
        return self._store.blob(bytes(32) if digest == self._digest else digest)


def test_control_a_missing_blob_is_named(used: Kit) -> None:
    session, _ = drive(SCRIPT, used)
    lacking = _Without(used.store, session.state.nodes[1].blob)
    found = list(disagreements(entries(used.store), lacking, used.codec))
    assert len(found) == 2 * 3
    assert all("cannot be rebuilt" in one for one in found)


def test_control_a_tampered_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    store = open_store(f"sqlite:///{path}")
    session, _ = drive(SCRIPT, kit(store))
    node = session.state.nodes[0]
    store.close()
    with sqlite3.connect(path) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(
            "UPDATE blob SET data = cast(replace(data, 'brief', 'BRIEF') AS BLOB) WHERE hash = ?", (node.blob,)
        )
    database.close()
    store = open_store(f"sqlite:///{path}")
    try:
        assert any("cannot be rebuilt" in one for one in disagreements(entries(store), store, kit(store).codec))
        assert list(store.verify())
    finally:
        store.close()


# Recall


def test_every_handle_gives_the_original_back_also_after_a_restart(used: Kit) -> None:
    session, _ = drive(SCRIPT, used)
    handles = [edit.handle for edit in session.state.edits.values()]
    assert [session.recall(handle) for handle in handles] == [LONG, LONG]
    again = restored(used)
    assert [again.recall(handle) for handle in handles] == [LONG, LONG]


@pytest.mark.parametrize("handle", ["", "aaaaaaaaaaaaaaaa", "\ud800", "x" * 10_000])
def test_an_unknown_handle(used: Kit, handle: str) -> None:
    session, _ = drive(SCRIPT, used)
    with pytest.raises(UnknownHandle):
        session.recall(handle)


def test_another_sessions_handle_is_unknown(used: Kit) -> None:
    session, _ = drive(SCRIPT, used)
    (edit, *_) = session.state.edits.values()
    other = fresh(used, b"o" * 32)
    send(other, body([user()]))
    send(other, body([user(), *exchange(1)]))
    with pytest.raises(UnknownHandle):
        other.recall(edit.handle)
    (own,) = other.state.edits.values()
    assert own.handle != edit.handle
    assert other.recall(own.handle) == LONG


def test_recalls_are_in_the_journal(used: Kit) -> None:
    session, _ = drive(SCRIPT, used)
    edit, *_ = session.state.edits.values()
    session.recall(edit.handle, by="model")
    with pytest.raises(UnknownHandle):
        session.recall("aaaaaaaaaaaaaaaa")
    session.flush()
    found = [(one.by, one.cell, one.found) for one in entries(used.store)[-2:]]
    assert found == [("model", session.state.by_handle[edit.handle], True), ("host", -1, False)]


def test_lines_of_a_text() -> None:
    text = "one\ntwo\r\nthree\u2028still three\n"
    assert lines(text, 2, 3) == "two\r\nthree\u2028still three\n"
    assert lines(text, 0, 1) == "one\n"
    assert lines(text, 9, 10) == ""


def test_however_many_results_are_shortened_in_one_request_all_are_rebuilt(used: Kit) -> None:
    calls = [call(f"call_{number}", arguments=json.dumps({"q": number})) for number in range(20)]
    results = [result(f"call_{number}", f"{number} {LONG}") for number in range(20)]
    drive([body([system(), user(), agent(None, *calls), *results], STYLES[1])], used)
    log = entries(used.store)
    assert [len(entry.edits) for entry in log if isinstance(entry, Collection)] == [20]
    assert list(disagreements(log, used.store, used.codec)) == []


@pytest.mark.parametrize("place", ["front", "back"])
@pytest.mark.parametrize("name", ["api_key", "API_KEY", "extra_headers"])
def test_a_credential_in_a_body_is_not_kept_and_the_rest_is(used: Kit, place: str, name: str) -> None:
    secret = json.dumps("sk-in-the-body" if name != "extra_headers" else {"authorization": "sk-in-the-body"})
    rest = f'"messages":{json.dumps([system(), user()])}'
    own = f'"note":"sk","{name}":{secret}'
    text = "{%s}" % (f"{own},{rest}" if place == "front" else f"{rest},{own}")
    session = fresh(used)
    assert send(session, text.encode()).body == text.encode()
    session.flush()
    log = entries(used.store)
    stored = [
        *(entry.body for entry in used.store.entries(KEY)),
        *(used.store.blob(node.blob) for node in session.state.nodes),
    ]
    assert not any(base64.b64encode(b"sk-in-the-body")[:12] in body or b"sk-in-the-body" in body for body in stored)
    assert list(disagreements(log, used.store, used.codec)) == []
    (allocation,) = [entry for entry in log if isinstance(entry, Allocation)]
    with pytest.raises(StoreMissing, match="withheld"):
        received(session.state, used.store, used.codec, allocation)
    assert not any(b"sk-in-the-body" in piece.inline for piece in (*allocation.before, *allocation.after))


def test_control_a_member_of_another_name_is_kept(used: Kit) -> None:
    text = b'{"note":"sk-in-the-body","messages":%b}' % json.dumps([user()]).encode()
    session = fresh(used)
    send(session, text)
    (allocation,) = [entry for entry in entries_of(session, used) if isinstance(entry, Allocation)]
    assert any(b"sk-in-the-body" in piece.inline for piece in allocation.before)


def entries_of(session: Session, used: Kit) -> list[AnyEntry]:
    session.flush()
    return entries(used.store)
