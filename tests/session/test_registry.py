"""Which session a request belongs to: by its id, by its history, in memory and from the store, and never another's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.spans import Malformed
from ctxgc.session import Kit, Session, Sessions, drain, registry
from ctxgc.store import Node, Store, StoreBusy, StoreError, StoreRefused
from tests.session import checks
from tests.session.faults import FaultyStore
from tests.session.scripts import (
    LONG,
    STYLES,
    Dict,
    agent,
    body,
    exchange,
    kit,
    marked,
    memory,
    send,
    settle,
    system,
    user,
    values,
)

ALICE, BOB = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}
OPENING = [system(), user("first task")]
GROWN = [*OPENING, *exchange(1), *exchange(2)]


@pytest.fixture
def used() -> Iterator[Kit]:
    with memory() as store:
        yield kit(store)


def find(sessions: Sessions, messages: list[Dict], headers: dict[str, str] = ALICE, **fields: object) -> Session:
    """Send a whole call; the session it came to."""
    text = body(messages, **fields)
    found = drain(sessions.finding(headers, text))
    settle(found.session, drain(found.session.preparing(text, found.resumed)))
    return found.session


def restarted(sessions: Sessions) -> Sessions:
    """What another process sees."""
    for session in sessions:
        session.flush()
    return Sessions(sessions.kit)


def keep(sessions: Sessions) -> Sessions:
    return sessions


def evicted(sessions: Sessions) -> Sessions:
    """The same, with none of its sessions in memory."""
    for session in sessions:
        session.flush()
        sessions._drop(session.key)
    return sessions


AGAIN = pytest.mark.parametrize("again", [keep, restarted, evicted])


# By id


@AGAIN
@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({"x-ctxgc-session": "abc"}, {}),
        ({"x-claude-code-session-id": "abc"}, {}),
        ({}, {"prompt_cache_key": "abc"}),
        ({}, {"metadata": {"session_id": "abc"}}),
        ({"baggage": "session.id=abc"}, {}),
    ],
)
def test_one_id_is_one_session(used, again, headers, fields) -> None:
    sessions = Sessions(used)
    first = find(sessions, OPENING, {**ALICE, **headers}, **fields)
    second = find(again(sessions), [user("quite another history")], {**ALICE, **headers}, **fields)
    assert second.key == first.key
    assert second.state.calls == 2


def test_two_ids_are_two_sessions_even_with_one_history(used) -> None:
    sessions = Sessions(used)
    keys = {find(sessions, OPENING, {**ALICE, "x-session-id": name}).key for name in ("a", "b")}
    assert len(keys) == 2


def test_a_history_with_an_id_does_not_join_one_without(used) -> None:
    sessions = Sessions(used)
    assert find(sessions, GROWN).key != find(sessions, GROWN, prompt_cache_key="abc").key
    assert find(sessions, GROWN).state.calls == 2


# By history


@AGAIN
def test_a_growing_history_is_one_session(used, again) -> None:
    sessions = Sessions(used)
    first = find(sessions, OPENING)
    for end in (4, 6):
        sessions = again(sessions)
        assert find(sessions, GROWN[:end]).key == first.key


@AGAIN
def test_what_was_sent_is_sent_again(used, again) -> None:
    sessions = Sessions(used)
    seen = checks.Prefixes(used.codec)
    for end in (2, 4, 6):
        text = body(GROWN[:end])
        found = drain(sessions.finding(ALICE, text))
        prepared = drain(found.session.preparing(text, found.resumed))
        settle(found.session, prepared)
        seen.see(text, prepared.body)
        sessions = again(sessions)


@AGAIN
def test_moved_markers_do_not_matter(used, again) -> None:
    sessions = Sessions(used)
    first = find(sessions, [marked(OPENING[0]), marked(OPENING[1])])
    second = find(again(sessions), [*GROWN[:3], marked(GROWN[3])])
    assert second.key == first.key


@AGAIN
def test_another_style_does_not_matter(used, again) -> None:
    sessions = Sessions(used)
    text, other = body(OPENING, STYLES[0]), body(GROWN, STYLES[1])
    first = drain(sessions.finding(ALICE, text)).session
    send(first, text)
    assert drain(again(sessions).finding(ALICE, other)).session.key == first.key


@AGAIN
def test_a_shared_system_prompt_is_no_conversation(used, again) -> None:
    sessions = Sessions(used)
    first = find(sessions, [system(), user("first task")])
    second = find(again(sessions), [system(), user("second task")])
    assert second.key != first.key


@AGAIN
def test_histories_that_diverge_after_a_users_message_are_branches_of_one_session(used, again) -> None:
    sessions = Sessions(used)
    first = find(sessions, GROWN[:4])
    second = find(again(sessions), [*OPENING, agent("otherwise"), user("go on")])
    assert second.key == first.key
    heads = {node.id for node in second.state.nodes} - {node.parent for node in second.state.nodes}
    assert len(heads) == 2


def test_identical_openings_are_one_session_until_they_diverge(used) -> None:
    sessions = Sessions(used)
    assert find(sessions, OPENING).key == find(sessions, OPENING).key == find(sessions, GROWN).key


def test_the_deepest_of_two_known_histories_is_joined(used) -> None:
    sessions = Sessions(used)
    short = find(sessions, OPENING, prompt_cache_key="x")
    long = find(sessions, GROWN)
    assert find(sessions, [*GROWN, agent("ok"), user("more")]).key == long.key != short.key


# Tenants


@AGAIN
def test_two_tenants_with_one_history_never_share_a_session_or_a_handle(used, again) -> None:
    sessions = Sessions(used)
    handles = []
    for tenant in (ALICE, BOB):
        find(sessions, GROWN[:2], tenant)
        sessions = again(sessions)
        session = find(sessions, GROWN[:4], tenant)
        handles.append((session.key, {edit.handle for edit in session.state.edits.values()}))
    assert handles[0][0] != handles[1][0]
    assert handles[0][1].isdisjoint(handles[1][1])
    assert all(found for _, found in handles)


@AGAIN
def test_two_tenants_with_one_id_never_share_a_session(used, again) -> None:
    sessions = Sessions(used)
    keys = set()
    for tenant in (ALICE, BOB):
        keys.add(find(sessions, GROWN, {**tenant, "x-session-id": "abc"}).key)
        sessions = again(sessions)
    assert len(keys) == 2


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=12))
@settings(max_examples=30)
def test_any_interleaving_of_tenants_and_tasks_keeps_them_apart(calls) -> None:
    with memory() as store:
        sessions, keys = Sessions(kit(store), live=2), {}
        for tenant, task, turns in calls:
            messages = [system(), user(f"task {task}"), *(one for turn in range(turns) for one in exchange(turn))]
            session = find(sessions, messages, {"authorization": str(tenant)})
            session.flush()
            assert keys.setdefault((tenant, task), session.key) == session.key
        assert len(set(keys.values())) == len(keys)


# Memory


def test_the_least_recently_used_sessions_make_room(used) -> None:
    sessions = Sessions(used, live=3)
    for number in range(10):
        find(sessions, [user(f"task {number}")]).flush()
    assert len(sessions) <= 4
    assert find(sessions, [user("task 0"), agent("ok"), user("more")]).state.calls == 2


def test_a_session_with_a_call_under_way_stays(used) -> None:
    sessions = Sessions(used, live=1)
    text = body([user("busy")])
    busy = drain(sessions.finding(ALICE, text)).session
    prepared = busy.prepare(text)
    for number in range(5):
        find(sessions, [user(f"task {number}")]).flush()
    assert busy in list(sessions)
    settle(busy, prepared)
    busy.flush()
    find(sessions, [user("another")])
    assert busy not in list(sessions)


def test_what_was_booked_lately_is_found_before_it_is_on_disk(used: Kit) -> None:
    with memory() as real:
        slow = FaultyStore(real)
        slow.held = []
        sessions = Sessions(kit(slow))
        first = find(sessions, [marked(OPENING[0]), OPENING[1]])
        assert find(sessions, GROWN).key == first.key


def test_histories_that_do_not_fit_in_memory_are_recognised_by_their_hashes(used, monkeypatch) -> None:
    monkeypatch.setattr(registry, "MEMORY", 1_000)
    sessions, seen = Sessions(used), checks.Prefixes(used.codec)
    for end in (2, 4, 6):
        for task in ("one", "two", "three"):
            text = body([system(), user(task), *GROWN[2:end]])
            found = drain(sessions.finding(ALICE, text))
            seen.see(text, send(found.session, text).body)
    assert len(sessions) == 3
    assert sum(bool(session.tracks) for session in sessions) < 3


# What goes wrong


def test_a_broken_session_is_read_from_the_store_again(used) -> None:
    with memory() as real:
        faulty = FaultyStore(real)
        sessions = Sessions(kit(faulty))
        find(sessions, GROWN[:2]).flush()
        faulty.error = StoreRefused("no")
        broken = find(sessions, GROWN[:4])
        faulty.error = None
        session = find(sessions, GROWN)
        session.flush()
        assert broken.broken
        assert session is not broken
        assert session.key == broken.key
        checks.rebuilds(session, sessions.kit)
        checks.originals(session, sessions.kit)


def test_another_process_in_the_same_session_breaks_it_and_it_goes_on(used) -> None:
    """Both processes add a message where the other did not see it: the store takes one, and the other one reads."""
    one, other = Sessions(used), Sessions(used)
    find(one, GROWN[:2]).flush()
    find(other, GROWN[:4]).flush()
    late = find(one, [*OPENING, agent("otherwise"), user("go on")])
    with pytest.raises(StoreError):
        late.flush()
    session = find(one, [*OPENING, agent("otherwise"), user("go on")])
    session.flush()
    assert len(session.state.nodes) == 6
    checks.rebuilds(session, used)
    checks.originals(session, used)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"messages":{}}', b"\xff"])
def test_what_cannot_be_read_belongs_to_no_session(used, text: bytes) -> None:
    sessions = Sessions(used)
    find(sessions, OPENING)
    with pytest.raises(Malformed):
        drain(sessions.finding(ALICE, text))
    stray = sessions.strays(ALICE)
    settle(stray, stray.bypass(b"c" * 16, text, "malformed"))
    stray.flush()
    assert sessions.strays(ALICE) is stray is not sessions.strays(BOB)
    assert restarted(sessions).strays(ALICE).key == stray.key


def test_what_cannot_be_read_goes_to_the_session_that_its_header_names(used) -> None:
    sessions = Sessions(used)
    headers = {**ALICE, "x-session-id": "abc"}
    found = drain(sessions.finding(headers, b"nonsense"))
    assert found.session.prepare(b"nonsense").body == b"nonsense"
    settle(found.session, found.session.prepare(b"nonsense"))
    assert find(sessions, OPENING, headers) is found.session


def test_a_user_id_that_utf8_cannot_carry_stops_nothing(used) -> None:
    text = body(OPENING).replace(b'"stream"', b'"metadata":{"user_id":"{\\ud800"},"stream"')
    text = text.replace(b'"model"', b'"metadata":{"user_id":"{\\ud800"},"model"')
    found = drain(Sessions(used).finding(ALICE, text))
    assert not send(found.session, text).bypass


def test_finding_is_done_in_slices(used) -> None:
    messages = [*OPENING, *(one for number in range(40) for one in exchange(number, "r"))]
    assert len(list(Sessions(used).finding(ALICE, body(messages)))) >= 5


def test_an_edit_of_one_tenant_is_no_edit_of_another(used) -> None:
    sessions = Sessions(used)
    find(sessions, GROWN[:2])
    find(sessions, GROWN[:4])
    text = body(GROWN[:6])
    found = drain(sessions.finding(BOB, text))
    assert values(send(found.session, text).body)[3]["content"] == LONG


# Negative control


class Shared(Sessions):
    """A registry that forgets to look at the credential."""

    def finding(self, headers, text):
        return super().finding({}, text)


def test_control_tenants_that_share_a_session_are_noticed(used) -> None:
    sessions = Shared(used)
    assert find(sessions, GROWN, ALICE).key == find(sessions, GROWN, BOB).key


def test_control_a_store_that_finds_nothing_is_noticed(used) -> None:
    class Blind(FaultyStore):
        def find(self, chain: bytes) -> None:
            return None

    sessions = Sessions(kit(Blind(used.store)))
    first = find(sessions, OPENING)
    assert find(restarted(sessions), GROWN).key != first.key


def test_a_store_that_cannot_be_read_is_an_error_and_strays_are_still_kept(used) -> None:
    class Down(FaultyStore):
        def entries(self, session: bytes, start: int = 0):
            raise StoreBusy("later")

        def find(self, chain: bytes):
            raise StoreBusy("later")

    sessions = Sessions(kit(Down(used.store)))
    with pytest.raises(StoreBusy):
        drain(sessions.finding(ALICE, body(OPENING)))
    stray = sessions.strays(ALICE)
    assert stray.bypass(b"c" * 16, b"text", "fault").body == b"text"


def nodes(store: Store, session: Session) -> list[Node]:
    return list(store.nodes(session.key))


def test_the_stores_trie_is_the_states(used) -> None:
    sessions = Sessions(used)
    for messages in (GROWN[:2], GROWN, [*OPENING, agent("no"), user("x")]):
        session = find(sessions, messages)
    session.flush()
    found = [(node.id, node.parent, node.chain, node.blob) for node in nodes(used.store, session)]
    assert found == [(node.id, node.parent, node.chain, node.blob) for node in session.state.nodes]
