"""One among many: in 60 kinds of results the odd unit is found, and where all are alike there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.odd import odd, oddest
from tests.core.alike import ELEMENTS, LINES, Alike, app_log, array, record, units
from tests.strategies import broken_texts, json_texts, texts

PLACES = (0, 137, 274, 499)
Finder = Callable[[Sequence[str]], tuple[int, ...]]


def lines(one: Alike, total: int, at: int | None, seed: int) -> list[str]:
    return [f"{line}\n" for line in units(one, total, at, seed)]


def elements(one: Alike, total: int, at: int | None, seed: int) -> list[str]:
    return array(units(one, total, at, seed))


def missed(find: Finder) -> set[str]:
    """The kinds of results of which a finder does not find the odd unit."""
    of_lines = {name for name, one in LINES.items() if 137 not in find(lines(one, 500, 137, 1))}
    return of_lines | {name for name, one in ELEMENTS.items() if 137 not in find(elements(one, 500, 137, 1))}


@pytest.mark.parametrize("name", LINES)
def test_one_odd_line_among_five_hundred_is_found(name: str) -> None:
    for seed, place in enumerate(PLACES):
        found = odd(lines(LINES[name], 500, place, seed))
        assert place in found
        assert len(found) <= 3


@pytest.mark.parametrize("name", ELEMENTS)
def test_one_odd_element_among_five_hundred_is_found(name: str) -> None:
    for seed, place in enumerate((1, 137, 274, 498)):
        found = odd(elements(ELEMENTS[name], 500, place, seed))
        assert place in found
        assert len(found) <= 3


@pytest.mark.parametrize("name", [*LINES, *ELEMENTS])
def test_where_all_are_alike_none_is_odd(name: str) -> None:
    for seed in range(3):
        made = lines(LINES[name], 500, None, seed) if name in LINES else elements(ELEMENTS[name], 500, None, seed)
        assert odd(made) == ()


@pytest.mark.parametrize("name", ["application log, level", "ls -l, folder", "csv, state", "find, ending"])
def test_one_in_thirty_is_enough(name: str) -> None:
    assert 11 in odd(lines(LINES[name], 30, 11, 5))


def test_looking_for_words_of_failure_would_not_do() -> None:
    def by_word(made: Sequence[str]) -> tuple[int, ...]:
        return tuple(row for row, unit in enumerate(made) if "error" in unit.lower() or "fail" in unit.lower())

    assert missed(odd) == set()
    assert len(missed(by_word)) > 40


def test_looking_for_the_longest_would_not_do() -> None:
    assert len(missed(lambda made: (max(range(len(made)), key=lambda row: len(made[row])),))) > 30


def test_members_of_an_object_are_compared_by_their_values() -> None:
    hosts = {f"host-{number}": {"state": "down" if number == 77 else "up"} for number in range(100)}
    made = [f"{json.dumps({key: value})[1:-1]}, " for key, value in hosts.items()]
    assert odd(made) == (77,)


def test_json_on_lines_of_its_own_is_compared_by_key() -> None:
    found = [record(number, Random(number), **({"status": "failed"} if number == 60 else {})) for number in range(120)]
    made = json.dumps(found, indent=2).splitlines()
    assert '    "status": "failed",' in [made[row] for row in odd(made)]


def test_a_file_with_line_numbers_is_no_table() -> None:
    code = ["def run(self):", "    total = 0", "    for one in items:", "        total += one", "    return total", ""]
    assert odd([f"{number:>6}\t{code[number % 6]}\n" for number in range(1, 200)]) == ()


def test_of_lines_that_are_not_alike_only_reports_of_errors_are_odd() -> None:
    chance = Random(4)
    vocabulary = ["the", "of", "a", "cat", "runs", "over", "hills", "and", "trees", "fast"]
    prose = [" ".join(chance.choices(vocabulary, k=9)) for _ in range(80)]
    prose = [f"{chance.choice('abcdefghijklmnop')}{line}" for line in prose]
    assert odd(prose) == ()
    assert odd([*prose[:40], "linker: fatal: cannot find -lz", *prose[40:]]) == (40,)


def test_half_and_half_is_not_odd() -> None:
    made = [app_log(number, Random(number)) for number in range(200)]
    assert odd([line.replace("INFO ", "ERROR") if row % 2 else line for row, line in enumerate(made)]) == ()


@pytest.mark.parametrize(
    "made", [[], ["x"], ["a b 1"] * 7, ["same\n"] * 500, [""] * 50, ["\n", " \n"] * 20, ["[", *["1,"] * 40, "]"]]
)
def test_few_blank_or_equal_units_have_no_odd_one(made: list[str]) -> None:
    assert [made[row] for row in odd(made) if made[row] not in "[]"] == []


def test_the_oddest_are_taken_where_there_are_more() -> None:
    chance = Random(8)
    made = [app_log(number, chance) for number in range(1000)]
    for row in (5, 105, 205, 305, 405, 505, 605, 705):
        made[row] = made[row].replace("INFO ", "DEBUG")
    made[500] = made[500].replace("INFO ", "FATAL")
    assert odd(made, most=1) == (500,)
    assert len(odd(made)) == 9
    assert odd(made, most=0) == ()


def made_up() -> st.SearchStrategy[list[str]]:
    one = st.one_of(texts(), broken_texts(), json_texts(), st.just("x" * 5000), st.just('{"a": NaN, "b": 1e999},'))
    return st.lists(one, max_size=20).flatmap(lambda few: st.lists(st.sampled_from([*few, "a 1", "a 2"]), max_size=60))


@given(made_up(), st.integers(0, 20))
def test_whatever_comes_the_answer_is_a_few_units_in_order(made: list[str], most: int) -> None:
    found = odd(made, most)
    assert len(found) <= most
    assert list(found) == sorted(set(found))
    assert all(made[row].strip() for row in found)
    assert found == odd(made, most) == tuple(sorted(oddest(made, most)))


@pytest.mark.parametrize(
    "unit",
    [" " * 900 + "x", '"' + " a" * 500, "[ a" * 300, "[" * 50_000 + "]" * 50_000 + ",", "a: " * 300, "a=b " * 250,
     "/" * 999, "a." * 499, "abcdef" * 160, '{"a":' + "9" * 5000 + "},", "\ud800 " * 400, "0" * 900],
)  # fmt: skip
def test_hostile_units_cost_what_their_length_says(unit: str) -> None:
    made = [f"{unit}{number}" if number % 2 else unit for number in range(400)]
    assert len(odd(made)) <= 16


def test_what_is_not_a_number_is_like_itself() -> None:
    assert odd(['{"a": NaN, "b": 1e999},'] * 50) == ()
    assert odd([*['{"a": NaN, "b": 1},'] * 50, '{"a": 2.0, "b": 1},']) == (50,)
