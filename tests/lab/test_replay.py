"""The requests of a transcript, and what the session makes of them."""

import json
from pathlib import Path

import pytest

from ctxgc.core.journal import Allocation, Bypass, Settlement, Usage
from ctxgc.core.state import fold
from ctxgc.lab.profile import profile
from ctxgc.lab.replay import last_calls, replay, requests
from ctxgc.lab.transcripts import Transcript, read
from ctxgc.session.originals import disagreements
from ctxgc.store import StoreError, open_store
from ctxgc.wire.openai_chat import OpenAIChat

from .build import Keep, agent, call, kit, result, system, user

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
HISTORY = [system(), user("do it"), call("read", "1", path="a"), result("1", "text " * 30), agent("done"), user("more")]


def transcript(messages, **more) -> Transcript:
    raw = tuple(json.dumps(message).encode() for message in messages)
    return Transcript("t", raw, tuple(message["role"] for message in messages), **{"model": "m", **more})


@pytest.fixture
def store():
    store = open_store("sqlite://")
    yield store
    store.close()


def sizes(found: Transcript) -> list[int]:
    return [len(json.loads(text)["messages"]) for text in requests(found)]


def test_one_request_per_reply_and_one_for_what_was_not_answered():
    assert sizes(transcript(HISTORY)) == [2, 4, 6]


def test_no_request_behind_the_last_reply():
    assert sizes(transcript(HISTORY[:5])) == [2, 4]


def test_a_reply_to_nothing_is_no_request():
    assert sizes(transcript([agent("hello"), user("hi")])) == [2]


def test_bodies_hold_the_messages_byte_for_byte_and_the_tools():
    found = transcript(HISTORY, tools=b'[ {"type": "function"} ]')
    *_, last = requests(found)
    assert b",".join(found.messages) in last
    assert json.loads(last)["tools"] == [{"type": "function"}]
    assert json.loads(last)["model"] == "m"


def test_the_model_can_be_replaced():
    assert json.loads(next(requests(transcript(HISTORY), "other")))["model"] == "other"


def test_after_a_compaction_only_the_system_prompt_is_sent_again():
    found = transcript([*HISTORY, agent("ok"), user("summary: all done"), agent("fine")], compactions=(7,))
    last = json.loads(list(requests(found))[-1])["messages"]
    assert last == [HISTORY[0], user("summary: all done")]


def test_the_journal_is_complete_and_rebuilds_every_request(store):
    found = replay(transcript(HISTORY), kit(store, Keep()))
    assert not list(disagreements(found.entries, store, OpenAIChat()))
    assert sum(isinstance(entry, Allocation) for entry in found.entries) == 3
    assert fold(found.entries).cells == found.state.cells
    assert len(found.state.edits) == 1


def test_reported_usage_is_settled_with_the_request_it_was_reported_for(store):
    usage = Usage(uncached=7, output=2)
    found = replay(transcript(HISTORY, usage=((4, usage),)), kit(store))
    settled = [entry for entry in found.entries if isinstance(entry, Settlement)]
    assert [entry.usage for entry in settled] == [None, usage, None]
    assert settled[1].estimated == found.state.tokens(3, -1, sent=True)


def test_the_calls_of_a_last_reply_are_known_though_no_request_carries_them(store):
    found = replay(transcript([*HISTORY, call("submit", "9")]), kit(store))
    assert found.last_calls == ("submit",)


def test_a_last_reply_without_calls_has_none(store):
    assert replay(transcript(HISTORY[:5]), kit(store)).last_calls == ()


def test_a_transcript_is_not_replayed_twice_into_one_store(store):
    made = kit(store)
    replay(transcript(HISTORY), made)
    with pytest.raises(StoreError):
        replay(transcript(HISTORY), made)


def test_the_calls_of_a_kept_reply_are_read_from_it(store):
    reply = json.dumps({"choices": [{"index": 0, "message": call("submit", "9"), "finish_reason": "tool_calls"}]})
    found = replay(transcript(HISTORY[:2]), kit(store))
    ended = Settlement(at=1.0, call=b"x", outcome="ok", status=200, reply=b"h" * 32)
    assert last_calls((*found.entries, ended), Blobs(reply.encode()), OpenAIChat()) == ("submit",)
    assert last_calls(found.entries, Blobs(b""), OpenAIChat()) == ()
    later = next(entry for entry in found.entries if isinstance(entry, Allocation))
    assert last_calls((*found.entries, ended, later), Blobs(reply.encode()), OpenAIChat()) == ()


class Blobs:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def blob(self, _: bytes) -> bytes:
        return self.content


@pytest.mark.slow
@pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not here")
def test_recorded_sessions_replay_without_a_bypass_and_rebuild():
    paths = sorted(TRACES.glob("*.jsonl.gz"))[::15]
    assert paths
    for path in paths:
        store = open_store("sqlite://")
        found = replay(next(read(path)), kit(store, Keep(400)))
        assert not [entry for entry in found.entries if isinstance(entry, Bypass)], path.name
        assert not list(disagreements(found.entries, store, OpenAIChat())), path.name
        made = profile(found.entries)
        assert made.total.sent_turns == sum(request.total_sent for request in made.requests), path.name
        store.close()
