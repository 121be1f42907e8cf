"""ctxgc in process: a conversation around a list of messages, as dictionaries or as a client library's objects."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from ctxgc import Conversation, UnknownHandle, open_session
from ctxgc.core.journal import Bypass, Settlement, decode
from ctxgc.library import encode, outgoing, request_body
from ctxgc.policies.truncate import Truncate
from ctxgc.store import StoreError, StoreUnavailable, open_store
from tests.session.faults import FaultyStore
from tests.session.scripts import LONG, Dict, agent, call, exchange, memory, result, schema, system, user
from tests.strategies import histories

SMALL = (Truncate(budget=64),)
OPENING = [system(), user()]


def reply(message: Dict, **usage: int) -> ChatCompletion:
    """What the client library returns for a reply of the server."""
    return ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-5-2025",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": {"total_tokens": 0, "prompt_tokens": 0, "completion_tokens": 0, **usage},
        }
    )


def journal(store: Any, conversation: Conversation) -> list[Any]:
    return [decode(entry.body) for entry in store.entries(bytes.fromhex(conversation.id))]


def handle_in(message: Dict) -> str:
    return message["content"].partition("[ctxgc:")[2][:16]


def test_what_is_not_changed_is_the_very_object_that_came() -> None:
    messages = [*OPENING, *exchange(1), *exchange(2, "short")]
    with open_session(policies=SMALL) as conversation:
        conversation.prepare(messages[:4])
        sent = conversation.prepare(messages)
        assert [one is other for one, other in zip(sent, messages, strict=True)] == [
            True,
            True,
            True,
            False,
            True,
            True,
        ]
        assert sent[3] == {**messages[3], "content": sent[3]["content"]}
        assert conversation.recall(handle_in(sent[3])) == LONG


def test_the_list_that_came_is_not_touched() -> None:
    messages = [*OPENING, *exchange(1)]
    before = json.dumps(messages)
    with open_session(policies=SMALL) as conversation:
        assert conversation.prepare(messages) is not messages
    assert json.dumps(messages) == before


def test_a_loop_with_a_client_librarys_own_objects() -> None:
    messages: list[Any] = [*OPENING]
    with memory() as store, open_session(store=store, policies=SMALL) as conversation:
        for number in range(3):
            sent = conversation.prepare(messages, tools=[schema()])
            assert all(isinstance(one, ChatCompletionMessage) for one in sent[2::2])
            answer = reply(agent(None, call(f"c{number}")), prompt_tokens=100, completion_tokens=5)
            conversation.settle(answer)
            messages += [answer.choices[0].message, result(f"c{number}", LONG)]
        sent = conversation.prepare(messages, tags={2: "notes"}, pins=[2])
        assert [one is other for one, other in zip(sent, messages, strict=True)][2:] == [True, False] * 3
        settlements = [entry for entry in journal(store, conversation) if isinstance(entry, Settlement)]
        assert [(one.usage.uncached, one.usage.output, one.model) for one in settlements] == [
            (100, 5, "gpt-5-2025")
        ] * 3
        assert [store.blob(one.reply) for one in settlements[:1]] == [
            encode(reply(agent(None, call("c0")), prompt_tokens=100, completion_tokens=5))
        ]


@given(histories())
@settings(max_examples=30)
def test_without_policies_every_history_comes_back_as_it_is(messages: list[Dict]) -> None:
    with open_session(policies="observe") as conversation:
        sent = conversation.prepare(messages)
        assert all(one is other for one, other in zip(sent, messages, strict=True))


@pytest.mark.parametrize(
    "message",
    [
        user("\ud800 alone"),
        user("big") | {"n": 10**30},
        user("é漢字😀"),
        OrderedDict(user("another mapping")),
        {**user("a float"), "n": 1e300},
    ],
)
def test_what_json_writes_in_a_way_of_its_own_still_comes_back_as_it_is(message: Any) -> None:
    with open_session(policies=SMALL) as conversation:
        sent = conversation.prepare([message, *exchange(1)])
        assert sent[0] is message
        assert "[ctxgc:" in sent[2]["content"]


@pytest.mark.parametrize("message", [object(), {"role": "user", "content": object()}, 7, None])
def test_what_json_cannot_hold_goes_as_it_came(message: Any) -> None:
    with memory() as store, open_session(store=store) as conversation:
        messages = [user(), message]
        sent = conversation.prepare(messages)
        assert all(one is other for one, other in zip(sent, messages, strict=True))
        conversation.settle()
        store.flush()
        assert any(isinstance(entry, Bypass) for entry in journal(store, conversation))


def test_tags_and_pins_by_argument() -> None:
    messages = [*OPENING, *exchange(1), *exchange(2)]
    with open_session(policies=SMALL) as conversation:
        conversation.prepare(messages[:4], tags={3: "catalogue"}, pins=[3])
        sent = conversation.prepare(messages, tags={3: "catalogue", 5: "catalogue"}, pins=[3])
        cells = [cell for cell in conversation.state.cells if cell.tag == "catalogue"]
        assert [(cell.pinned, cell.sent == cell.tokens) for cell in cells] == [(True, True), (False, False)]
        assert sent[3] is messages[3]
        assert all("ctxgc" not in message for message in sent)


def test_tags_of_tools_that_retrieve() -> None:
    with open_session(tags={"find_*": "web"}) as conversation:
        conversation.prepare([*OPENING, *exchange(1, "r", name="find_pages")])
        assert conversation.state.cells[-1].tag == "retrieval:web"


def test_tools_are_counted() -> None:
    with open_session() as conversation:
        conversation.prepare(OPENING, tools=[schema()])
        assert next(cell.tag for cell in conversation.state.cells) == "tool_schema:search"


def test_the_model_of_a_call_counts_before_the_conversations() -> None:
    with memory() as store, open_session(store=store, model="gpt-4o") as conversation:
        conversation.prepare(OPENING)
        conversation.prepare(OPENING, model="gpt-5")
        conversation.close()
        assert [entry.model for entry in journal(store, conversation) if hasattr(entry, "head")] == ["gpt-4o", "gpt-5"]


def test_a_part_of_what_is_recalled() -> None:
    with open_session(policies=SMALL) as conversation:
        conversation.prepare([*OPENING, *exchange(1)])
        (handle,) = conversation.state.by_handle
        assert conversation.recall(handle) == LONG
        assert conversation.recall(handle, (2, 3)).startswith(
            "line 1 of the listing\nline 2 of the listing\n[lines 2-3 of "
        )
        assert "line 7 of the listing" in conversation.recall(handle, search="LINE 7 ")


def test_recall_of_an_unknown_handle() -> None:
    with open_session() as conversation, pytest.raises(UnknownHandle):
        conversation.recall("a" * 16)


def test_a_named_session_goes_on_after_it_was_closed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'audit.db'}"
    messages = [*OPENING, *exchange(1)]
    with open_session("nightly", store=url, policies=SMALL) as first:
        sent = first.prepare(messages)
        first.settle({"usage": {"prompt_tokens": 9, "completion_tokens": 1}})
    with open_session("nightly", store=url, policies="observe") as second:
        assert second.id == first.id
        assert second.prepare([*messages, agent("ok"), user("more")])[:4] == sent
        assert second.recall(handle_in(sent[3])) == LONG
    with open_session("another", store=url) as other:
        assert other.prepare(messages) == messages
        with pytest.raises(UnknownHandle):
            other.recall(handle_in(sent[3]))


def test_sessions_without_a_name_are_never_one() -> None:
    with memory() as store, open_session(store=store) as one, open_session(store=store) as other:
        assert one.id != other.id


def test_an_open_store_is_left_open(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'audit.db'}")
    with open_session(store=store) as conversation:
        conversation.prepare(OPENING)
    assert len(store.sessions()) == 1
    store.close()


def test_a_store_of_its_own_is_closed_even_if_it_cannot_be_written(tmp_path: Path) -> None:
    conversation = open_session(store=f"sqlite:///{tmp_path / 'audit.db'}")
    conversation._store.close()
    conversation.prepare(OPENING)
    with pytest.raises(StoreUnavailable):
        conversation.close()


def test_a_conversation_goes_on_where_another_process_has_added_to_it(tmp_path: Path) -> None:
    with memory() as store:
        one, other = (open_session("shared", store=store, policies=SMALL) for _ in range(2))
        one.prepare([*OPENING, *exchange(1)])
        one.settle()
        one._session.flush()
        other.prepare([user("quite another")])
        other.settle()
        with pytest.raises(StoreError):
            other._session.flush()
        other.prepare([*OPENING, *exchange(1), *exchange(2, "r")])
        other.settle()
        other.close()
        assert len(other.state.nodes) == 6


@pytest.mark.parametrize(
    ("given_reply", "error", "outcome"),
    [
        (None, "", "ok"),
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 1}}, "", "ok"),
        (None, "RateLimitError", "error"),
        ({"error": {"message": "no"}}, "", "error"),
    ],
)
def test_how_a_call_ended(given_reply: Any, error: str, outcome: str) -> None:
    with memory() as store, open_session(store=store) as conversation:
        conversation.prepare(OPENING)
        conversation.settle(given_reply, error=error)
        conversation.settle()
        conversation.close()
        settlements = [entry for entry in journal(store, conversation) if isinstance(entry, Settlement)]
        assert [(one.outcome, one.estimated > 0) for one in settlements] == [(outcome, True)]


def test_a_store_that_fails_stops_nothing() -> None:
    with memory() as real:
        store = FaultyStore(real)
        conversation = open_session(store=store, policies=SMALL)
        store.error = StoreUnavailable("gone")
        assert "[ctxgc:" in conversation.prepare([*OPENING, *exchange(1)])[3]["content"]
        conversation.settle()


def test_threads_may_share_a_conversation() -> None:
    messages = [*OPENING, *exchange(1)]
    failures: list[BaseException] = []
    with open_session(policies=SMALL) as conversation:
        expected = conversation.prepare(messages)

        def work(name: str) -> None:
            try:
                for number in range(10):
                    assert conversation.prepare(messages) == expected
                    conversation.prepare([*OPENING, agent(name), user(str(number))])
                    conversation.settle()
                    assert conversation.recall(handle_in(expected[3])) == LONG
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(conversation.state.nodes) == 4 + 4 * (1 + 10)


def test_control_messages_that_are_rebuilt_are_noticed() -> None:
    messages = [*OPENING, *exchange(1)]
    body = request_body([encode(message) for message in messages], "m", {})
    again = [json.loads(encode(message)) for message in messages]
    assert all(one is other for one, other in zip(outgoing(messages, body), messages, strict=True))
    assert not any(one is other for one, other in zip(again, messages, strict=True))


def test_messages_may_come_from_a_generator() -> None:
    with open_session() as session:
        assert session.prepare(message for message in OPENING) == OPENING


def test_a_program_that_ends_without_closing_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ended.db'}"
    code = (
        "import ctxgc\n"
        f"session = ctxgc.open_session('work', store={url!r})\n"
        "session.prepare([{'role': 'user', 'content': 'hello'}])\n"
        "session.settle({'choices': []})\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    store = open_store(url)
    kinds = [entry.kind for row in store.sessions() for entry in store.entries(row.key)]
    store.close()
    assert kinds == ["open", "allocation", "settlement", "marking"]
