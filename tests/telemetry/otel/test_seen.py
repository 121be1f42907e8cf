"""What is seen of calls: their figures as they were when they left, whatever the session does afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pytest

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Allocation, AnyEntry, Collection, Insertion, Settlement
from ctxgc.core.state import State
from ctxgc.session.originals import sent
from ctxgc.store import Store
from ctxgc.telemetry.otel.describing import by_family, gc, gone, items, total
from ctxgc.telemetry.otel.messages import Messages
from ctxgc.telemetry.otel.seen import Call, Seen
from ctxgc.wire.openai_chat import OpenAIChat
from tests.lab.build import Keep, Same, recorded, wild
from tests.lab.compacted import SHORTENING, compacting, known, log, story

SEEDS = pytest.mark.parametrize("seed", range(6))


def watched(seen: Seen, entries: Iterable[AnyEntry]) -> Iterator[tuple[State, Call]]:
    """Every call of a journal as it was seen, with the state in which it was settled (or followed by the next)."""
    state, last = State(), b""
    for entry in entries:
        if last and isinstance(entry, Allocation | Settlement) and (call := seen.end(last)):
            yield state, call
        last = entry.call if isinstance(entry, Allocation) else b"" if isinstance(entry, Settlement) else last
        state.apply(entry)
        seen.take(state, entry)


def told(store: Store, state: State, entry: Allocation) -> int:
    """The messages of a request as it left, counted in its bytes."""
    return len(json.loads(sent(state, store, OpenAIChat(), entry))["messages"])


@SEEDS
def test_tokens_are_those_of_the_state_when_the_call_was_settled(seed):
    _, entries = recorded(wild(seed), Keep(), Same())
    calls = 0
    for state, call in watched(Seen(), entries):
        entry = call.entry
        assert entry is not None
        assert total(call.received) == state.tokens(entry.head, entry.toolset, sent=False)
        assert total(call.sent) == state.tokens(entry.head, entry.toolset, sent=True, offered=entry.offered)
        assert sum(by_family(call.sent).values()) == total(call.sent)
        assert call.messages == (state.node(entry.head).depth + 1,) * 2
        calls += 1
        assert call.number == calls
    assert calls > 20


@SEEDS
def test_what_collections_took_is_what_their_edits_say(seed):
    _, entries = recorded(wild(seed), Keep(), Same())
    seen = [change for _, call in watched(Seen(), entries) for change in call.changes]
    collections = [one for one in entries if isinstance(one, Collection)]
    assert [change.entry for change in seen] == collections
    assert [gone(one) for one in seen] == [sum(edit.before - edit.after for edit in one.edits) for one in collections]
    assert [items(one) for one in seen] == [len(one.edits) for one in collections]
    assert sum(map(gone, seen)) > 0


def test_what_was_seen_is_not_changed_by_what_comes_later():
    _, entries = recorded(wild(1), Keep(), Same())
    kept = [(call, total(call.sent), call.messages) for _, call in watched(Seen(), entries)]
    assert [(total(call.sent), call.messages) for call, _, _ in kept] == [(tokens, count) for _, tokens, count in kept]


@pytest.mark.parametrize("policies", [None, SHORTENING], ids=["compacted", "shortened, too"])
def test_messages_of_compacted_histories_with_news_and_recalls_are_those_in_the_bytes(policies):
    with known() as store:
        used = compacting(store, policies) if policies else compacting(store)
        entries = log(story(used))
        kinds = {type(entry) for entry in entries}
        assert {Compaction, Insertion} <= kinds
        for state, call in watched(Seen(), entries):
            assert call.entry is not None
            assert call.messages[1] == told(store, state, call.entry)
            offered = call.entry.offered
            tokens = state.tokens(call.entry.head, call.entry.toolset, sent=True, offered=offered)
            assert total(call.sent) == tokens


def test_the_check_of_messages_finds_a_count_that_forgets_no_compaction(monkeypatch):
    monkeypatch.setattr(Messages, "sent", lambda self, state, head: state.node(head).depth + 1)
    with known() as store:
        entries = log(story(compacting(store)))
        assert any(
            call.entry and call.messages[1] != told(store, state, call.entry)
            for state, call in watched(Seen(), entries)
        )


def test_the_largest_collection_of_a_call_names_it_and_none_is_a_noop():
    with known() as store:
        found = [gc(call) for _, call in watched(Seen(), log(story(compacting(store))))]
    assert ("none", "none", "noop") in found
    assert ("quality", "major", "collected") in found


def test_counting_messages_walks_only_what_is_new():
    walked = []

    class Counted(list):
        def __getitem__(self, number):
            walked.append(number)
            return super().__getitem__(number)

    state, entries = recorded(wild(2, 60), Keep())
    heads = [entry.head for entry in entries if isinstance(entry, Allocation)]
    messages = Messages()
    state.nodes = Counted(state.nodes)
    for head in heads:
        messages.sent(state, head)
    assert len(walked) <= 4 * (len(state.nodes) + len(heads))
