"""What is read of a message, whatever it holds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.lab.texts import Said, Use, said

from .build import agent, call, result


def of(message: object) -> Said:
    return said(json.dumps(message).encode())


def test_texts_are_told_apart_by_their_use():
    assert of(agent("hi")).texts == ((Use.TEXT, "hi"),)
    assert of({**agent("hi"), "reasoning_content": "hm"}).texts == ((Use.THINKING, "hm"), (Use.TEXT, "hi"))
    assert of(result("1", "out")).results == ("out",)
    assert of({**result("1", ""), "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}).results == ("a",)


def test_of_a_call_its_values_are_read_and_not_the_names_of_parameters():
    made = of(call("edit", "1", file_path="a\nb", lines=[1, {"inner_key": True}]))
    assert [text for _, text in made.texts] == ["a\nb", "1", "inner_key"]
    assert made.calls == (("1", "edit"),)


def test_arguments_that_are_no_object_are_read_as_they_stand():
    message = call("edit", "1")
    message["tool_calls"][0]["function"]["arguments"] = '{"file_path": '
    assert of(message).texts == ((Use.ARGUMENTS, '{"file_path": '),)


def test_a_legacy_function_and_its_result_belong_together():
    asked = of({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})
    assert asked.calls == (("f", "f"),)
    assert of({"role": "function", "name": "f", "content": "out"}).answers == "f"


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"null", b"\xff", b"[" * 100_000, b'{"role":1,"content":{}}'])
def test_what_cannot_be_read_says_nothing(raw):
    assert said(raw).texts == ()


def test_a_lone_surrogate_is_a_character():
    assert said(b'{"role":"tool","content":"\\ud800 x"}').results == ("\ud800 x",)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_reading_never_fails(value):
    of(value)
    of({"role": "assistant", "content": value, "tool_calls": value, "function_call": value, "tool_call_id": value})
