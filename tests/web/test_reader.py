"""What reads a store for the page: sessions that are kept ready, and a list that is quick whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ctxgc.assemble import make_kit
from ctxgc.core.journal import Settlement, decode
from ctxgc.lab.profile import profile
from ctxgc.lab.replay import last_calls
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import Store, StoreCorrupt, open_store
from ctxgc.web import listing, reader
from ctxgc.web.frames import Asked, Terms
from ctxgc.web.reader import Reader
from ctxgc.wire.openai_chat import OpenAIChat
from tests.lab.build import agent, body, call, result, tool, user


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    yield opened
    opened.close()


def key(number: int) -> bytes:
    return bytes([number]) * 32


class Talk:
    """A session that goes on request by request."""

    def __init__(self, store: Store, number: int = 1) -> None:
        self.session = Session(key(number), b"s" * 32, "prefix", make_kit(store, preset("observe")))
        self.id, self.history = key(number).hex(), [user("hi")]
        self.more()

    def more(self, reply: bytes = b"") -> None:
        prepared = self.session.prepare(body(self.history, [tool("look"), tool("submit")], "gpt-5"))
        self.session.settle(Settlement(at=1.0, call=prepared.call, outcome="ok", status=200), reply)
        self.session.flush()
        self.history += [agent("yes"), user("go on")]


def got(found: Reader, path: str, status: int = 200, **more: Any) -> Any:
    answer = found.answer(Asked(path=path, **more))
    assert answer.status == status, answer.body
    return json.loads(answer.body)


def grown(found: Reader) -> dict[str, int]:
    return dict(got(found, "grown", query={"calm": ""})["sessions"])


def test_a_session_that_grows_is_read_on_and_not_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    talk, found, starts = Talk(store), Reader(store, Terms(url="")), []
    entries = store.entries

    def watched(session: bytes, start: int = 0) -> Any:
        starts.append(start)
        return entries(session, start)

    monkeypatch.setattr(store, "entries", watched)
    before = got(found, f"sessions/{talk.id}")
    talk.more()
    after = got(found, f"sessions/{talk.id}")
    assert after["turns"]["count"] == before["turns"]["count"] + 1
    assert starts == [0, before["entries"]]
    assert after == got(Reader(store, Terms(url="")), f"sessions/{talk.id}")


@pytest.mark.parametrize("kept", [True, False])
def test_calls_in_the_newest_reply_count_though_no_request_carries_them(store: Store, kept: bool) -> None:
    talk, found = Talk(store), Reader(store, Terms(url=""))
    message = {"index": 0, "message": call("submit", "9"), "finish_reason": "tool_calls"}
    talk.more(json.dumps({"choices": [message]}).encode() if kept else b"")
    calls = {one["name"]: (one["calls"], one["last_call"]) for one in got(found, f"sessions/{talk.id}")["tools"]}
    assert calls == {"look": (0, 0), "submit": (1, 2) if kept else (0, 0)}
    entries = [decode(stored.body) for stored in store.entries(key(1))]
    schemas = profile(entries, last_calls=last_calls(entries, store, OpenAIChat())).schemas
    assert {one.name: one.calls for one in schemas} == {name: count for name, (count, _) in calls.items()}
    talk.history[-2:] = [call("submit", "9"), result("9", "done")]
    talk.more()
    calls = {one["name"]: (one["calls"], one["last_call"]) for one in got(found, f"sessions/{talk.id}")["tools"]}
    assert calls["submit"] == (1, 3), "it came with the third request, and is counted once"


def test_only_so_many_are_kept_and_the_list_takes_nobodys_place(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "VIEWS", 2)
    talks, found = [Talk(store, number) for number in range(1, 6)], Reader(store, Terms(url=""))
    for talk in talks[:3]:
        got(found, f"sessions/{talk.id}")
    assert list(found._views) == [key(2), key(3)]
    assert all(line["requests"] == 1 for line in got(found, "sessions")["sessions"])
    assert set(found._views) == {key(2), key(3)}


def test_long_ones_leave_less_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST", 1)
    talks, found = [Talk(store, number) for number in range(1, 4)], Reader(store, Terms(url=""))
    for talk in talks:
        got(found, f"sessions/{talk.id}")
    assert list(found._views) == [key(3)]


def test_a_list_that_would_take_long_comes_without_figures_and_then_with_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks, found = [Talk(store, number) for number in range(1, 4)], Reader(store, Terms(url=""))
    monkeypatch.setattr(listing, "AT_ONCE", -1.0)
    assert [line["requests"] for line in got(found, "sessions")["sessions"]] == [None] * 3
    grown(found)
    monkeypatch.setattr(listing, "AT_ONCE", 60.0)
    assert set(grown(found)) == {talk.id for talk in talks}, "whoever listens hears that there is more to see"
    assert [line["requests"] for line in got(found, "sessions")["sessions"]] == [1] * 3
    assert grown(found) == {}


@pytest.mark.parametrize("waits", [True, False])
def test_whoever_waits_for_one_session_does_not_wait_for_figures_of_all(store: Store, waits: bool) -> None:
    talk, waiting = Talk(store), waits
    found = Reader(store, Terms(url=""), lambda: waiting)
    known = None if waits else 1
    assert got(found, "sessions")["sessions"][0]["requests"] == known
    grown(found)
    assert got(found, "sessions")["sessions"][0]["requests"] == known
    assert got(found, f"sessions/{talk.id}")["turns"]["count"] == 1
    waiting = False
    assert got(found, "sessions")["sessions"][0]["requests"] == 1


def test_a_long_session_is_left_to_the_time_between(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LONG", 1)
    Talk(store)
    found = Reader(store, Terms(url=""))
    assert got(found, "sessions")["sessions"][0]["requests"] is None
    grown(found)
    assert got(found, "sessions")["sessions"][0]["requests"] == 1


def test_figures_are_for_the_newest_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "NEWEST", 1)
    for number in (1, 2):
        Talk(store, number)
    lines = got(Reader(store, Terms(url="")), "sessions")["sessions"]
    assert {line["id"]: line["requests"] for line in lines} == {key(1).hex(): None, key(2).hex(): 1}


def test_what_has_grown_is_told_once(store: Store) -> None:
    talk, found = Talk(store), Reader(store, Terms(url=""))
    assert grown(found) == {talk.id: store.sessions()[0].entries}
    assert grown(found) == {}
    talk.more()
    assert grown(found) == {talk.id: store.sessions()[0].entries}
    assert grown(found) == {}


def test_live_sessions_are_those_that_are_said_to_be(store: Store) -> None:
    talk, found = Talk(store), Reader(store, Terms(url=""))
    for live, acts in ((True, True), (True, False), (False, True)):
        asked = {"live": (talk.id,) if live else (), "acts": acts}
        summary = got(found, f"sessions/{talk.id}", **asked)
        assert summary["live"] is live
        assert set(summary["actions"].values()) == {live and acts}
        assert got(found, "sessions", **asked)["sessions"][0]["live"] is live


def test_the_beginning_of_an_id_will_do_if_it_is_long_enough(store: Store) -> None:
    talk, found = Talk(store), Reader(store, Terms(url=""))
    assert got(found, f"sessions/{talk.id[:8]}")["id"] == talk.id
    got(found, f"sessions/{talk.id[:7]}", 404)


def test_a_damaged_session_is_said_and_the_others_are_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = Talk(store, 1), Talk(store, 2)
    entries = store.entries

    def damaged(session: bytes, start: int = 0) -> Any:
        if session == key(2):
            raise StoreCorrupt("entry 1 does not match its leaf: run verify")
        return entries(session, start)

    monkeypatch.setattr(store, "entries", damaged)
    found = Reader(store, Terms(url=""))
    assert {line["id"] for line in got(found, "sessions")["sessions"]} == {whole.id, broken.id}
    assert "run verify" in got(found, f"sessions/{broken.id}", 503)["error"]["message"]
    got(found, f"sessions/{whole.id}")


def test_a_fault_of_one_document_is_an_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    talk, found = Talk(store), Reader(store, Terms(url=""))
    monkeypatch.setattr(reader, "diff_document", lambda *_, **__: 1 / 0)
    error = got(found, f"sessions/{talk.id}/diff", 500, query={"turn": "1"})["error"]
    assert (error["type"], error["message"]) == ("ctxgc_fault", "this cannot be shown: ZeroDivisionError")
