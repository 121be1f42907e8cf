"""News of the books: what has changed since a position, as it is in the end."""

from __future__ import annotations

import pytest

from ctxgc.core.books import News

from .bookkeeping import Log, ids


@pytest.fixture
def log() -> Log:
    return Log()


def test_news_are_what_is_new_in_the_end(log):
    kept, gone, back = log.post("kept"), log.post("gone"), log.post("back")
    log.supersede(back)
    start = log.books.length
    new, twice = log.post("new"), log.post("twice")
    log.supersede(gone, new)
    log.restore(back)
    log.supersede(kept)
    log.restore(kept)
    log.supersede(twice, new)
    news = log.books.since(start)
    assert ids(news.posted) == [new]
    assert [(old.id, instead.id) for old, instead in news.superseded] == [(gone, new)]
    assert ids(news.restored) == [back]


def test_a_fact_that_was_posted_and_withdrawn_meanwhile_is_told_as_withdrawn(log):
    start = log.books.length
    fact = log.post()
    log.supersede(fact)
    news = log.books.since(start)
    assert news.posted == ()
    assert [(old.id, instead) for old, instead in news.superseded] == [(fact, None)]


def test_an_overturned_fact_is_told_with_what_stands_in_its_place_in_the_end(log):
    first = log.post()
    start = log.books.length
    second, third = log.post(), log.post()
    log.supersede(first, second)
    log.supersede(second, third)
    assert [(old.id, new.id) for old, new in log.books.since(start).superseded] == [(first, third)]
    log.supersede(third)
    assert [(old.id, new) for old, new in log.books.since(start).superseded] == [
        (first, None),
        (second, None),
        (third, None),
    ]


def test_a_withdrawn_fact_is_no_news_where_another_of_its_matter_is_restored(log):
    first, second = log.post(), log.post()
    log.supersede(first, second)
    log.supersede(second)
    start = log.books.length
    log.restore(first)
    assert log.books.since(start) == News(restored=(log.books.facts[first],))
    middle = log.books.length
    log.restore(second)
    assert log.books.since(start) == News(restored=(log.books.facts[second],))
    news = log.books.since(middle)
    assert ids(news.restored) == [second]
    assert [(old.id, new.id) for old, new in news.superseded] == [(first, second)]


def test_there_are_no_news_of_what_is_to_come_nor_of_claims(log):
    log.post()
    start = log.books.length
    log.claim()
    assert log.books.since(start) == log.books.since(99) == News()
    assert not log.books.since(start)
    assert log.books.since(-5) == log.books.since(0)
    assert log.books.since(0)
