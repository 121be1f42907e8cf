"""Whatever goes wrong in here, the request leaves: as it came, or with what was decided, and the journal says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.journal import Bypass, Collection, Recovery, decode
from ctxgc.core.policy import Verdict
from ctxgc.core.spans import Malformed
from ctxgc.session import Kit, Session, drain
from ctxgc.store import Store, StoreBusy, StoreRefused
from ctxgc.tokens.measure import meter_for
from ctxgc.wire.openai_chat import OpenAIChat
from tests.session import checks
from tests.session.faults import FaultyStore
from tests.session.scripts import (
    EAGER,
    KEY,
    LONG,
    STYLES,
    agent,
    body,
    drive,
    exchange,
    fresh,
    kit,
    memory,
    restored,
    send,
    system,
    user,
    values,
)

FIRST = body([system(), user(), *exchange(1)])
SECOND = body([system(), user(), *exchange(1), *exchange(2)])


@pytest.fixture
def store() -> Iterator[Store]:
    with memory() as opened:
        yield opened


def entries(used: Kit, kind: type[Any]) -> list[Any]:
    return [entry for stored in used.store.entries(KEY) if isinstance(entry := decode(stored.body), kind)]


def reasons(session: Session) -> list[str]:
    session.flush()
    return [entry.reason for entry in entries(session.kit, Bypass)]


# Bodies that are no requests


BODIES = {
    "empty": b"",
    "not json": b"hello",
    "cut off": FIRST[:-9],
    "an array": b"[]",
    "no messages": b'{"model":"gpt-5"}',
    "messages that are no list": b'{"messages":{}}',
    "a message that is no object": b'{"messages":["hello"]}',
    "a message that is a number": b'{"messages":[1]}',
    "duplicate keys": b'{"model":"a","messages":[],"model":"b"}',
    "not a number": b'{"messages":[{"role":"user","content":"u","n":NaN}]}',
    "byte order mark": b"\xef\xbb\xbf" + FIRST,
    "deep nesting": b'{"messages":[{"role":"user","content":' + b"[" * 90_000 + b"]" * 90_000 + b"}]}",
    "nesting that one parser takes": b'{"messages":[{"role":"user","content":' + b"[" * 700 + b"]" * 700 + b"}]}",
    "bytes that are no text": b'{"messages":[{"role":"user","content":"\xff"}]}',
    "a number too long for python": b'{"messages":[{"role":"user","content":"u","n":' + b"9" * 9_000 + b"}]}",
    "tools that are no objects": b'{"messages":[{"role":"user","content":"u"}],"tools":[1]}',
}


@pytest.mark.parametrize("name", BODIES)
def test_what_cannot_be_read_goes_as_it_came_and_the_journal_says_why(store, name: str) -> None:
    session = fresh(kit(store))
    prepared = send(session, BODIES[name])
    assert prepared.body == BODIES[name]
    assert prepared.bypass
    assert reasons(session) == [prepared.bypass]
    assert "[ctxgc:" in send(session, FIRST).body.decode()


@pytest.mark.parametrize("name", BODIES)
def test_its_bytes_are_kept(store, name: str) -> None:
    session = fresh(kit(store))
    send(session, BODIES[name])
    session.flush()
    (entry,) = entries(session.kit, Bypass)
    assert entry.size == len(BODIES[name])
    assert not entry.size or store.blob(entry.received) == BODIES[name]


@given(st.binary(max_size=200))
def test_any_bytes(text: bytes) -> None:
    with memory() as store:
        assert send(fresh(kit(store)), text).body == text


@given(st.integers(0, len(SECOND)), st.binary(max_size=3), st.integers(0, 3))
def test_a_damaged_body_behind_a_good_one(at: int, noise: bytes, cut: int) -> None:
    with memory() as store:
        session = fresh(kit(store))
        good = send(session, FIRST).body
        damaged = SECOND[:at] + noise + SECOND[at + cut :]
        prepared = send(session, damaged)
        assert prepared.body == damaged or not prepared.bypass
        assert send(session, FIRST).body == good


# Parts that fail


class BadPolicy:
    name = "bad"

    def propose(self, heap: Any) -> Any:
        raise RuntimeError("broken")


class LazyBadPolicy:
    name = "lazy"

    def propose(self, heap: Any) -> Any:
        for arrival in heap.eden:
            yield Verdict(arrival.id, "lazy", "cut", "a try", keep=((0, 3),))
        raise RuntimeError("broken")


class NonsensePolicy:
    name = "nonsense"

    def propose(self, heap: Any) -> Any:
        one = heap.eden[0].id
        yield Verdict(99, "nonsense", "cut", "no such cell", keep=())
        yield Verdict(one, "nonsense", "cut", "backwards", keep=((9, 3),))
        yield Verdict(one, "nonsense", "cut", "beyond", keep=((0, 10**9),))
        yield Verdict(one, "nonsense", "point", "to nothing", of=7)


@pytest.mark.parametrize("policy", [BadPolicy(), LazyBadPolicy()])
def test_a_policy_that_fails_leaves_the_request_alone(store, policy: Any) -> None:
    session = fresh(kit(store, (policy, *EAGER)))
    prepared = send(session, FIRST)
    assert prepared.body == FIRST
    assert prepared.bypass == "policy failed: RuntimeError"
    assert reasons(session) == ["policy failed: RuntimeError"]
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


def test_verdicts_that_make_no_sense_change_nothing(store) -> None:
    prepared = send(fresh(kit(store, (NonsensePolicy(),))), FIRST)
    assert (prepared.body, prepared.bypass) == (FIRST, "")


class Meter:
    """The real meter, some methods of which fail."""

    exact = True

    def __init__(self, *failing: str) -> None:
        self._meter, self._failing = meter_for("gpt-5"), failing

    def __getattr__(self, name: str) -> Any:
        return fail if name in self._failing else getattr(self._meter, name)


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (("count",), ["policy failed: RuntimeError"]),
        (("measure",), ["not booked: RuntimeError"]),
        (("count", "measure"), ["policy failed: RuntimeError", "not booked: RuntimeError"]),
    ],
)
def test_a_meter_that_fails_is_told(store, failing: tuple[str, ...], expected: list[str]) -> None:
    session = fresh(kit(store, meter=lambda _: Meter(*failing)))
    sent = send(session, FIRST).body
    assert (sent == FIRST) == ("count" in failing)
    assert reasons(session) == expected


def test_no_meter_at_all(store) -> None:
    def none(model: str) -> Any:
        raise RuntimeError(model)

    session = fresh(kit(store, meter=none))
    assert (send(session, FIRST).body, reasons(session)) == (FIRST, ["fault: RuntimeError"])


def test_a_meter_that_fails_once_is_forgotten_afterwards(store) -> None:
    used = kit(store)
    broken = iter([True])
    session = fresh(
        kit(store, meter=lambda model: Meter("count", "measure") if next(broken, False) else used.meter(model))
    )
    assert send(session, FIRST).body == FIRST
    assert not send(session, SECOND).bypass
    session.flush()
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


class Codec(OpenAIChat):
    """The real codec, one method of which fails, or does something else."""

    def __init__(self, method: str, instead: Callable[..., Any]) -> None:
        setattr(self, method, instead)


def fail(*_args: Any, **_more: Any) -> Any:
    raise RuntimeError("broken")


def malformed(*_args: Any, **_more: Any) -> Any:
    raise Malformed("broken")


@pytest.mark.parametrize("instead", [fail, malformed])
@pytest.mark.parametrize("method", ["split", "decode", "project", "problems", "schemas"])
def test_a_codec_that_fails_leaves_the_request_alone(store, method: str, instead: Callable[..., Any]) -> None:
    session = fresh(kit(store, codec=Codec(method, instead)))
    prepared = send(session, FIRST)
    assert prepared.body == FIRST
    assert prepared.bypass
    assert reasons(session)[-1] == prepared.bypass
    session.flush()
    assert restored(session.kit).state.plain is False


@pytest.mark.parametrize("method", ["resume", "split", "decode", "project"])
def test_a_codec_that_fails_later(store, method: str) -> None:
    codec = OpenAIChat()
    session = fresh(kit(store, codec=codec))
    send(session, FIRST)
    setattr(codec, method, fail)
    assert send(session, SECOND).body == SECOND if method != "split" else True
    delattr(codec, method)
    assert "[ctxgc:" in values(send(session, SECOND).body)[3]["content"]


# The validator


def corrupting(change: Callable[[bytes], bytes]) -> OpenAIChat:
    """A codec whose edits do more than they should."""
    real = OpenAIChat()
    return Codec("project", lambda raw, edits: change(real.project(raw, edits)) if edits else raw)


CORRUPTIONS = {
    "another id": lambda raw: raw.replace(b'"c1"', b'"c9"'),
    "another role": lambda raw: raw.replace(b'"tool"', b'"user"'),
    "one more field": lambda raw: raw[:-1] + b',"x":1}',
    "one more marker": lambda raw: raw[:-1] + b',"cache_control":{}}',
    "two messages": lambda raw: raw + b"," + raw,
    "no json": lambda raw: raw[:-1],
    "nothing": lambda raw: b"",
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_what_breaks_a_rule_is_not_sent(store, name: str) -> None:
    session = fresh(kit(store, codec=corrupting(CORRUPTIONS[name])))
    prepared = send(session, FIRST)
    assert prepared.body == FIRST
    assert prepared.bypass.startswith("validator: ")
    assert reasons(session) == [prepared.bypass]
    assert entries(session.kit, Collection) == []
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


@pytest.mark.parametrize("name", ["two messages", "no json", "nothing"])
def test_what_does_not_read_back_is_not_sent_even_if_no_rule_forbids_it(store, name: str) -> None:
    codec = corrupting(CORRUPTIONS[name])
    codec.problems = lambda before, after: ()  # type: ignore[method-assign]
    prepared = send(fresh(kit(store, codec=codec)), FIRST)
    assert prepared.body == FIRST
    assert prepared.bypass.startswith("validator: ")


def test_control_without_a_corruption_the_same_request_is_edited(store) -> None:
    assert send(fresh(kit(store, codec=corrupting(lambda raw: raw))), FIRST).body != FIRST


# The store


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("error", [StoreBusy("later"), StoreRefused("never"), OSError("no disk")])
def test_a_store_that_fails_stops_no_request(store, error: Exception, raises: bool) -> None:
    faulty = FaultyStore(store)
    faulty.error, faulty.raises = error, raises
    session = fresh(kit(faulty))
    first, second = send(session, FIRST), send(session, SECOND)
    assert "[ctxgc:" in values(first.body)[3]["content"]
    assert values(second.body)[:4] == values(first.body)
    assert session.broken == isinstance(error, StoreRefused)


def test_what_a_failing_store_missed_is_stored_when_it_is_back(store) -> None:
    faulty = FaultyStore(store)
    session = fresh(kit(faulty))
    faulty.error = StoreBusy("later")
    send(session, FIRST)
    faulty.error = None
    send(session, SECOND)
    session.flush()
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


def test_a_call_that_was_never_settled_is_closed_by_the_next_process(store) -> None:
    used = kit(store)
    session = fresh(used)
    prepared = session.prepare(FIRST)
    session.flush()
    again = restored(used)
    again.flush()
    assert [entry.call for entry in entries(used, Recovery)] == [prepared.call]
    assert again.idle


# What a model name, or a listener, cannot break


def test_a_model_that_utf8_cannot_carry_is_booked(store) -> None:
    session = fresh(kit(store))
    text = FIRST.replace(b'"gpt-5"', b'"\\ud800"')
    assert not send(session, text).bypass
    session.flush()
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


def test_an_observer_that_fails_comes_between_nothing(store) -> None:
    session, sent = drive([FIRST, None, SECOND], kit(store, observe=fail))
    assert [prepared.bypass for _, prepared in sent] == ["", ""]
    checks.rebuilds(session, session.kit)


# Callers that go away, and slices


def test_an_admission_that_was_left_halfway_is_done_by_the_next_caller(store) -> None:
    session = fresh(kit(store))
    first = session.prepare(FIRST)
    left = session.admitting()
    next(left)
    second = send(session, SECOND)
    list(left)
    assert values(second.body)[:4] == values(first.body)
    session.flush()
    checks.rebuilds(session, session.kit)
    checks.originals(session, session.kit)


def test_a_preparation_that_was_left_halfway_leaves_nothing_behind(store) -> None:
    session = fresh(kit(store))
    left = session.preparing(FIRST)
    next(left)
    left.close()
    assert session.idle
    assert not send(session, SECOND).bypass


def test_slices_come_to_the_same_as_one_go(store) -> None:
    history = [system(), user(), *(step for number in range(40) for step in exchange(number, LONG * 40))]
    slices = list(fresh(kit(store)).preparing(body(history)))
    assert len(slices) > 40


# Going plain


def test_a_refused_session_sends_everything_as_it_came_from_then_on(store) -> None:
    session = fresh(kit(store))
    first = send(session, FIRST)
    session.go_plain(first.call, "refused")
    for text in (FIRST, SECOND):
        assert send(session, text).body == text
    session.flush()
    checks.rebuilds(session, session.kit)
    checks.attribution(session.state)
    checks.originals(session, session.kit)
    assert send(restored(session.kit), SECOND).body == SECOND


def test_what_was_collected_before_can_still_be_recalled(store) -> None:
    session = fresh(kit(store))
    first = send(session, FIRST)
    (edit,) = session.state.edits.values()
    session.go_plain(first.call, "refused")
    assert session.recall(edit.handle) == LONG


def test_a_history_that_was_found_before_going_plain_is_not_sent_edited(store) -> None:
    session = fresh(kit(store))
    first = send(session, FIRST)
    resumed = session.resume(SECOND)
    session.go_plain(first.call, "refused")
    assert drain(session.preparing(SECOND, resumed)).body == SECOND


@pytest.mark.parametrize("style", STYLES)
def test_a_body_that_is_not_edited_leaves_as_the_very_object_that_came(store, style) -> None:
    text = body([system(), user(), agent("hello"), user()], style)
    assert fresh(kit(store)).prepare(text).body is text
