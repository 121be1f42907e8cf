"""One conversation: what was sent is sent again, the journal tells the live state, and every token has an owner."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from ctxgc.core.journal import Allocation, decode
from ctxgc.store import StoreBusy
from ctxgc.wire.openai_chat import OpenAIChat
from tests.session import checks
from tests.session.faults import FaultyStore
from tests.session.scripts import (
    EAGER,
    KEY,
    LONG,
    STYLES,
    Known,
    Script,
    Style,
    agent,
    body,
    drive,
    dump,
    exchange,
    fresh,
    kit,
    memory,
    restored,
    scripts,
    send,
    system,
    user,
    values,
)

OPENING = [system(), user()]
GROWING = [[*OPENING, *exchange(1)], [*OPENING, *exchange(1), *exchange(2, "short")]]


def allocations(used, key=KEY):
    entries = (decode(stored.body) for stored in used.store.entries(key))
    return [entry for entry in entries if isinstance(entry, Allocation)]


# Whatever a client sends


@given(scripts(own=True))
@settings(max_examples=50)
def test_what_was_sent_for_a_history_is_sent_again(script: Script) -> None:
    with memory() as store:
        used = kit(store)
        _, sent = drive(script, used)
        seen = checks.Prefixes(used.codec)
        for received, prepared in sent:
            assert prepared.bypass == ""
            seen.see(received, prepared.body)


@given(scripts(own=True))
@settings(max_examples=50)
def test_the_journal_tells_the_live_state(script: Script) -> None:
    with memory() as store:
        used = kit(store)
        session, _ = drive(script, used)
        checks.rebuilds(session, used)


@given(scripts(own=True))
@settings(max_examples=50)
def test_every_token_belongs_to_a_cell_and_a_tag(script: Script) -> None:
    with memory() as store:
        session, _ = drive(script, kit(store))
        checks.attribution(session.state)


@given(scripts(own=True))
@settings(max_examples=50)
def test_every_call_can_be_rebuilt_as_it_came_and_as_it_left(script: Script) -> None:
    with memory() as store:
        used = kit(store)
        session, _ = drive(script, used)
        checks.originals(session, used)


@given(scripts())
@settings(max_examples=50)
def test_every_stub_is_shorter_and_leads_back(script: Script) -> None:
    with memory() as store:
        used = kit(store)
        session, sent = drive(script, used)
        before = checks.recalled(session)
        checks.shorter(session.state, before)
        assert set(before.values()) <= checks.texts_of(used.codec, [text for text, _ in sent])
        assert checks.recalled(restored(used)) == before


@given(scripts())
@settings(max_examples=30)
def test_a_restart_anywhere_changes_no_byte(script: Script) -> None:
    """Sent with all memory of it, and with none: the session is read from the store before every request."""
    forgetful = [step for text in filter(None, script) for step in (None, text)]
    with memory() as one, memory() as other:
        _, live = drive(list(filter(None, script)), kit(Known(one)))
        _, again = drive(forgetful, kit(Known(other)))
        assert [prepared.body for _, prepared in live] == [prepared.body for _, prepared in again]


@given(scripts())
@settings(max_examples=30)
def test_the_same_requests_are_sent_as_the_same_bytes(script: Script) -> None:
    with memory() as one, memory() as other:
        _, first = drive(script, kit(Known(one)))
        _, second = drive(script, kit(Known(other)))
        assert [prepared.body for _, prepared in first] == [prepared.body for _, prepared in second]


@given(scripts())
@settings(max_examples=30)
def test_without_policies_bytes_go_through(script: Script) -> None:
    with memory() as store:
        _, sent = drive(script, kit(store, policies=()))
        assert [prepared.body for _, prepared in sent] == [received for received, _ in sent]


@given(scripts(), st.lists(st.booleans(), min_size=1))
@settings(max_examples=30)
def test_a_store_that_comes_and_goes_loses_nothing(script: Script, up: list[bool]) -> None:
    with memory() as store:
        faulty = FaultyStore(store)
        used = kit(faulty)
        session, seen = fresh(used), checks.Prefixes(used.codec)
        for text, works in zip(filter(None, script), cycle(up)):
            faulty.error = None if works else StoreBusy("later")
            seen.see(text, send(session, text).body)
        faulty.error = None
        session.flush()
        checks.rebuilds(session, used)
        checks.originals(session, used)


@given(scripts(), st.integers(0, 7))
@settings(max_examples=30)
def test_going_plain_at_any_time(script: Script, at: int) -> None:
    with memory() as store:
        used = kit(store)
        session = fresh(used)
        for number, text in enumerate(filter(None, script)):
            prepared = send(session, text)
            assert prepared.body == text or not session.state.plain
            if number == at:
                session.go_plain(prepared.call, "refused")
        session.flush()
        checks.rebuilds(session, used)
        checks.attribution(session.state)
        checks.originals(session, used)


# One thing at a time


@pytest.mark.parametrize("style", STYLES)
def test_a_retry_is_sent_as_the_same_bytes(style: Style) -> None:
    with memory() as store:
        session = fresh(kit(store))
        text = body(GROWING[0], style)
        assert send(session, text).body == send(session, text).body != text


def test_a_branch_keeps_what_was_decided_before_the_fork() -> None:
    with memory() as store:
        session = fresh(kit(store))
        send(session, body(GROWING[0]))
        main = send(session, body([*OPENING, *exchange(1), *exchange(2)]))
        branch = send(session, body([*OPENING, *exchange(1), agent("no"), user("instead")]))
        assert values(branch.body)[:4] == values(main.body)[:4]
        assert "[ctxgc:" in values(branch.body)[3]["content"]
        again = send(session, body([*OPENING, *exchange(1), *exchange(2), *exchange(3, "ok")]))
        assert values(again.body)[:6] == values(main.body)


@pytest.mark.parametrize("prompt", ["name this conversation", system()["content"]])
def test_a_helper_call_is_no_divergence(prompt: str) -> None:
    helper = body([system(prompt), user("another task")])
    with memory() as store:
        used = kit(store)
        session = fresh(used)
        first = send(session, body(GROWING[0]))
        send(session, helper)
        second = send(session, body(GROWING[1]))
        assert values(second.body)[:4] == values(first.body)
        session.flush()
        assert [entry.continues for entry in allocations(used)] == [False, False, True]


def test_edits_are_replayed_on_messages_whose_markers_moved() -> None:
    with memory() as store:
        session = fresh(kit(store))
        first = [*OPENING, *exchange(1)]
        first[-1] = {**first[-1], "cache_control": {"type": "ephemeral"}}
        marked = values(send(session, body(first)).body)[3]
        plain = values(send(session, body(GROWING[1])).body)[3]
        assert marked == {**plain, "cache_control": {"type": "ephemeral"}}
        assert "[ctxgc:" in plain["content"]


def test_a_marker_that_turns_a_text_into_a_part_moves_nothing_else() -> None:
    part = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    with memory() as store:
        session = fresh(kit(store))
        first = values(send(session, body([*OPENING, *exchange(1, part)])).body)[3]["content"]
        second = values(send(session, body(GROWING[1])).body)[3]["content"]
        assert first == [{**part[0], "text": second}]
        assert len(session.state.path(len(session.state.nodes) - 1)) == len(session.state.nodes)


def test_a_moved_marker_is_still_rebuilt_two_requests_later() -> None:
    marked = {**user(), "cache_control": {"type": "ephemeral"}}
    with memory() as store:
        used = kit(store)
        session = fresh(used)
        send(session, body([system(), marked]))
        send(session, body([system(), user(), *exchange(1)]))
        send(session, body([system(), user(), *exchange(1), *exchange(2)]))
        session.flush()
        checks.originals(session, used)


def test_other_spaces_between_the_same_messages_are_still_rebuilt() -> None:
    raws = [dump(message) for message in GROWING[1]]
    with memory() as store:
        used = kit(store)
        session = fresh(used)
        for style in STYLES:
            for end in (2, 4, 6):
                send(session, body(raws[:end], style))
        session.flush()
        assert len(session.state.nodes) == 6
        checks.originals(session, used)


def test_odd_json_survives_beside_an_edited_message() -> None:
    odd = b'{ "role" : "user","content":"\\u00e9", "n":1e3 ,"big":123456789012345678901234567890,"x":1,"x":2 }'
    with memory() as store:
        sent = send(fresh(kit(store)), body([system(), odd, *exchange(1)], STYLES[1])).body
    assert odd in sent
    assert b"[ctxgc:" in sent


def test_recall_works_before_anything_is_on_disk() -> None:
    with memory() as store:
        session = fresh(kit(store))
        session.prepare(body(GROWING[0]))
        session.admit()
        (edit,) = session.state.edits.values()
        assert session.recall(edit.handle) == LONG


class Counting(OpenAIChat):
    """The codec, with a count of the messages it decodes."""

    def __init__(self) -> None:
        self.decoded = 0

    def decode(self, raw):
        self.decoded += 1
        return super().decode(raw)


@pytest.mark.parametrize("restart", [False, True])
def test_known_messages_are_never_decoded_again(restart: bool) -> None:
    messages = [*OPENING, *(one for number in range(50) for one in exchange(number, "short"))]
    with memory() as store:
        codec = Counting()
        used = kit(store, codec=codec)
        session = fresh(used)
        send(session, body(messages))
        session.flush()
        session = restored(used) if restart else session
        if restart:  # what was marked before is read once, to look for references in what comes
            send(session, body([*messages, *exchange(50, "short")]))
            messages = [*messages, *exchange(50, "short")]
        codec.decoded = 0
        send(session, body([*messages, *exchange(51, "short")]))
        assert codec.decoded == 2


# Negative controls


CUT: Script = [body(GROWING[0]), None, body(GROWING[1])]


class Forgetful(OpenAIChat):
    """A codec that edits the first time only."""

    def __init__(self) -> None:
        self.times = 0

    def project(self, raw, edits):
        self.times += 1 if edits else 0
        return super().project(raw, edits if self.times == 1 else {})


def test_control_an_edit_that_is_forgotten_is_noticed() -> None:
    with memory() as store:
        used = kit(store, codec=Forgetful())
        _, sent = drive(CUT, used)
        seen = checks.Prefixes(OpenAIChat())
        *before, (received, prepared) = sent
        for earlier in before:
            seen.see(earlier[0], earlier[1].body)
        with pytest.raises(AssertionError, match="the prefix was not sent again"):
            seen.see(received, prepared.body)


def test_control_a_divergence_in_live_state_is_noticed() -> None:
    with memory() as store:
        used = kit(store)
        session, _ = drive(CUT, used)
        cell = session.state.cells[0]
        session.state.cells[0] = structs.replace(cell, tokens=cell.tokens + 1)
        with pytest.raises(AssertionError):
            checks.rebuilds(session, used)


@pytest.mark.parametrize("change", [{"tokens": 999}, {"tag": "another"}, {"sent": 999}])
def test_control_a_wrong_sum_is_noticed(change: dict[str, object]) -> None:
    with memory() as store:
        session, _ = drive(CUT, kit(store))
        session.state.cells[-1] = structs.replace(session.state.cells[-1], **change)
        with pytest.raises(AssertionError):
            checks.attribution(session.state)


def test_control_a_stub_that_is_longer_is_noticed() -> None:
    with memory() as store:
        session, _ = drive(CUT, kit(store))
        (cell, edit), *_ = session.state.edits.items()
        session.state.edits[cell] = replace(edit, text=LONG + LONG)
        with pytest.raises(AssertionError):
            checks.shorter(session.state, {cell: LONG})


def test_the_scripts_do_collect() -> None:
    with memory() as store:
        session, _ = drive(CUT, kit(store, EAGER))
        assert len(session.state.edits) == 1
