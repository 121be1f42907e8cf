"""News of the books as text: what no longer holds first, bounded, and nothing left out without a word."""

from __future__ import annotations

import re

import pytest

from ctxgc.core import stub
from ctxgc.core.bookings import Fact
from ctxgc.core.books import News
from ctxgc.core.opening import news

from .bookkeeping import COUNTS, POINTER, Count, Log, evidence, filled, voucher


def test_no_news_are_no_text() -> None:
    assert news(News(), COUNTS["tokens"], 500) == ""


def changed() -> News:
    """A fact overturned, one withdrawn, one back, and a critical and a normal one new."""
    log = Log()
    for statement in ("12 tests pass", "the build is green", "port 8080 is free"):
        log.post(statement)
    log.supersede("F3")
    start = log.books.length
    log.post("13 tests pass", criticality="critical")
    log.post("the report has 40 rows")
    log.supersede("F1", "F4")
    log.supersede("F2")
    log.restore("F3")
    return log.books.since(start)


def test_what_no_longer_holds_is_told_first() -> None:
    frame, *lines = news(changed(), COUNTS["tokens"], 500).splitlines()
    assert frame.startswith("[ctxgc:ledger what has changed since this window was opened")
    assert [POINTER.sub("", line) for line in lines] == [
        "F2 no longer holds: the build is green",
        "F1 no longer holds, F4 does: 12 tests pass",
        "F4 critical: 13 tests pass",
        "F5: the report has 40 rows",
        "F3 holds again: port 8080 is free",
    ]


@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_news_are_bounded_and_name_what_has_no_room(count: Count) -> None:
    for budget in range(0, 260, 7):
        text = news(changed(), count, budget)
        assert count(text) <= budget
        if text:
            last = text.splitlines()[-1]
            shown = len(re.findall(r"^F\d", text, re.MULTILINE))
            named = int(last.split()[0]) if " more: " in last else 0
            assert shown + named == 5
    cramped = news(changed(), count, count(news(changed(), count, 500)) // 2 + 20)
    assert re.search(r"\n\d more: .*posted F", cramped)


def test_news_of_thousands_of_facts_are_as_short_as_of_ten() -> None:
    log = filled(5_000)
    for number in range(1, 5_000, 3):
        log.supersede(f"F{number}", f"F{number + 1}")
    text = news(log.books.since(0), COUNTS["tokens"], 400)
    assert COUNTS["tokens"](text) <= 400
    assert "older ones, F" in text.splitlines()[-1]


def test_facts_made_by_hand_can_be_told_too() -> None:
    fact = Fact(1.0, id="F7", type="verified", statement="s", source=(evidence(voucher()),))
    assert "\nF7: s [" in news(News(posted=(fact,)), COUNTS["quarters"], 300)
    assert stub.handles(news(News(posted=(fact,)), COUNTS["quarters"], 300)) == ()
