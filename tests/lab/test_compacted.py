"""A session that is compacted and told news of its ledger, as the lab tells it: plans, cells, differences, the log."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ctxgc.core.compaction import Compaction, Summary
from ctxgc.core.journal import AnyEntry, Collection, Insertion
from ctxgc.lab.carried import carried
from ctxgc.lab.differences import difference
from ctxgc.lab.explained import VERDICTS, Line, explained
from ctxgc.lab.gc_log import Made, gc_log
from ctxgc.lab.links import Links
from ctxgc.lab.moments import moment
from ctxgc.lab.plans import Rebuilt, rebuild
from ctxgc.lab.profile import profile
from ctxgc.session.kit import Summariser
from ctxgc.session.originals import content
from ctxgc.session.reading import TOOL_NAME
from ctxgc.summarise import Said
from tests.lab.compacted import POLICIES, SHORTENING, Story, compacting, known, log, row, story, thought
from tests.session.scripts import KEY, history


@pytest.fixture(scope="module", params=[POLICIES, SHORTENING], ids=["compacting", "shortening"])
def told(request: pytest.FixtureRequest) -> Iterator[Story]:
    with known() as store:
        yield story(compacting(store, request.param))


def again(told: Story, number: int) -> Rebuilt:
    changes = {"policies": told.used.policies}
    return rebuild(moment(log(told), number), compacting(told.used.store, **changes), KEY)


def lines(told: Story, number: int) -> tuple[Line, ...]:
    return explained(moment(log(told), number), again(told, number))


def turns(told: Story) -> list[int]:
    """The numbers of the requests that were compacted."""
    entries = log(told)
    numbers = range(1, moment(entries, -1).requests + 1)
    return [number for number in numbers if compaction(entries, number)]


def compaction(entries: list[AnyEntry], number: int) -> Compaction | None:
    return next((one for one in moment(entries, number).own if isinstance(one, Compaction)), None)


def made(told: Story) -> list[Made]:
    return [one for one in gc_log(log(told), lambda _: None, lambda _: 0).made if one.generation != "eden"]


# What belongs to a request


def test_a_compaction_and_news_belong_to_their_request(told: Story) -> None:
    entries = log(told)
    own = [entry for number in range(1, len(told.left) + 1) for entry in moment(entries, number).own]
    assert [one for one in own if isinstance(one, Compaction)] == told.compactions()
    news = [one for one in entries if isinstance(one, Insertion) and one.told >= 0]
    assert [one for one in own if isinstance(one, Insertion)] == news
    assert news


def test_control_what_was_recalled_belongs_to_none(told: Story) -> None:
    recalled = [one for one in log(told) if isinstance(one, Insertion) and one.told < 0]
    assert recalled
    own = [entry for number in range(1, len(told.left) + 1) for entry in moment(log(told), number).own]
    assert not set(map(id, recalled)) & set(map(id, own))


def test_cells_are_counted_as_the_state_counts_them(told: Story) -> None:
    links, state = Links(moment(log(told), -1)), told.session.state
    arrived = [links.arrived(cell) for cell in range(len(state.cells))]
    assert arrived == sorted(arrived)
    with pytest.raises(IndexError):
        links.arrived(len(state.cells))
    numbers = [(number, one.handle) for number in turns(told) if (one := compaction(log(told), number))]
    assert list(links.compacted.values()) == numbers


# Plans


def test_every_plan_comes_to_what_was_applied(told: Story) -> None:
    for number in range(1, len(told.left) + 1):
        assert again(told, number).agrees, number
    for number in turns(told):
        found, entry = again(told, number).compaction, compaction(log(told), number)
        assert found is not None
        assert entry is not None
        assert (found.span.after, found.span.upto, found.trigger) == (entry.after, entry.upto, entry.trigger)


def test_control_with_other_terms_the_plan_is_another(told: Story) -> None:
    for number in turns(told):
        kit = compacting(told.used.store, told.used.policies[:-1])
        assert not rebuild(moment(log(told), number), kit, KEY).agrees


def test_no_model_is_asked_and_no_ledger_is_opened_to_explain(told: Story) -> None:
    def asks(_: object) -> Said:
        raise AssertionError

    def opens(_: bytes) -> None:
        raise AssertionError

    kit = compacting(told.used.store, told.used.policies, summariser=Summariser(asks), ledger=opens)
    assert all(rebuild(moment(log(told), number), kit, KEY).agrees for number in (*turns(told), turns(told)[0] - 1))


# Cells


def test_the_cells_of_a_request_are_all_that_came_and_all_that_it_sent(told: Story) -> None:
    for request in carried(log(told)).requests:
        found = lines(told, request.number)
        assert sum(line.sent for line in found) == request.total_sent
        assert sum(line.tokens for line in found) == request.total or not request.received
        assert {line.verdict for line in found} <= set(VERDICTS)
        assert [line.message for line in found] == sorted(line.message for line in found)


def test_what_is_left_out_says_where_it_stands_and_since_when(told: Story) -> None:
    number, entry = turns(told)[-1], told.compactions()[-1]
    for later in (number, len(told.left)):
        out = [line for line in lines(told, later) if line.verdict == "left out"]
        assert out
        assert {line.why for line in out} == {f"stands in record {entry.handle} since turn {number}"}
        assert {line.sent for line in out} == {0}
    state = told.session.state
    assert {state.owners[line.cell] for line in out if line.tokens} & set(entry.kept) == set()


def test_control_nothing_is_left_out_before(told: Story) -> None:
    assert [line for line in lines(told, turns(told)[0] - 1) if line.verdict == "left out"] == []


def test_the_record_and_news_are_told_as_that(told: Story) -> None:
    number = turns(told)[0]
    (before,) = {line.why for line in lines(told, number - 1) if line.role == "ledger"}
    assert before == "what was told of the ledger stays"
    record = [line for line in lines(told, number) if line.role == "summary"]
    assert [line.verdict for line in record] == ["kept"] * len(record)
    assert sum(line.sent for line in record) == told.compactions()[0].tokens
    assert {line.tokens for line in record} == {0}


# Differences


def test_what_is_left_out_and_the_record_are_the_difference(told: Story) -> None:
    store, codec, entries = told.used.store, told.used.codec, log(told)
    for number in (turns(told)[0], turns(told)[-1], len(told.left)):
        at = moment(entries, number)
        found, messages = difference(at, store, codec), history(told.left[number - 1])
        out = [one for one in found.changes if one.record and not one.sent]
        record = [one for one in found.changes if one.record and one.sent]
        assert len({one.message for one in out}) == found.left_out > 0
        ours = sum(1 for line in lines(told, number) if line.role in ("recall", "ledger") and line.sent)
        assert len(messages) == found.messages - found.left_out + len(record) + ours
        for one in out:
            text = content(told.session.state, store, codec, one.cell)
            assert [line.sign for line in one.lines] == ["-"] * len(one.lines)
            assert "\n".join(line.text for line in one.lines) == text
        shown = [json.loads(raw).get("content") for raw in messages]
        assert "\n".join(line.text for line in record[-1].lines) in shown
        assert {one.since for one in (*out, *record)} == {max(at for at in turns(told) if at <= number)}


def test_control_before_a_compaction_nothing_is_left_out(told: Story) -> None:
    found = difference(moment(log(told), turns(told)[0] - 1), told.used.store, told.used.codec)
    assert (found.left_out, [one for one in found.changes if one.record]) == (0, [])


# The log


def test_a_compaction_is_one_major_collection_with_its_own_trigger(told: Story) -> None:
    found = [one for one in made(told) if one.span]
    assert [one.turn for one in found] == turns(told)
    entries = told.compactions()
    assert [(one.trigger, one.before, one.after) for one in found] == [
        (entry.trigger, entry.before, entry.tokens) for entry in entries
    ]
    assert [one.span.handle for one in found if one.span] == [entry.handle for entry in entries]
    assert {one.generation for one in found} == {"major"}
    assert [one.span.first for one in found if one.span] == [1] * len(found)
    collected = [one for one in made(told) if not one.span]
    others = [one for one in told.collections() if any(edit.policy != "compaction" for edit in one.edits)]
    assert len(collected) == len(others)


def test_the_log_predicts_all_that_was_sent_and_what_the_cache_holds_of_it(told: Story) -> None:
    totals = {request.number: request for request in carried(log(told)).requests}
    for one in made(told):
        assert one.predicted is not None
        assert sum(one.predicted) == totals[one.turn].total_sent
        assert one.predicted.read == totals[one.turn].prefix_sent


def test_all_that_was_saved_is_in_the_sums(told: Story) -> None:
    found = carried(log(told)).requests
    saved = sum(one.total - one.total_sent for one in found if one.received)
    assert gc_log(log(told), lambda _: None, lambda _: 0).saved == saved


def test_milestones_and_refused_summaries_stand_between_them(told: Story) -> None:
    said = [
        Summary(at=1.0, after=1, upto=9, model="m", outcome=outcome, input=100, output=10)
        for outcome in ("taken", "refused: no JSON")
    ]
    found = gc_log([*log(told), *said], lambda _: None, lambda _: 0)
    milestone, refused = found.notes
    assert (milestone.kind, milestone.text) == ("milestone", "part four written")
    assert (refused.kind, refused.text, refused.turn) == ("summary", "no JSON (m)", len(told.left))
    assert (found.summaries.taken, found.summaries.refused) == (1, 1)
    assert (found.summaries.input, found.summaries.output) == (200, 20)


# The profile


def test_what_was_sent_falls_and_the_rows_sum_to_it(told: Story) -> None:
    found = profile(log(told))
    assert found.total.sent_turns == sum(one.total_sent for one in found.requests) < found.total.token_turns
    for rows in (found.tags, found.sites):
        assert sum(row.sent_turns for row in rows) == found.total.sent_turns
        assert sum(row.resident for row in rows) == found.requests[-1].total_sent


def test_no_handle_is_listed_and_nobody_called_for_a_record(told: Story) -> None:
    found = profile(log(told))
    handles = set(told.session.state.by_handle)
    named = " ".join([row.name for row in (*found.tags, *found.sites)] + [one.sentence for one in found.suspects])
    assert not any(handle[:6] in named for handle in handles)
    (ours,) = [one for one in found.schemas if one.ours]
    recalls = sum(isinstance(entry, Insertion) and entry.told < 0 for entry in log(told))
    assert (ours.name, ours.calls) == (TOOL_NAME, recalls)
    assert ours.requests == len(told.left)


def test_the_recall_tool_is_no_suspect_where_it_was_never_called() -> None:
    with known() as store:
        found = profile(log(story(compacting(store), parts=2)))
    (ours,) = [one for one in found.schemas if one.ours]
    assert ours.calls == 0
    assert not any(TOOL_NAME in one.subject for one in found.suspects)


def test_a_pointer_behind_the_span_that_is_shown_again_is_told_with_its_compaction() -> None:
    """The same listing comes before and behind the end of the span: what pointed to the first is restored."""
    listing = "the same line every time\n" * 40
    with known() as store:
        told = Story(compacting(store))
        number = 0
        while not told.compactions():
            number += 1
            same = number in (5, 31)
            told.say(listing if same else row(number), arguments={"q": "same"} if same else None, text=thought(number))
        entries = log(told)
        assert number > 31
        restored = [one for one in told.collections() if isinstance(one, Collection)]
        assert [{edit.policy for edit in one.edits} for one in restored] == [{"compaction"}]
        (one,) = made(told)
        assert one.span is not None
        request = carried(entries).requests[one.turn - 1]
        assert one.predicted is not None
        assert sum(one.predicted) == request.total_sent
        assert one.context_after == request.total_sent
        assert again(told, one.turn).agrees
