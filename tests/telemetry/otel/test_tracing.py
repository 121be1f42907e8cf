"""Spans in process: the same observer, beside an application's own tracing, and the thread behind it."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from opentelemetry.trace import SpanKind

from ctxgc import open_session
from ctxgc.core.journal import Bypass, Recall, Settlement
from ctxgc.core.state import State
from ctxgc.lab.suspects import Suspect
from ctxgc.policies.truncate import Truncate
from ctxgc.telemetry.otel import Sending, observing, tracing
from ctxgc.telemetry.otel import names as n
from ctxgc.telemetry.otel.switches import Switches
from ctxgc.telemetry.otel.tracing import Tracing
from tests.proxy.bodies import LISTING, calling, result, user

from .memory import Memory, attributes, ident, parent

REPLY = {
    "model": "gpt-5-2025",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "well"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 30, "completion_tokens": 4},
}


@pytest.fixture
def memory():
    return Memory()


def turn(made, *messages, model="gpt-5"):
    with open_session(policies=[Truncate(budget=64)], observe=made.observe) as conversation:
        conversation.prepare(list(messages), model=model)
        conversation.settle(REPLY)
        return conversation.id


def test_a_call_in_process_is_two_spans_under_the_applications_own(memory):
    made = Tracing(memory.providers, "auto")
    with memory.providers.traces.get_tracer("app").start_as_current_span("work") as work:
        key = turn(made, user(), calling(), result(text=LISTING))
        made.flush()
    (collect,), (chat,) = memory.named(n.COLLECT_SPAN), memory.chats
    assert parent(collect) == parent(chat) == work.get_span_context().span_id
    assert chat.kind is SpanKind.CLIENT
    assert attributes(chat)[n.CONVERSATION] == attributes(collect)[n.CONVERSATION] == key
    assert attributes(chat)[n.COMPACTED] is True
    assert n.INPUT not in attributes(chat)  # who traces the application may count its tokens
    made.close()


def test_a_call_in_process_says_its_tokens_where_nobody_else_traces(memory):
    made = Tracing(memory.providers, "auto")
    turn(made, user())
    made.close()
    (chat,) = memory.chats
    assert (attributes(chat)[n.INPUT], attributes(chat)[n.OUTPUT]) == (30, 4)
    assert n.COMPACTED not in attributes(chat)


def test_how_long_a_call_in_process_takes_is_not_known_and_not_nothing(memory):
    made = Tracing(memory.providers)
    turn(made, user())
    made.close()
    assert n.TOKEN_USAGE in memory.metrics()
    assert n.DURATION not in memory.metrics()


def test_both_observers_are_told_and_one_alone_where_nothing_is_traced(memory):
    told = []

    def observe(state, entry):
        told.append(entry)

    assert observing(observe, None) is observe
    made = Tracing(memory.providers, "always")
    with open_session(observe=observing(observe, made)) as conversation:
        conversation.prepare([user()])
        conversation.settle(REPLY)
    made.close()
    assert told
    assert len(memory.chats) == 1


def test_a_recall_by_the_host_is_an_event_of_no_span(memory):
    made = Tracing(memory.providers)
    made.observe(State(), Recall(at=1.0, handle="h", by="host", found=False))
    made.close()
    (event,) = memory.events
    assert (event.name, event.span_id) == (n.RESURRECTION_EVENT, 0)
    assert event.attributes == {n.BY: "host", n.FOUND: False}


def test_a_suspect_is_an_event_and_whom_it_is_about_is_content(memory):
    one = Suspect("reread", "read(secret.txt)", 100, 0.5, "Read again.", "Do not.")
    for told in (Switches(), Switches(on_events=True)):
        made = Tracing(memory.providers, told=told)
        made.suspected(b"\1" * 32, one)
        made.flush()
    plain, told_all = memory.events
    assert plain.name == n.SUSPECT_EVENT
    assert plain.attributes == {n.CONVERSATION: "01" * 32, n.SESSION: "01" * 32, n.RULE: "reread", n.SHARE: 0.5}
    assert told_all.attributes[n.SUBJECT] == "read(secret.txt)"
    made.close()


def test_what_waits_is_bounded_and_what_is_dropped_is_counted(memory, monkeypatch):
    monkeypatch.setattr(tracing, "WAITING", 3)
    failed, held, holding = [], threading.Event(), threading.Event()
    made = Tracing(memory.providers, failed=lambda: failed.append(1))
    made._hand(lambda: (holding.set(), held.wait(30)))
    assert holding.wait(30)
    for _ in range(10):
        made.failed_open("fault: Test")
    held.set()
    made.close()
    assert made.faults == len(failed) == 7
    assert len(memory.events) == 3


def test_what_is_dropped_makes_no_more_wait(memory, monkeypatch):
    monkeypatch.setattr(tracing, "WAITING", 3)
    held, holding = threading.Event(), threading.Event()
    made = Tracing(memory.providers)
    made._hand(lambda: (holding.set(), held.wait(30)))
    assert holding.wait(30)
    for _ in range(1000):
        made.failed_open("fault: Test")
    assert made._work.qsize() == 3
    held.set()
    made.close()
    assert made.faults == 997


def test_who_is_told_of_faults_and_fails_is_told_of_each_once(memory):
    told = []

    def failed():
        told.append(1)
        raise OSError

    made = Tracing(memory.providers, failed=failed)
    made._hand(lambda: 1 / 0)
    made.failed_open("fault: Test")
    made.flush()
    made.close()
    assert made.faults == len(told) == 1
    assert memory.events


def test_the_end_of_a_call_is_only_noted_while_its_client_waits(memory, monkeypatch):
    made = Tracing(memory.providers)
    made.expect(b"call", "key")
    with made._lock:  # whoever made spans now would wait for it
        made.observe(State(), Settlement(at=1.0, call=b"call", outcome="ok", status=200))
    assert made._seen.of(b"call").settlement is None
    trail = made.request("POST", "/v1/chat/completions", {})
    trail.prepared(b"call", b"key", 0.0)
    trail.send(Sending(b"call", "gpt-5", False, False, b""), [])
    trail.end(200)
    made.close()
    assert attributes(memory.chats[0])[n.STATUS] == 200


@pytest.mark.parametrize("verb", ["flush", "close"])
def test_the_end_of_a_call_that_nothing_else_follows_is_told_before_the_end(memory, verb):
    made = Tracing(memory.providers)
    made._hand(lambda: made._hurry.wait(30))  # nothing is made before the end is asked for
    for entry in (Bypass(at=1.0, call=b"c", reason="fault"), Settlement(at=1.0, call=b"c", outcome="ok", status=200)):
        made.observe(State(), entry)
    getattr(made, verb)()
    assert [event.name for event in memory.events] == [n.FAIL_OPEN_EVENT]
    made.close()


def test_a_fault_of_one_request_is_not_the_next_ones(memory):
    made = Tracing(memory.providers)
    made._hand(lambda: 1 / 0)
    made.failed_open("fault: Test")
    made.close()
    assert made.faults == 1
    assert [event.attributes[n.REASON] for event in memory.events] == ["fault"]


def test_whoever_counts_faults_may_hold_a_lock_while_it_tells_of_suspects(memory):
    lock = threading.Lock()

    def failed():
        with lock:
            pass

    made = Tracing(memory.providers, failed=failed)
    with lock:  # as figures do
        made.suspected(b"", SimpleNamespace(rule="r"))
        made.failed()
    made.close()
    assert made.faults == 2


def test_a_call_that_is_never_settled_is_forgotten_after_many(memory, monkeypatch):
    monkeypatch.setattr("ctxgc.telemetry.otel.seen.LIMIT", 5)
    made = Tracing(memory.providers)
    with open_session(observe=made.observe) as conversation:
        for number in range(20):
            conversation.prepare([user(f"number {number}")])
            conversation._session.admit()
    assert len(made._seen._calls) == 5
    made.close()
    assert not memory.chats


def test_names_of_spans_are_few_whatever_is_in_a_request(memory):
    made = Tracing(memory.providers)
    turn(made, user("x" * 1000), calling(name="a" * 500), result(text="y"), model="gpt-5")
    made.close()
    assert {span.name for span in memory.spans} == {n.COLLECT_SPAN, "chat gpt-5"}
    keys = {key for span in memory.spans for key in attributes(span)}
    assert not [key for key in keys if "aaa" in key]
    assert ident(memory.chats[0])
