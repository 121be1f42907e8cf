"""Whether a model is asked about a span: where its answer will be used, and where that is not too dear."""

from __future__ import annotations

from typing import Any

import pytest

from ctxgc.core.pacer import Tariff
from ctxgc.session.collecting import circumstances
from ctxgc.session.errands import Ran, Writing
from ctxgc.session.kit import Summariser
from tests.session.asked import Scripted, asked, says, written
from tests.session.compacted import Long, books
from tests.session.growing import FREE
from tests.session.scripts import memory
from tests.session.test_milestones import relaxed

WARM = Tariff(read=0.025, write=1.25, least=0)
"""To rewrite is dear."""


def done(store: Any, tariff: Tariff) -> Long:
    """A conversation with room, at a milestone."""
    talk = relaxed(store, summariser=Summariser(Scripted(), "small", 32_000), tariff=lambda _model: tariff)
    talk.rows(40)
    talk.session.milestone("rows read")
    talk.session.admit()
    return talk


def test_at_a_milestone_nobody_is_asked_before_it_would_be_compacted() -> None:
    with memory() as store:
        talk = done(store, WARM)
        talk.rows(3)
        assert talk.session.errands() == []
        assert talk.compactions == []


def test_where_it_would_be_compacted_a_model_is_asked() -> None:
    with memory() as store:
        assert isinstance(written(done(store, FREE)), Writing)


def test_where_room_must_be_made_a_model_is_asked_whatever_it_costs() -> None:
    with memory() as store:
        asked(store, tariff=lambda _model: WARM)


def test_what_asking_took_is_on_the_bill() -> None:
    with memory() as store:
        talk, model, writing = asked(store)
        state, head = talk.session.state, talk.head
        before = circumstances(state, WARM, head, 100, 0, cold=False).paid
        model.answer = says(open_items=[("read shelf 99", writing.job.originals[0].cell, "")])
        talk.session.ran(writing.run())
        assert state.asked == 1050
        assert circumstances(state, WARM, head, 100, 0, cold=False).paid == pytest.approx(before + 1.25 * 1050)


def test_only_an_answer_ends_the_wait_for_one() -> None:
    with memory() as store:
        talk, _, _ = asked(store, ledger=lambda _key: books(store))
        talk.session.ran(Ran(fault="period not closed: F1 has drifted"))
        talk.rows(2)
        assert not any(isinstance(one, Writing) for one in talk.session.errands()), "it would be asked twice"
