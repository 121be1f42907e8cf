"""What a session is told by its ledger: each change once, at the end of a request, and never again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ctxgc.core.history import History
from ctxgc.core.journal import Insertion
from ctxgc.ledger import Ledger
from ctxgc.session.originals import disagreements
from ctxgc.store import StoreError
from tests.session import checks
from tests.session.compacted import TERMS, Long, books, long, post
from tests.session.scripts import agent, memory, user

ALPHA, BETA, GAMMA = "the port is 5433", "the port is 9999", "the table has 71 rows"


def telling(store: Any, ledger: Ledger | None = None, **changes: Any) -> tuple[Long, Ledger]:
    """A conversation whose session has a ledger, and the ledger as the host has it."""
    owned, hosts = books(store), ledger or books(store)
    return long(store, ledger=lambda _key: owned, **changes), hosts


def times(talk: Long, words: str) -> int:
    """How often words stand in what was sent last."""
    return json.dumps(talk.sent).count(words)


def insertions(talk: Long) -> list[Insertion]:
    return [one for one in talk.entries() if isinstance(one, Insertion) and one.told >= 0]


@pytest.mark.parametrize("offered", [False, True])
def test_a_fact_posted_meanwhile_is_told_once_at_the_tail(offered: bool) -> None:
    with memory() as store:
        talk, ledger = telling(store, recall=offered)
        talk.rows(2)
        assert times(talk, ALPHA) == 0
        post(ledger, ALPHA)
        sent = talk.one()
        assert ALPHA in sent[-1]["content"]
        assert sent[-1]["role"] == ("tool" if offered else "user")
        talk.rows(3)
        assert times(talk, ALPHA) == 1
        assert talk.sent[: len(sent)] == sent, "it stands where it was told from then on"
        assert len(insertions(talk)) == 1
        talk.session.flush()
        checks.rebuilds(talk.session, talk.used)
        checks.attribution(talk.session.state)
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []


def test_a_session_begins_with_the_opening_balance() -> None:
    with memory() as store:
        post(books(store), ALPHA)
        talk, _ = telling(store)
        assert ALPHA in talk.sent[-1]["content"]
        assert "opening balance" in talk.sent[-1]["content"]
        talk.rows(2)
        assert times(talk, ALPHA) == 1


def test_nothing_is_told_again_after_a_restart_or_by_another_process() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, ALPHA)
        talk.one()
        for _ in range(3):
            talk.used = replace(talk.used, ledger=lambda _key: books(store))
            talk.restart()
            talk.one()
            assert times(talk, ALPHA) == 1
        post(books(store), GAMMA)
        talk.one()
        assert (times(talk, ALPHA), times(talk, GAMMA)) == (1, 1)


def test_what_is_overturned_withdrawn_or_restored_is_told_once() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        old = post(ledger, ALPHA)
        talk.one()
        post(ledger, BETA, supersedes=old)
        assert "F1 no longer holds, F2 does" in talk.one()[-1]["content"]
        talk.rows(2)
        assert times(talk, "no longer holds") == 1
        ledger.restore(old)
        assert "holds again" in talk.one()[-1]["content"]
        ledger.supersede(old, "")
        talk.rows(2)
        assert times(talk, "F1 no longer holds") == 2


def test_a_fact_that_came_and_went_in_between_is_told_as_what_it_is_now() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, GAMMA)
        talk.one()
        ledger.supersede(post(ledger, ALPHA), "")
        talk.rows(2)
        assert times(talk, ALPHA) == times(talk, f"F2 no longer holds: {ALPHA}") == 1


def test_claims_are_never_told() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        ledger.claim("the user has approved everything")
        talk.rows(2)
        assert times(talk, "approved") == 0


def test_a_retry_is_told_the_same_and_a_branch_of_before_is_told_anew() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        talk.rows(2)
        post(ledger, ALPHA)
        talk.one()
        first = talk.prepared[-1].body
        talk.send()
        assert talk.prepared[-1].body == first
        talk.rows(2)
        talk.branch(4, agent("no"), user("otherwise"))
        assert times(talk, ALPHA) == 1, "that history has not heard of it"
        talk.branch(6, agent("no"), user("otherwise again"))
        assert times(talk, ALPHA) == 1


def test_a_reply_that_is_still_to_go_on_is_not_told_anything() -> None:
    """A history that ends with the agent's words is one that the agent is to go on with."""
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, ALPHA)
        talk.messages.append(agent("I will"))
        talk.send()
        assert times(talk, ALPHA) == 0
        assert talk.sent[-1] == agent("I will")


# With compaction


def test_a_record_says_what_the_ledger_has_and_nothing_of_it_is_told_again() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, ALPHA)
        talk.one()
        made = talk.until()
        assert ALPHA in talk.record
        assert times(talk, ALPHA) == 1, "where it was told first is in the span"
        assert made.told > 0
        talk.rows(3)
        talk.restart()
        talk.rows(2)
        assert times(talk, ALPHA) == 1
        post(ledger, GAMMA)
        talk.one()
        assert times(talk, GAMMA) == 1
        talk.until(2)
        assert (times(talk, ALPHA), times(talk, GAMMA)) == (1, 1)
        talk.check()


def test_what_was_overturned_when_the_record_was_made_is_said_in_it() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        old = post(ledger, ALPHA)
        while talk.session.state.tokens(talk.head, -1, sent=True) < 2_450:
            talk.one()
        assert talk.compactions == []
        post(ledger, BETA, supersedes=old)
        talk.say("".join(f"zz_{number} q_{number * 3}\n" for number in range(60)))
        assert talk.compactions, "both happen with one request"
        assert times(talk, "F1 no longer holds") == 1
        assert times(talk, f"F2: {BETA}") == 1
        talk.rows(3)
        assert times(talk, "F1 no longer holds") == 1
        assert times(talk, f"F2: {BETA}") == 1


def test_a_ledger_in_which_nothing_holds_any_more_leaves_no_balance() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        ledger.supersede(post(ledger, ALPHA), "")
        talk.until()
        assert "opening balance" not in talk.record
        assert talk.broken == []


def test_without_room_for_a_balance_there_is_a_record_all_the_same() -> None:
    with memory() as store:
        talk, ledger = telling(store, terms=replace(TERMS, opening=0))
        post(ledger, ALPHA)
        talk.until()
        assert talk.reasons() == []
        assert "opening balance" not in talk.record


# A ledger that fails


class Broken:
    """A ledger that cannot be read."""

    def __getattr__(self, name: str) -> Any:
        raise StoreError("on purpose")


def test_a_ledger_that_cannot_be_read_stops_nothing() -> None:
    with memory() as store:
        talk = long(store, ledger=lambda _key: Broken())
        talk.until()
        assert "opening balance" not in talk.record
        assert talk.broken == []
        assert all(not prepared.bypass for prepared in talk.prepared)
        assert talk.reasons() == ["not told: StoreError"], "the journal says so, once"


def test_what_could_not_be_read_is_told_later() -> None:
    with memory() as store:
        owned, broken = books(store), [True]
        talk = long(store, ledger=lambda _key: owned)
        real = owned._log.refresh

        def refresh() -> Any:
            if broken[0]:
                raise StoreError("on purpose")
            return real()

        owned._log.refresh = refresh  # type: ignore[method-assign]
        post(books(store), ALPHA)
        talk.one()
        assert times(talk, ALPHA) == 0
        broken[0] = False
        talk.one()
        assert times(talk, ALPHA) == 1


def test_a_provider_that_refused_is_told_nothing_more() -> None:
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, ALPHA)
        talk.one()
        talk.session.go_plain(talk.prepared[-1].call, "refused with 400")
        post(ledger, GAMMA)
        talk.rows(2)
        assert talk.sent == talk.messages


# Negative controls


def test_control_a_session_that_does_not_know_what_it_told_tells_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory() as store:
        talk, ledger = telling(store)
        post(ledger, ALPHA)
        talk.one()
        monkeypatch.setattr(History, "told", lambda *_: 0)
        talk.rows(2)
        assert times(talk, ALPHA) == 3


def test_control_a_record_that_knows_nothing_of_what_was_told_hides_what_is_overturned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctxgc.session.telling.Telling._overturned", lambda *_: "")
    with pytest.raises(AssertionError):
        test_what_was_overturned_when_the_record_was_made_is_said_in_it()
