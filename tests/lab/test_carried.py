"""What requests carried and cost: the same as going through each of them, whatever models they name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest
from msgspec import structs

from ctxgc.core.journal import Allocation, AnyEntry
from ctxgc.lab.carried import Carried, Walk
from tests.lab.build import recorded, wild
from tests.web.views.journals import came, journals, left, moments

CHARGES = {"a": (2, 25), "b": (1, 10), "c": (3, 3)}
"""What a token costs that is read, and one that is written, by model."""


def mixed(entries: Iterable[AnyEntry], models: str) -> Iterator[AnyEntry]:
    """The journal, with requests of these models in turn."""
    number = 0
    for entry in entries:
        if isinstance(entry, Allocation):
            entry, number = structs.replace(entry, model=models[number % len(models)]), number + 1
        yield entry


def walked(entries: Iterable[AnyEntry], *, often: bool = False) -> Carried:
    """What a walk finds; ``often``: it is asked whenever a request begins, too."""
    walk = Walk(charge=CHARGES.__getitem__)
    for entry in entries:
        if often and isinstance(entry, Allocation):
            walk.end()
        walk.take(entry)
    return walk.end()


def gone_through(entries: list[AnyEntry]) -> tuple[dict[int, int], ...]:
    """By cell: in how many requests it came and was sent, the tokens sent for it, and what they cost."""
    times, sends, turns, spent = (defaultdict[int, int](int) for _ in range(4))
    for one in moments(entries):
        read, write = CHARGES[one.entry.model]
        for cell in came(one):
            times[cell] += 1
        for cell, tokens in left(one).items():
            spent[cell] += (read if cell in sends else write) * tokens
            sends[cell] += 1
            turns[cell] += tokens
    return times, sends, turns, spent


@pytest.mark.parametrize("models", ["a", "ab", "aaabbb", "abc"])
@pytest.mark.parametrize("name", ["collected", "wild1", "wild2"])
def test_figures_are_those_of_going_through_each_request(name: str, models: str) -> None:
    entries = list(mixed(journals()[name], models))
    found = walked(entries)
    columns = found.times, found.sends, found.sent_turns, found.spent
    for column, expected in zip(columns, gone_through(entries), strict=True):
        assert {cell: value for cell, value in enumerate(column) if value} == {
            cell: value for cell, value in expected.items() if value
        }


@pytest.mark.parametrize("models", ["a", "abc"])
@pytest.mark.parametrize("name", sorted(journals()))
def test_it_does_not_matter_how_often_one_looks(name: str, models: str) -> None:
    entries = list(mixed(journals()[name], models))
    one, other = walked(entries), walked(entries, often=True)
    figures = ("times", "sends", "sent_turns", "spent", "requests", "answers", "churn")
    assert [getattr(one, name) for name in figures] == [getattr(other, name) for name in figures]


def test_control_another_models_price_shows() -> None:
    entries = recorded(wild(5))[1]
    assert walked(mixed(entries, "ab")).spent != walked(mixed(entries, "a")).spent
