"""Attribution: every token to one tag and one site, and never more or less than was carried."""

import json

import pytest

from ctxgc.core.collector import Edit
from ctxgc.core.journal import Allocation, Collection, Settlement, Usage
from ctxgc.core.state import State
from ctxgc.lab.carried import carried
from ctxgc.lab.costs import cost_of, reported_of
from ctxgc.lab.profile import profile
from ctxgc.policies.keep_last_n import KeepLastN
from ctxgc.tokens.prices import Price

from .build import Keep, Same, agent, body, call, recorded, result, system, tool, user, wild

PRICE = Price(input=2.0, cached_read=0.5, cache_write=3.0, cache_write_1h=3.0, output=10.0, min_cacheable=10)
SYSTEM, TASK = system("four words of system"), user("five words make a task")
READ = [call("read", "1", path="a"), result("1", "one two three four five six")]


def named(rows, name):
    return next(row for row in rows if row.name == name)


def by_hand(entries) -> list[dict[int, int]]:
    """For each request the cells it carried and their tokens as sent, by walking its whole history."""
    state, made, pending = State(), [], None
    for entry in [*entries, None]:
        if pending is not None and not isinstance(entry, Collection):
            cells = [cell for node in state.path(pending.head) for cell in node.cells]
            made.append({cell: state.cells[cell].sent for cell in (*cells, *state.toolset(pending.toolset).cells)})
            pending = None
        if entry is not None:
            state.apply(entry)
            pending = entry if isinstance(entry, Allocation) else pending
    return made


@pytest.mark.parametrize("seed", range(25))
def test_rows_and_requests_sum_to_the_totals_and_agree_with_a_walk_by_hand(seed):
    state, entries = recorded(wild(seed), Same(), Keep())
    made, hand = profile(entries), by_hand(entries)
    assert [request.total_sent for request in made.requests] == [sum(cells.values()) for cells in hand]
    for field in ("cells", "tokens", "sent", "token_turns", "sent_turns", "resident"):
        total = getattr(made.total, field)
        assert total == sum(getattr(row, field) for row in made.tags), field
        assert total == sum(getattr(row, field) for row in made.sites), field
    assert made.total.token_turns == sum(request.total for request in made.requests)
    assert made.total.sent_turns == sum(sum(cells.values()) for cells in hand)
    assert made.total.tokens == sum(request.fresh for request in made.requests)
    assert made.total.sent == sum(request.fresh_sent for request in made.requests)
    assert made.total.cells == len(state.cells)
    assert not made.bypassed


@pytest.mark.parametrize("seed", range(8))
def test_tags_sum_in_every_request(seed):
    _, entries = recorded(wild(seed), Keep())
    made = profile(entries)
    for tag in made.tags:
        assert tag.token_turns == sum(request.received.get(tag.name, 0) for request in made.requests)
        assert tag.sent_turns == sum(request.sent.get(tag.name, 0) for request in made.requests)


def test_a_lost_entry_does_not_go_unnoticed():
    _, entries = recorded(wild(3))
    allocations = [at for at, entry in enumerate(entries) if isinstance(entry, Allocation)]
    del entries[allocations[4]]
    with pytest.raises((ValueError, IndexError)):
        profile(entries)


def test_fresh_and_resent_tokens_are_told_apart():
    history = [SYSTEM, TASK]
    _, entries = recorded([body(history), body([*history, *READ]), body([*history, *READ, agent("ok"), user("more")])])
    made = profile(entries)
    row = named(made.tags, "tool_result:read")
    assert (row.tokens, row.token_turns, row.resent) == (6, 12, 6)
    assert [request.fresh for request in made.requests] == [9, 8, 2]
    assert [request.prefix for request in made.requests] == [0, 9, 17]


def test_a_call_and_its_result_are_retained_together():
    _, entries = recorded([body([SYSTEM, TASK, *READ])])
    made = profile(entries)
    assert named(made.tags, "tool_result:read").resident == 6
    assert named(made.tags, "tool_result:read").retained == 8
    assert named(made.tags, "tool_call:read").retained == 8
    assert named(made.sites, 'read({"path":"a"})').retained == 8
    assert named(made.tags, "system_prompt").retained == 4


def test_what_others_point_to_says_so():
    long = "a result " * 40
    first = [SYSTEM, TASK, call("read", "1", path="a"), result("1", long)]
    again = [*first, call("read", "2", path="a"), result("2", long)]
    _, entries = recorded([body(first), body(again)], Same())
    assert named(profile(entries).sites, 'read({"path":"a"})').pointers == 1
    assert profile(entries).total.sent < profile(entries).total.tokens


def test_a_helper_call_is_counted_and_is_not_the_newest_request_of_the_session():
    history = [SYSTEM, TASK]
    _, entries = recorded([body(history), body([*history, *READ]), body([user("a title please")])])
    made = profile(entries)
    assert made.total.resident == made.requests[1].total
    assert made.total.token_turns == sum(request.total for request in made.requests)
    assert made.requests[2].prefix == 0


def test_a_branch_shares_the_prefix_it_was_made_from():
    history = [SYSTEM, TASK, *READ]
    _, entries = recorded([body(history), body([*history[:2], user("rather this")]), body([*history, agent("a")])])
    assert [request.prefix for request in profile(entries).requests] == [0, 9, 17]


def test_another_tool_list_or_model_shares_no_prefix():
    history = [SYSTEM, TASK]
    bodies = [body(history), body(history, [tool("read")]), body(history, [tool("read")]), body(history, model="other")]
    made = profile(recorded(bodies)[1]).requests
    assert [request.prefix for request in made] == [0, 0, made[1].total, 0]


def later_edit(entries, request: int) -> list:
    """The journal with a collection, at that request, of the first tool result."""
    state, made, seen = State(), [], 0
    for entry in entries:
        made.append(entry)
        state.apply(entry)
        if isinstance(entry, Allocation):
            seen += 1
            if seen == request:
                cell = next(cell.id for cell in state.cells if cell.tag.startswith("tool_result"))
                edit = Edit(cell, "late", "evacuate", "dead", "[stub]", "h" * 16, 6, 1)
                made.append(Collection(at=0.0, call=entry.call, generation="minor", edits=(edit,)))
    return made


def test_an_edit_of_an_old_cell_counts_from_the_request_it_left_with():
    history = [SYSTEM, TASK, *READ]
    longer = [*history, agent("ok"), user("more")]
    _, entries = recorded([body(history), body(longer), body([*longer, agent("b"), user("c")])])
    made = profile(later_edit(entries, 2))
    row = named(made.tags, "tool_result:read")
    assert (row.token_turns, row.sent_turns, row.resident) == (18, 6 + 1 + 1, 1)
    assert made.total.sent_turns == sum(request.total_sent for request in made.requests)
    assert [request.prefix_sent for request in made.requests] == [0, 11, 14]


def test_tools_that_were_never_called_are_told_from_those_that_were():
    tools = [tool("read"), tool("write"), tool("submit")]
    _, entries = recorded([body([SYSTEM, TASK, *READ], tools)])
    found = {schema.name: schema.calls for schema in profile(entries, last_calls=("submit",)).schemas}
    assert found == {"read": 1, "write": 0, "submit": 1}


def test_costs_follow_the_prefix_and_its_least_length():
    history = [SYSTEM, TASK]
    bodies = [body(history), body([*history, *READ]), body([*history, *READ, agent("a"), user("b")])]
    requests = carried(recorded(bodies)[1]).requests
    assert [(request.total, request.prefix) for request in requests] == [(9, 0), (17, 9), (19, 17)]
    cost = cost_of(requests, lambda _: PRICE)
    assert cost is not None
    # The first is too short to be written; the prefix of the second is too short to be read.
    assert cost.sent_cached == 9 * 2.0 + 17 * 3.0 + (17 * 0.5 + 2 * 3.0)
    assert cost.sent_uncached == (9 + 17 + 19) * 2.0
    assert (cost.received_cached, cost.received_uncached) == (cost.sent_cached, cost.sent_uncached)


def test_a_model_without_a_price_costs_nothing_known():
    requests = carried(recorded([body([TASK]), body([TASK], model="priced")])[1]).requests
    assert cost_of(requests, lambda _: None) is None
    cost = cost_of(requests, lambda model: PRICE if model == "priced" else None)
    assert cost is not None
    assert cost.unpriced == 1


def test_reported_usage_is_summed_and_priced():
    usage = Usage(uncached=1, cached=2, written=3, output=4, reasoning=1)
    entry = Settlement(at=0.0, call=b"", outcome="ok", status=200, model="m", estimated=5, usage=usage)
    found = reported_of([entry, entry], lambda _: PRICE)
    assert found is not None
    assert (found.calls, found.uncached, found.cached, found.written, found.output) == (2, 2, 4, 6, 8)
    assert found.usd == 2 * (1 * 2.0 + 2 * 0.5 + 3 * 3.0 + 4 * 10.0)
    assert reported_of([entry], lambda _: None).usd is None
    assert reported_of([Settlement(at=0.0, call=b"", outcome="ok", status=200)], lambda _: PRICE) is None


def test_an_empty_journal_has_an_empty_profile():
    made = profile([])
    assert (made.requests, made.total.tokens, made.tags, made.suspects) == ((), 0, (), ())


def test_what_went_on_unread_is_counted_by_reason():
    made = profile(recorded([b"not json", body([TASK])])[1])
    assert sum(made.bypassed.values()) == 1
    assert len(made.requests) == 1
    assert json.dumps(dict(made.bypassed)).startswith('{"malformed')


def test_what_is_a_prefix_of_what_came_does_not_depend_on_what_was_collected():
    """What was collected is no prefix of what is sent any more; of what came it still is."""
    history, bodies = [SYSTEM, TASK], []
    for number in range(8):
        history += [call("read", str(number), path=str(number)), result(str(number), f"information{number} " * 600)]
        bodies.append(body(history))
    plain, collected = (carried(recorded(bodies, *policies)[1]).requests for policies in ((), (KeepLastN(n=1),)))
    assert [one.prefix for one in collected] == [one.prefix for one in plain]
    assert [one.prefix_sent for one in collected] != [one.prefix_sent for one in plain]
