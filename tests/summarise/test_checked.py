"""Every way in which a summariser answers badly: nothing is taken, or claims only."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.record import deterministic, with_items
from ctxgc.core.record_text import render
from ctxgc.summarise import Refused, Said, Taken, checked
from tests.strategies import json_texts, texts
from tests.summarise.spans import GOOD, OUTPUT, SPAN, answer, count, item

TOKENS = count(OUTPUT)
OPEN = ((4, "rename the column"), (9, "ask for the port"))


def check(said: Said | str, share: float = 0.9) -> Taken | Refused:
    given = Said(said, "stop") if isinstance(said, str) else said
    return checked(given, SPAN, OPEN, span_tokens=TOKENS, count=count, share=share)


BAD: dict[str, Said | str] = {
    "empty": "",
    "blank": " \n",
    "None": Said(None, "stop"),  # type: ignore[arg-type]
    "error text": "Error: rate limit reached, try again later",
    "an error": Said("", "error", error="RateLimitError"),
    "an error beside a record": Said(GOOD, "stop", error="RateLimitError"),
    "tool call": Said(GOOD, "stop", calls=True),
    "finish tool_calls": Said(GOOD, "tool_calls"),
    "cut off": Said(GOOD, "length"),
    "filtered": Said(GOOD, "content_filter"),
    "no finish": Said(GOOD, ""),
    "longer than the span": answer(facts=[item(text="x" * 400)] * 5),
    "no events": "I don't see any events to summarize. Please provide them.",
    "no events, as a record": answer(facts=[item("I don't see any events in this conversation")]),
    "sorry, as a record": answer(open_items=[item("I'm sorry, I cannot help with that")]),
    "reasoning only": Said("", "stop", output=900),
    "nothing in it": answer(),
    "no object": "[]",
    "a string": '"42 passed"',
    "prose": "The tests passed, 42 of them.",
    "prose around it": f"Here is the record: {GOOD}",
    "two objects": GOOD + GOOD,
    "half a record": GOOD[: len(GOOD) // 2],
    "invented pointer": answer(facts=[item(), item(source="c99")]),
    "pointer of another form": answer(facts=[item(source="the test output")]),
    "pointer as number": answer(facts=[{**item(), "source": 3}]),
    "huge pointer": answer(facts=[item(source=f"c{'9' * 400}")]),
    "keys in another language": json.dumps({"hechos": [item()]}),
    "members in another language": answer(facts=[{"texto": "42", "fuente": "c3", "cita": "42 passed"}]),
    "one more member": answer(facts=[{**item(), "verified": True}]),
    "no quote": answer(facts=[{"text": "42 tests passed", "source": "c3"}]),
    "items are strings": answer(facts=["42 tests passed"]),
    "a field is an object": answer(facts={"text": "42"}),
    "null": answer(facts=None),
    "too many": answer(facts=[item("ok 42")] * 41),
    "huge string": answer(facts=[item(quote="x" * 10**4)]),
    "ten megabytes": answer(facts=[item("x" * 10**7)]),
    "ten megabytes of prose": "x" * 10**7,
    "deep nesting": "[" * 200_000,
    "deep nesting that closes": answer(facts="@").replace('"@"', "[" * 100_000 + "]" * 100_000),
    "NaN": answer(resolved="@").replace('"@"', "[NaN]"),
    "Infinity": answer(resolved="@").replace('"@"', "[Infinity]"),
    "huge number": answer(resolved="@").replace('"@"', f"[{'9' * 10_000}]"),
    "twice the same member": GOOD[:-1] + f', "facts": [{json.dumps(item("other"))}]}}',
    "twice in an item": answer(facts="@").replace(
        '"@"', '[{"text": "a 1", "text": "b 1", "source": "c3", "quote": "42"}]'
    ),
    "resolves what is not open": answer(facts=[item()], resolved=[5]),
    "resolves true": answer(facts=[item()], resolved=[True]),
    "resolves a text": answer(facts=[item()], resolved=["4"]),
    "resolves a fraction": answer(facts=[item()], resolved=[4.0]),
    "blank statement": answer(facts=[item(" \n ")]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_refused_in_one_line_and_leaves_the_deterministic_record(name: str) -> None:
    found = check(BAD[name])
    assert isinstance(found, Refused)
    assert found.reason
    assert "\n" not in found.reason
    assert len(found.reason) < 300
    text = render(deterministic(SPAN, running=False), handle="a" * 16, budget=800, count=count)
    assert "Fix the login bug" in text
    assert "1 calls" in text


def test_a_good_answer_is_taken() -> None:
    found = check(GOOD)
    assert isinstance(found, Taken)
    assert [(one.field, one.cell, one.stands, one.fact) for one in found.items] == [
        ("open_items", 4, True, ""),
        ("facts", 3, True, ""),
    ]


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "\n```json\r\n{}```\n"])
def test_a_fence_around_the_record_is_taken_off(fence: str) -> None:
    assert check(fence.replace("{}", GOOD)) == check(GOOD)


def test_an_invented_quote_leaves_a_claim_that_does_not_stand() -> None:
    found = check(answer(facts=[item(quote="43 passed in 1.27s"), item("x 1", quote="")]))
    assert isinstance(found, Taken)
    assert [one.stands for one in found.items] == [False, False]
    text = render(with_items(deterministic(SPAN, running=False), found.items), handle="a", budget=900, count=count)
    assert text.count("- claim") == 2


def test_resolved_alone_is_a_record() -> None:
    assert check(answer(resolved=[9, 9, 4])) == Taken((), (9, 4))


def test_the_share_is_what_makes_it_too_long() -> None:
    assert isinstance(check(GOOD, share=0.9), Taken)
    assert check(GOOD, share=0.01) == Refused("it is not smaller than what it stands for")


def test_lone_surrogates_are_carried_as_what_utf8_can_hold() -> None:
    found = check(answer(facts=[item("42\ud800 passed")]))
    assert isinstance(found, Taken)
    assert found.items[0].text == "42? passed"


@given(st.one_of(texts(), json_texts(), json_texts().map(lambda value: f'{{"facts": {value}}}')))
def test_whatever_is_said_something_comes_back(text: str) -> None:
    found = check(text)
    assert isinstance(found, Refused) or all(one.cell in range(5) for one in found.items)
