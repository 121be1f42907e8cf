"""One odd unit among five hundred alike stays in sight: whatever its age, whether or not it has been asked for."""

from __future__ import annotations

import json

import pytest

from ctxgc.core import digest
from ctxgc.policies import preset
from tests.core import alike
from tests.session.growing import FREE, Growing
from tests.session.lookalikes.players import clear_but_last, naive
from tests.session.scripts import kit, memory, system, user

PLACE, TOTAL = 251, 500
AGES = (0, 6, 12, 24)
KINDS = {
    **{f"lines: {name}": one for name, one in alike.LINES.items()},
    **{f"JSON: {name}": one for name, one in alike.ELEMENTS.items()},
}
QUESTIONS = (None, "was there anything unusual in it?")


def needle(kind: str, total: int = TOTAL, at: int = PLACE) -> tuple[str, str]:
    """A result of many alike units, and the one that is unlike them."""
    found = alike.units(KINDS[kind], total, at, seed=1)
    text = "".join(alike.array(found)) if kind.startswith("JSON") else "".join(f"{line}\n" for line in found)
    return text, found[at]


def shown(text: str, age: int, question: str | None = None) -> str:
    """What the model sees of a result so many turns after it came."""
    with memory() as store:
        found = Growing(kit(store, preset("generational"), tariff=lambda _: FREE), [system(), user("look around")])
        at = found.say(text, "fetch_output")
        found.turns(age)
        if question:
            found.answer("all done", question)
        return str(found.sent[at]["content"])


def seen(odd: str, left: str) -> bool:
    """Whether a unit is in what is left, which may be without its spaces."""
    return odd in left or "".join(odd.split()) in "".join(left.split())


@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_unit_stays_at_any_age(kind: str) -> None:
    text, odd = needle(kind)
    for age in (12, 24):
        left = shown(text, age)
        assert odd in left
        assert len(left) < len(text) / 2


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("age", AGES)
@pytest.mark.parametrize("kind", ["lines: application log, level", "JSON: a value", "lines: ls -l, permissions"])
def test_it_stays_whether_or_not_it_was_asked_for(kind: str, age: int, question: str | None) -> None:
    text, odd = needle(kind)
    assert seen(odd, shown(text, age, question))


@pytest.mark.parametrize(
    "kind",
    [
        "lines: application log, level",
        "lines: find, ending",
        "JSON: a value",
    ],
)
def test_it_stays_in_what_was_truncated_first_and_collected_then(kind: str) -> None:
    text, odd = needle(kind, 4000, 2100)
    assert len(text) > 100_000
    for age in (0, 24):
        left = shown(text, age)
        assert seen(odd, left)
        assert len(left) < len(text)


@pytest.mark.parametrize("kind", ["JSON: a value", "JSON: a key more"])
@pytest.mark.parametrize("indent", [1, 4])
def test_it_stays_in_json_of_many_lines(kind: str, indent: int) -> None:
    rows = [json.loads(one) for one in alike.units(KINDS[kind], TOTAL, PLACE, seed=1)]
    ours = json.dumps(rows[PLACE].get("error", rows[PLACE]["status"]))
    left = shown(json.dumps(rows, indent=indent), 24)
    assert ours in left


def test_it_stays_in_an_array_behind_a_line_of_words() -> None:
    text, odd = needle("JSON: a value")
    assert odd.rstrip(",") in shown(f"Found {TOTAL} rows:\n{text}\n", 24)


def test_control_without_a_look_for_them_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    text, odd = needle("lines: csv, state")
    assert odd in shown(text, 24)
    monkeypatch.setattr(digest, "odd", lambda *_: ())
    assert odd not in shown(text, 24)


def test_control_a_placeholder_hides_it() -> None:
    text, odd = needle("lines: csv, state")
    with memory() as store:
        found = Growing(kit(store, ()))
        at = found.say(text)
        found.turns(5)
        assert odd not in naive(clear_but_last(2))([found.messages])[0][at]["content"]
