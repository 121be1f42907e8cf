"""Compaction of a wrapped client's conversations: its own model is asked, or another summariser, and nobody waits."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

import ctxgc
from ctxgc.core.compaction import Compaction, Milestone, Summary
from ctxgc.core.journal import Bypass
from ctxgc.store import Store, open_store
from ctxgc.summarise import Ask, Said
from tests.chat_server import ChatServer, chat_server, text
from tests.proxy.compactions import DEMAND, FACT, found, story
from tests.session.scripts import Dict, memory
from tests.test_background import HANG, joined, left
from tests.test_compaction_in_process import LAST, OVER, SMALL, TOOLS, Held, entries, finding, raising, text_of


@pytest.fixture
def store() -> Iterator[Store]:
    with memory() as opened:
        yield opened


@pytest.fixture(autouse=True)
def threads_end() -> Iterator[None]:
    """No test may leave a thread behind."""
    yield
    joined()
    assert not left()


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.replies, running.bodies, running.breaks = [], [], False
    return running


@contextmanager
def client(server: ChatServer, store: Store, **options: Any) -> Iterator[Any]:
    with openai.OpenAI(base_url=server.url, api_key="sk-wrapped-4711", max_retries=0) as real:
        yield ctxgc.wrap(real, store=store, policies=SMALL, **options)


def go(wrapped: Any, first: int, last: int) -> None:
    for turns in range(first, last + 1):
        wrapped.chat.completions.create(model="gpt-5", messages=story(turns), tools=TOOLS)


def everything(store: Store, kind: type[Any]) -> list[Any]:
    return [one for row in store.sessions() for one in entries(store, row.key.hex(), kind)]


def background(wrapped: Any) -> Any:
    return wrapped.ctxgc._calls._background


@pytest.mark.parametrize("asker", [finding, raising], ids=["that answers", "that raises"])
def test_a_wrapped_client_is_compacted_with_a_summariser(
    server: ChatServer, store: Store, asker: Callable[[Ask], Said]
) -> None:
    with client(server, store, summariser=asker, ledger="main") as wrapped:
        go(wrapped, 1, OVER)
        background(wrapped).wait(HANG)
        go(wrapped, OVER + 1, OVER + 3)
        wrapped.ctxgc.flush()
        (made,) = everything(store, Compaction)
        assert made.by == ("found by us" if asker is finding else "")
        sent = server.bodies[-1]["messages"]
        assert len(sent) < len(story(OVER + 3))
        assert DEMAND in text_of([one for one in sent if one["role"] == "user"])
        assert "cells:" in wrapped.ctxgc.recall(made.handle)
        background(wrapped).wait(HANG)
    assert everything(store, Bypass) == []


def test_a_wrapped_clients_own_model_is_asked_where_the_client_asks_it(server: ChatServer, store: Store) -> None:
    answered: list[Dict] = []

    class Replies(list):  # type: ignore[type-arg]
        """Whatever is asked, a record for the question and a text for the rest."""

        def __bool__(self) -> bool:
            return True

        def pop(self, _at: int = 0) -> Dict:
            asked = server.bodies[-1]
            if "tools" in asked:
                return text("well")
            answered.append(asked)
            return text(json.dumps(found(asked["messages"])))

    server.replies = Replies()
    with client(server, store) as wrapped:
        go(wrapped, 1, OVER)
        background(wrapped).wait(HANG)
        go(wrapped, OVER + 1, OVER + 2)
        wrapped.ctxgc.flush()
    (summary,) = everything(store, Summary)
    assert summary.outcome == "taken"
    assert [one["model"] for one in answered] == ["gpt-5"]
    assert f"The {FACT}" in text_of(server.bodies[-1]["messages"])


def test_a_wrapped_client_asks_nobody_where_it_is_off(server: ChatServer, store: Store) -> None:
    with client(server, store, summariser=None) as wrapped:
        go(wrapped, 1, LAST)
        wrapped.ctxgc.flush()
        background(wrapped).wait(HANG)
    assert len(everything(store, Compaction)) > 1
    assert not everything(store, Summary)
    assert len(server.bodies) == LAST


def test_a_wrapped_client_has_milestones(server: ChatServer, store: Store) -> None:
    with client(server, store, summariser=None, ledger="main") as wrapped:
        wrapped.ctxgc.milestone("before there is a conversation")
        go(wrapped, 1, 2)
        wrapped.ctxgc.milestone("begun")
        wrapped.ctxgc.flush()
    assert [one.name for one in everything(store, Milestone)] == ["begun"]


def test_a_wrapped_client_that_is_let_go_ends_with_an_errand_under_way(server: ChatServer, tmp_path: Path) -> None:
    held, url = Held(), f"sqlite:///{tmp_path / 'audit.db'}"
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as real:
        wrapped = ctxgc.wrap(real, store=url, policies=SMALL, summariser=held)
        go(wrapped, 1, OVER)
        assert held.asked.wait(HANG)
        gone = weakref.ref(wrapped)
        del wrapped
        gc.collect()
        assert gone() is None
        held.released.set()
    joined()
    reopened = open_store(url, read_only=True)
    assert list(reopened.verify()) == []
    reopened.close()
