"""What a prefix cache makes of requests, and how counts are made to fit what was reported."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.lab.billing import Account, Counts, Fit, fit
from ctxgc.lab.visible import read_back

from .build import agent, body, call, result, tool, user
from .recordings import raw

COUNTS = Counts("gpt-5")
MESSAGES = raw([user("a b c"), agent("d e"), user("f g h i"), agent("j")])


def size(*messages: bytes) -> int:
    return sum(map(COUNTS.message, messages))


def account(found: Fit | None = None, *requests: tuple[bytes, ...]) -> Account:
    made = Account(found or Fit(), COUNTS)
    for request in requests:
        made.charge(b"", 0, request, cold=False)
    return made


def test_the_first_request_is_written():
    charge = account().charge(b"", 0, MESSAGES[:2], cold=False)
    assert (charge.read, charge.written) == (0, size(*MESSAGES[:2]))


def test_what_the_last_request_began_with_is_read_and_the_rest_written():
    charge = account(None, MESSAGES[:2]).charge(b"", 0, MESSAGES, cold=False)
    assert (charge.read, charge.written) == (size(*MESSAGES[:2]), size(*MESSAGES[2:]))
    assert charge.again == 0


def test_a_rewritten_prefix_is_charged_from_the_change_on():
    changed = (MESSAGES[0], *raw([agent("shorter")]), *MESSAGES[2:])
    charge = account(None, MESSAGES).charge(b"", 0, changed, cold=False)
    assert (charge.read, charge.written) == (size(MESSAGES[0]), size(*changed[1:]))
    assert (charge.common, charge.again) == (1, size(*MESSAGES[2:]))


def test_messages_taken_out_of_the_middle_are_a_change():
    left = (MESSAGES[0], *MESSAGES[2:])
    charge = account(None, MESSAGES).charge(b"", 0, left, cold=False)
    assert (charge.read, charge.again) == (size(MESSAGES[0]), size(*MESSAGES[2:]))


def test_a_cold_cache_is_written_anew():
    charge = account(None, MESSAGES).charge(b"", 0, MESSAGES, cold=True)
    assert (charge.read, charge.written, charge.common) == (0, size(*MESSAGES), len(MESSAGES))


def test_other_tools_share_nothing():
    charge = account(None, MESSAGES).charge(b"[1]", 5, MESSAGES, cold=False)
    assert (charge.read, charge.written) == (0, 5 + size(*MESSAGES))


def test_an_unrecorded_prefix_is_read_and_written_with_the_rest():
    made = account(Fit(prefix=1000, factor=2))
    first = made.charge(b"", 0, MESSAGES[:1], cold=False)
    assert (first.read, first.written) == (0, 1000 + 2 * size(MESSAGES[0]))
    second = made.charge(b"", 0, MESSAGES[:2], cold=False)
    assert (second.read, second.written) == (1000 + 2 * size(MESSAGES[0]), 2 * size(MESSAGES[1]))


@given(st.lists(st.lists(st.sampled_from(MESSAGES), max_size=5), max_size=6))
def test_read_and_written_are_the_whole_request(requests):
    made = account()
    for request in requests:
        charge = made.charge(b"", 0, tuple(request), cold=False)
        assert charge.read + charge.written == charge.count == size(*request)


def test_tools_and_whatever_cannot_be_read_are_counted():
    with_tools, without = (read_back(body([user("a")], tools)) for tools in ([tool("read")], []))
    assert with_tools is not None
    assert without is not None
    assert COUNTS.tools(with_tools[0]) > COUNTS.tools(without[0]) == 0
    assert COUNTS.message(b"not json") > 0


def test_arguments_and_results_are_counted():
    assert COUNTS.message(*raw([call("read", "1", path="x" * 300)])) > COUNTS.message(*raw([call("read", "1")]))
    assert COUNTS.message(*raw([result("1", "word " * 100)])) >= 100


@pytest.mark.parametrize(("prefix", "factor"), [(0, 1.0), (26_000, 1.25), (500, 3.5)])
def test_prefix_and_factor_are_found(prefix, factor):
    points = [(size, round(prefix + factor * size)) for size in range(500, 50_000, 900)]
    found = fit(points)
    assert found.prefix == pytest.approx(prefix, abs=5)
    assert found.factor == pytest.approx(factor, rel=0.01)
    assert found.usages == len(points)


def test_a_few_usages_of_other_calls_change_nothing():
    points = [(size, 9000 + 2 * size) for size in range(1000, 40_000, 700)]
    points[::7] = [(count, 40) for count, _ in points[::7]]
    assert fit(points).prefix == pytest.approx(9000, rel=0.01)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(10, 20), (20, 40)],
        [(10, 20)] * 5,
        [(size, 0) for size in range(10)],
        [(100 * turn, 60 * turn * turn * 100) for turn in range(1, 60)],
        [(size, 50_000 - 30 * size) for size in range(100, 1600, 100)],
        [(size, random.Random(size).randrange(900_000)) for size in range(100, 9000, 100)],
    ],
    ids=["none", "few", "one size", "zero", "running totals", "falling", "noise"],
)
def test_what_is_no_size_of_a_request_is_not_fitted(points):
    assert fit(points) == Fit()


def test_a_fit_is_never_beyond_reason():
    assert fit([(size, size // 100 + 40_000) for size in range(1000, 30_000, 500)]).factor == 0.5
    assert fit([(size, 3 * size - 200) for size in range(1000, 30_000, 500)]).prefix == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30))
def test_any_usages_give_some_fit(points):
    found = fit(points)
    assert found.prefix >= 0
    assert 0.5 <= found.factor <= 4
