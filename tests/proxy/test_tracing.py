"""Spans, log events and GenAI metrics of the real proxy, held against what its store says of the same requests."""

from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace import Span
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id

from ctxgc.core.journal import Allocation, Collection
from ctxgc.telemetry.otel import names as n
from ctxgc.telemetry.otel import trails
from ctxgc.telemetry.otel.making import Maker
from ctxgc.telemetry.otel.seen import Seen
from ctxgc.telemetry.otel.trail import UNTRACED
from tests.proxy import compactions
from tests.proxy.bodies import SMALL, agent, body, tooled, user
from tests.proxy.client import KEY, request
from tests.proxy.recalls import HISTORY, completed, recall, replies
from tests.proxy.recalls import request as offering
from tests.proxy.tracing import (
    CALLER,
    PARENT,
    TRACEPARENT,
    TRACESTATE,
    UNSAMPLED,
    carried,
    entries,
    settlements,
    traced,
)
from tests.proxy.upstream import DONE, completion, event, finish, silent, stream, usage, whole
from tests.telemetry.otel.memory import attributes, ident, parent

USED = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 20},
}
USAGE = {n.INPUT, n.OUTPUT, n.CACHE_READ, n.CACHE_WRITE, n.CACHE_CREATION, n.REASONING}


@pytest.fixture
def tracing(start, monkeypatch):
    return traced(start, monkeypatch)


# What a request's spans say


async def test_a_request_is_three_spans_that_say_who_asked_what_was_collected_and_what_the_model_took(
    tracing, upstream
):
    upstream.answers(whole(completion(usage=USED)))
    async with tracing() as running:
        await running.chat(body(user()), [KEY, ("User-Agent", "tester/1")])
        (key,) = running.journals()
        (settled,) = settlements(running)
        (allocation,) = [one for one in entries(running) if isinstance(one, Allocation)]
        ((came, left),) = carried(running)
    server, collect, chat = sorted(tracing.memory.spans, key=lambda span: -len(span.name))
    assert {server.context.trace_id, collect.context.trace_id, chat.context.trace_id} == {server.context.trace_id}
    assert (server.name, server.kind, parent(server)) == ("POST /v1/chat/completions", SpanKind.SERVER, 0)
    assert attributes(server) == {
        "http.request.method": "POST", "url.scheme": "http", "url.path": "/v1/chat/completions",
        "user_agent.original": "tester/1", "http.response.status_code": 200, "session.id": key.hex(),
    }  # fmt: skip
    assert (collect.name, collect.kind, parent(collect)) == ("ctxgc collect", SpanKind.INTERNAL, ident(server))
    assert attributes(collect) == {
        "openinference.span.kind": "CHAIN", "gen_ai.conversation.id": key.hex(), "session.id": key.hex(),
        "ctxgc.audit.entry_id": allocation.call.hex(), "ctxgc.turn": 1, "ctxgc.gc.id": 1, "ctxgc.gc.trigger": "none",
        "ctxgc.gc.generation": "none", "ctxgc.gc.outcome": "noop", "ctxgc.gc.policy": "",
        "ctxgc.gc.items.collected": 0, "ctxgc.gc.tokens.collected": 0, "ctxgc.context.tokens.received": came,
        "ctxgc.context.tokens.forwarded": left, "ctxgc.context.messages.received": 1,
        "ctxgc.context.messages.forwarded": 1, "ctxgc.cache.invalidated_tokens": 0,
        "ctxgc.context.window.size": 272000, "ctxgc.context.tokens.tag.user_turn": left,
    }  # fmt: skip
    assert (chat.name, chat.kind, parent(chat)) == ("chat gpt-5", SpanKind.CLIENT, ident(server))
    assert attributes(chat) == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.stream": False,
        "server.address": "127.0.0.1", "server.port": upstream.port, "gen_ai.conversation.id": key.hex(),
        "session.id": key.hex(), "gen_ai.request.model": "gpt-5", "gen_ai.response.model": "gpt-5-2025",
        "gen_ai.response.id": "chatcmpl-1", "gen_ai.response.finish_reasons": ("stop",),
        "http.response.status_code": 200, "ctxgc.overhead": settled.overhead,
        "ctxgc.response.time_to_first_token": settled.first_token, "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 50, "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.cache_write.input_tokens": 100, "gen_ai.usage.cache_creation.input_tokens": 100,
        "gen_ai.usage.reasoning.output_tokens": 20,
    }  # fmt: skip
    assert all(span.status.status_code is StatusCode.UNSET and not span.events for span in tracing.memory.spans)
    assert server.start_time <= collect.start_time <= collect.end_time <= server.end_time
    assert collect.end_time <= chat.start_time <= chat.end_time <= server.end_time


async def test_figures_on_spans_are_those_in_the_store(tracing, upstream):
    upstream.answers(whole(completion(usage=USED)))
    async with tracing(**SMALL) as running:
        history = [*json.loads(tooled())["messages"]]
        for number in range(3):
            await running.chat(body(*history))
            history += [agent(), user(f"go on with {number}")]
        stored, tokens = settlements(running), carried(running)
        edits = [edit for one in entries(running) if isinstance(one, Collection) for edit in one.edits]
    collects = [attributes(span) for span in tracing.memory.named("ctxgc collect")]
    assert [(one[n.RECEIVED], one[n.FORWARDED]) for one in collects] == tokens
    assert sum(one[n.GC_TOKENS] for one in collects) == sum(edit.before - edit.after for edit in edits) > 0
    assert sum(one[n.GC_ITEMS] for one in collects) == len(edits)
    for one in collects:
        families = [tokens for name, tokens in one.items() if name.startswith(n.TAG_TOKENS)]
        assert sum(families) == one[n.FORWARDED]
    chats = [attributes(span) for span in tracing.memory.chats]
    assert [one[n.INPUT] for one in chats] == [one.usage.input for one in stored if one.usage]
    assert [one[n.OVERHEAD] for one in chats] == [one.overhead for one in stored]


async def test_the_check_of_figures_finds_a_span_that_says_others(tracing, upstream, monkeypatch):
    real = Seen.take

    def wrong(self, state, entry):
        call = real(self, state, entry)
        if isinstance(entry, Allocation):
            call.sent = ({"user_turn": 1}, {})
        return call

    monkeypatch.setattr(Seen, "take", wrong)
    async with tracing() as running:
        await running.chat(body(user()))
        tokens = carried(running)
    (collect,) = tracing.memory.named("ctxgc collect")
    assert [(attributes(collect)[n.RECEIVED], attributes(collect)[n.FORWARDED])] != tokens


async def test_a_stream_says_when_its_first_chunk_and_its_first_token_came(tracing, upstream):
    empty = event("")
    upstream.answers(stream(empty, event("a"), event("b"), finish(), usage(), DONE))
    async with tracing() as running:
        await running.chat(body(user(), stream=True))
        (settled,) = settlements(running)
    (chat,) = map(attributes, tracing.memory.chats)
    assert chat[n.STREAM] is True
    assert chat[n.FIRST_CHUNK] == settled.first_byte > 0
    assert chat[n.FIRST_TOKEN] == settled.first_token >= settled.first_byte
    assert settled.duration >= settled.first_token
    assert (chat[n.INPUT], chat[n.OUTPUT]) == (11, 3)


async def test_a_stream_that_says_nothing_has_no_first_token(tracing, upstream):
    upstream.answers(stream(event(""), finish(), usage(), DONE))
    async with tracing() as running:
        await running.chat(body(user(), stream=True))
        (settled,) = settlements(running)
    assert settled.first_byte > 0 == settled.first_token
    assert n.FIRST_TOKEN not in attributes(tracing.memory.chats[0])


async def test_nothing_of_what_is_said_is_on_spans_or_events(tracing, upstream):
    upstream.answers(whole(completion("SECRET answer")))
    async with tracing(**SMALL) as running:
        await running.chat(tooled(text="SECRET result\n" * 400))
        await running.chat(body(user("SECRET question")))
    told = [str(attributes(span)) for span in tracing.memory.spans] + [str(one) for one in tracing.memory.events]
    assert not [one for one in told if "SECRET" in one]


async def test_content_is_told_where_it_is_asked_for(tracing, upstream, monkeypatch):
    monkeypatch.setenv(n.CAPTURE, "SPAN_AND_EVENT")
    upstream.answers(whole(completion("SECRET answer")))
    async with tracing() as running:
        await running.chat(body(user("SECRET question")))
    said = attributes(tracing.memory.chats[0])
    question = [{"role": "user", "parts": [{"type": "text", "content": "SECRET question"}]}]
    assert json.loads(said[n.INPUT_MESSAGES]) == question
    assert json.loads(said[n.OUTPUT_MESSAGES])[0]["parts"] == [{"type": "text", "content": "SECRET answer"}]
    (event_,) = [one for one in tracing.memory.events if one.name == n.DETAILS_EVENT]
    assert event_.attributes[n.INPUT_MESSAGES] == said[n.INPUT_MESSAGES]


# Compacted


async def test_compacted_is_said_of_what_we_changed_and_never_of_anything_else(tracing, upstream):
    async with tracing(**SMALL, recall=False) as running:
        await running.chat(body(user("nothing to collect")))
        await running.chat(tooled())
        changed = [one.received != one.sent for one in _allocations(running)]
    assert changed == [False, True]
    assert [attributes(span).get(n.COMPACTED) for span in tracing.memory.chats] == [None, True]


async def test_a_request_whose_edited_form_was_refused_is_two_spans_and_the_one_that_passed_is_not_compacted(
    tracing, upstream
):
    upstream.answers(whole(b'{"error":{"message":"no"}}', 400), whole(completion(usage=USED)))
    async with tracing(**SMALL, recall=False) as running:
        await running.chat(tooled())
    first, second = tracing.memory.chats
    assert attributes(first)[n.COMPACTED] is True
    assert attributes(first)[n.ERROR] == "400"
    assert n.INPUT not in attributes(first)
    assert n.COMPACTED not in attributes(second)
    assert n.ERROR not in attributes(second)
    assert attributes(second)[n.INPUT] == 1000
    (passed,) = [one for one in tracing.memory.events if one.name == n.FAIL_OPEN_EVENT]
    assert passed.attributes[n.REASON] == "refused"


async def test_a_call_whose_client_leaves_while_it_is_sent_once_more_is_counted_once(tracing, upstream):
    upstream.answers(whole(b'{"error":{"message":"no"}}', 400), silent())
    async with tracing(**SMALL, recall=False) as running, running.client() as client:
        await client.send(request(tooled(), [KEY]))
        await upstream.next()
        again = await upstream.next()
        client.leave()
        await again.gone.wait()
    assert [attributes(one)[n.ERROR] for one in tracing.memory.chats] == ["400", "aborted"]
    assert [point.count for point in tracing.memory.metrics()[n.DURATION]] == [1]


async def test_a_request_that_is_refused_in_both_forms_ends_with_the_first(tracing, upstream):
    upstream.answers(whole(b'{"error":{"message":"no"}}', 400))
    async with tracing(**SMALL, recall=False) as running:
        await running.chat(tooled())
    first, second = tracing.memory.chats
    assert [attributes(one)[n.ERROR] for one in (first, second)] == ["400", "400"]
    assert [attributes(one).get(n.STATUS) for one in (first, second)] == [400, None]


# Who counts the tokens


@pytest.mark.parametrize(
    ("mode", "headers", "says"),
    [
        ("auto", [], True),
        ("auto", [TRACEPARENT], False),
        ("auto", [UNSAMPLED], None),
        ("always", [UNSAMPLED], None),
        ("always", [TRACEPARENT], True),
        ("never", [], False),
    ],
)
async def test_tokens_are_on_our_span_unless_they_are_on_the_callers(tracing, upstream, mode, headers, says):
    upstream.answers(whole(completion(usage=USED)))
    async with tracing(mode) as running:
        await running.chat(body(user()), [KEY, *headers])
    found = [USAGE & attributes(span).keys() for span in tracing.memory.chats]
    assert found == ([] if says is None else [USAGE if says else set()])  # what the caller does not sample, nor do we
    # Metrics know no sampling: a caller that traces has counted the tokens of what its sampler leaves out.
    counted = mode == "always" or (mode == "auto" and not headers)
    assert bool(tracing.memory.metrics().get(n.TOKEN_USAGE)) is counted


async def test_the_callers_span_is_the_parent_and_ours_is_what_the_model_sees(tracing, upstream):
    async with tracing() as running:
        await running.chat(body(user()), [KEY, TRACEPARENT, TRACESTATE])
    (server,), (chat,) = tracing.memory.named(n.SERVER_SPAN), tracing.memory.chats
    assert format_trace_id(server.context.trace_id) == CALLER
    assert format_span_id(parent(server)) == PARENT
    (call,) = upstream.calls
    seen = [value for name, value in call.headers if name == b"traceparent"]
    assert seen == [f"00-{CALLER}-{format_span_id(ident(chat))}-01".encode()]
    assert call.header("tracestate") == b"vendor=1"


@pytest.mark.parametrize(
    "header", [("traceparent", "00-zz"), ("traceparent", "x" * 9000), ("traceparent", "00-" + "0" * 32 + "-1-01")]
)
async def test_a_traceparent_that_is_none_begins_a_trace_of_ours(tracing, upstream, header):
    async with tracing("auto") as running:
        answer = await running.chat(body(user()), [KEY, header])
    assert answer.status == 200
    (server,), (chat,) = tracing.memory.named(n.SERVER_SPAN), tracing.memory.chats
    assert parent(server) == 0
    assert USAGE & attributes(chat).keys()


async def test_headers_pass_untouched_where_nothing_is_traced(start, upstream):
    sent = [KEY, ("TraceParent", TRACEPARENT[1]), TRACESTATE, ("Baggage", "a=1 , b")]
    async with start() as running:
        await running.chat(body(user()), sent)
    (call,) = upstream.calls
    head = call.head.split(b"\r\n")
    assert b"traceparent: " + TRACEPARENT[1].encode() in head
    assert b"tracestate: vendor=1" in head
    assert b"baggage: a=1 , b" in head


async def test_other_headers_pass_untouched_where_it_is(tracing, upstream):
    async with tracing() as running:
        await running.chat(body(user()), [KEY, ("X-Own", "A , b"), ("Baggage", "a=1 , b"), ("X-Own", "2")])
    head = upstream.calls[0].head.split(b"\r\n")
    assert [line for line in head if line.startswith(b"x-own")] == [b"x-own: A , b", b"x-own: 2"]
    assert b"baggage: a=1 , b" in head


async def test_what_the_sampler_leaves_out_is_not_exported_and_the_model_is_told_so(start, upstream, monkeypatch):
    tracing = traced(start, monkeypatch, ParentBased(ALWAYS_OFF))
    async with tracing() as running:
        await running.chat(body(user()))
        await running.chat(body(user("again")), [KEY, TRACEPARENT])
    assert {format_trace_id(span.context.trace_id) for span in tracing.memory.spans} == {CALLER}
    sampled = [int(call.header("traceparent").rpartition(b"-")[2], 16) & 1 for call in upstream.calls]
    assert sampled == [0, 1]


# Rounds, errors, ends


@pytest.mark.parametrize("streaming", [False, True])
async def test_each_round_of_a_recall_is_a_span_and_the_recall_an_event_of_the_one_that_asked(
    tracing, upstream, streaming
):
    answer = stream(event("done"), finish(), usage(), DONE) if streaming else whole(completed(text="done"))
    upstream.answers(replies(recall("HERE"), streaming=streaming), answer)
    async with tracing(**SMALL) as running:
        await running.chat(offering(*HISTORY, stream=streaming))
        stored, tokens = settlements(running), carried(running)
    first, second = tracing.memory.chats
    assert len(tracing.memory.named(n.SERVER_SPAN)) == 1
    assert parent(first) == parent(second) == ident(tracing.memory.named(n.SERVER_SPAN)[0])
    assert [attributes(one)[n.COMPACTED] for one in (first, second)] == [True, True]
    assert attributes(first)[n.FINISH] == ("tool_calls",)
    used = [attributes(one).get(n.INPUT) for one in (first, second)]
    assert used == [one.usage.input if one.usage else None for one in stored]
    collects = [attributes(one) for one in tracing.memory.named(n.COLLECT_SPAN)]
    assert [(one[n.RECEIVED], one[n.FORWARDED]) for one in collects] == tokens
    assert [one.get(n.AGAIN) for one in collects] == [None, True]
    assert [one[n.MESSAGES_FORWARDED] for one in collects] == [len(call.json["messages"]) for call in upstream.calls]
    (recalled,) = [one for one in tracing.memory.events if one.name == n.RESURRECTION_EVENT]
    assert recalled.span_id == ident(first)
    assert recalled.attributes[n.TAG] == "tool_result"
    assert (recalled.attributes[n.FOUND], recalled.attributes[n.BY]) == (True, "model")


async def test_a_compaction_is_a_collection_and_messages_are_counted_as_they_left(tracing, upstream):
    model = compactions.Model(upstream)
    async with tracing(**compactions.OFF) as running:
        await compactions.grow(running, 1, compactions.OVER + 4)
        tokens = carried(running)
        assert compactions.compactions(running)
    collects = [attributes(one) for one in tracing.memory.named(n.COLLECT_SPAN)]
    assert [(one[n.RECEIVED], one[n.FORWARDED]) for one in collects] == tokens
    assert [one[n.MESSAGES_FORWARDED] for one in collects] == [len(call.json["messages"]) for call in model.requests]
    assert [one[n.GC_POLICY] for one in collects if one[n.GC_OUTCOME] == "collected"] == ["compact"]
    (made,) = [one for one in tracing.memory.events if one.name == n.COLLECTION_EVENT]
    assert (made.attributes[n.GC_TRIGGER], made.attributes[n.GC_GENERATION]) == ("quality", "major")


async def test_an_error_of_the_upstreams_is_an_error_of_its_span_and_no_error_of_ours(tracing, upstream):
    upstream.answers(whole(b'{"error":{"message":"slow down"}}', 429))
    async with tracing() as running:
        await running.chat(body(user()))
    (server,), (chat,) = tracing.memory.named(n.SERVER_SPAN), tracing.memory.chats
    assert (attributes(chat)[n.ERROR], chat.status.status_code) == ("429", StatusCode.ERROR)
    assert (attributes(server)[n.STATUS], server.status.status_code) == (429, StatusCode.UNSET)
    (point,) = tracing.memory.metrics()[n.DURATION]
    assert point.attributes[n.ERROR] == "429"


async def test_an_answer_that_breaks_off_is_incomplete(tracing, upstream):
    upstream.answers(stream(event("a"), ending=False))
    async with tracing() as running:
        await running.chat(body(user(), stream=True))
    assert attributes(tracing.memory.chats[0])[n.ERROR] == "incomplete"


async def test_an_upstream_that_is_not_there_is_an_error_of_both(tracing, upstream):
    async with tracing() as running:
        upstream._server.close()
        answer = await running.chat(body(user()))
    assert answer.status == 502
    (server,), (chat,) = tracing.memory.named(n.SERVER_SPAN), tracing.memory.chats
    assert attributes(server)[n.STATUS] == 502
    assert attributes(server)[n.ERROR] == attributes(chat)[n.ERROR] == "ClientConnectorError"


async def test_a_client_that_leaves_is_an_aborted_request(tracing, upstream):
    upstream.answers(silent())
    async with tracing() as running:
        async with running.client() as client:
            await client.send(request(body(user()), [KEY]))
            call = await upstream.next()
        await call.gone.wait()
    (server,), (chat,) = tracing.memory.named(n.SERVER_SPAN), tracing.memory.chats
    assert attributes(server)[n.ERROR] == attributes(chat)[n.ERROR] == "aborted"
    assert n.STATUS not in attributes(server)


async def test_a_body_that_is_too_large_is_a_span_without_a_call(tracing, upstream):
    async with tracing(body_limit=10) as running:
        await running.chat(body(user()))
    (server,) = tracing.memory.spans
    assert attributes(server)[n.STATUS] == 413


async def test_a_body_that_cannot_be_read_is_sent_as_it_came_and_said_to_be(tracing, upstream):
    async with tracing() as running:
        await running.chat(b'{"messages": ')
    assert {span.name for span in tracing.memory.spans} == {n.SERVER_SPAN, "chat"}
    (passed,) = [one for one in tracing.memory.events if one.name == n.FAIL_OPEN_EVENT]
    assert passed.attributes[n.REASON] == "malformed"
    assert passed.span_id == ident(tracing.memory.named(n.SERVER_SPAN)[0])


@pytest.mark.parametrize("model", ["\ud800", "m" * 5000, "", 'x"\n\0'])
async def test_whatever_a_client_calls_its_model_can_be_exported(tracing, upstream, model):
    async with tracing() as running:
        text = json.dumps({"model": model, "messages": [user()]}).encode()
        await running.chat(text)
    (chat,) = tracing.memory.chats
    chat.name.encode()
    assert len(chat.name) <= 205
    points = [point for found in tracing.memory.metrics().values() for point in found]
    assert {point.attributes[n.REQUEST_MODEL] for point in points} == {"other"}


# Events and metrics


async def test_a_collection_is_an_event_in_the_span_of_the_collector(tracing, upstream):
    async with tracing(**SMALL) as running:
        await running.chat(tooled())
        (made,) = [one for one in entries(running) if isinstance(one, Collection)]
    (collect,) = tracing.memory.named(n.COLLECT_SPAN)
    (told,) = tracing.memory.events
    assert (told.name, told.span_id, told.trace_id) == (n.COLLECTION_EVENT, ident(collect), collect.context.trace_id)
    said = attributes(collect)
    assert told.attributes == {
        n.CONVERSATION: said[n.CONVERSATION], n.SESSION: said[n.SESSION], n.ENTRY: made.call.hex(), n.GC_ID: 1,
        n.GC_TRIGGER: "eden", n.GC_GENERATION: "eden", n.GC_OUTCOME: "collected", n.GC_POLICY: "truncate",
        n.GC_ITEMS: 1, n.GC_TOKENS: made.edits[0].before - made.edits[0].after,
        n.BEFORE: said[n.FORWARDED] + made.edits[0].before - made.edits[0].after, n.AFTER: said[n.FORWARDED],
    }  # fmt: skip


async def test_items_are_events_where_they_are_asked_for(tracing, upstream, monkeypatch):
    monkeypatch.setenv(n.ITEMS, "true")
    async with tracing(**SMALL) as running:
        await running.chat(tooled())
    (item,) = [one for one in tracing.memory.events if one.name == n.ITEM_EVENT]
    assert (item.attributes[n.TAG], item.attributes[n.GC_POLICY]) == ("tool_result", "truncate")


async def test_the_conventions_metrics_are_those_of_the_settlement_and_the_newest_are_opted_into(
    tracing, upstream, monkeypatch
):
    monkeypatch.setenv(n.OPT_IN, n.LATEST)
    upstream.answers(whole(completion(usage=USED)))
    async with tracing() as running:
        await running.chat(body(user()))
        (settled,) = settlements(running)
    found = tracing.memory.metrics()
    assert found.keys() == {
        n.DURATION, n.INFERENCE_DURATION, n.TOKEN_USAGE, n.USAGE_INPUT, n.USAGE_OUTPUT, n.USAGE_CACHE_READ,
        n.USAGE_CACHE_WRITE, n.USAGE_REASONING, n.OPERATION_INPUT, n.OPERATION_OUTPUT,
    }  # fmt: skip
    assert found[n.DURATION][0].sum == settled.duration
    assert {point.attributes[n.TOKEN_TYPE]: point.sum for point in found[n.TOKEN_USAGE]} == {
        "input": 1000,
        "output": 50,
    }
    counters = (n.USAGE_INPUT, n.USAGE_OUTPUT, n.USAGE_CACHE_READ, n.USAGE_CACHE_WRITE, n.USAGE_REASONING)
    assert [found[name][0].value for name in counters] == [1000, 50, 600, 100, 20]
    assert found[n.USAGE_INPUT][0].attributes[n.MODALITY] == "unknown"


async def test_exemplars_are_of_the_trace_that_is_exported(tracing, upstream):
    async with tracing() as running:
        await running.chat(body(user()), [KEY, TRACEPARENT])
        asked = request(method="GET", target="/metrics", headers=[("Accept", "application/openmetrics-text")])
        scraped = (await running.ask(asked)).body.decode()
    assert f'trace_id="{CALLER}"' in scraped


# Faults


FAULTS = [
    (trails, "begin"),
    (trails.Traced, "_send"),
    (trails, "replaced"),
    (Seen, "take"),
    (Seen, "of"),
    (Seen, "settled"),
    (Span, "get_span_context"),
    (Maker, "trail"),
    (Maker, "_decided"),
]


def broken(*args: object, **kwargs: object) -> None:
    raise RuntimeError("tracing is at fault")


@pytest.mark.parametrize(("place", "name"), FAULTS, ids=[name for _, name in FAULTS])
async def test_a_fault_of_tracing_touches_no_request_and_is_counted(tracing, upstream, monkeypatch, place, name):
    if name == "begin":
        place = __import__("ctxgc.telemetry.otel.tracing", fromlist=["begin"])
    guard = trails.guarded(broken) if name == "_send" else broken
    monkeypatch.setattr(place, name, guard)
    async with tracing() as running:
        answer = await running.chat(body(user()))
        assert (answer.status, answer.body) == (200, completion())
        running.check()
        assert [one.outcome for one in settlements(running)] == ["ok"]
    assert tracing.faults() > 0
    assert upstream.calls[0].body == body(user())


async def test_the_count_of_faults_is_none_where_there_is_none(tracing, upstream):
    async with tracing(**SMALL) as running:
        await running.chat(tooled())
    assert tracing.faults() == 0


async def test_without_tracing_there_is_one_trail_for_all_and_it_says_nothing():
    assert UNTRACED.request("POST", "/", {}).trace == ""
    headers = [(b"a", b"b")]
    assert UNTRACED.send(None, headers) is headers  # type: ignore[arg-type]


def _allocations(running):
    found = [one for entries in running.journals().values() for one in entries if isinstance(one, Allocation)]
    return sorted(found, key=lambda one: one.at)
