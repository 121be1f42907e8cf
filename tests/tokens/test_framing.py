from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.tokens import REPLY_TOKENS, TOOLS_TOKENS, count_tool_schema, counter_for, message_overhead

WEATHER = {
    "name": "get_current_weather",
    "description": "Get the current weather in a given location",
    "parameters": {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
}
MESSAGES = [
    ("system", "You are a helpful assistant that can answer to questions about the weather."),
    ("user", "What's the weather like in San Francisco?"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = ["name", "type", "function", "parameters", "properties", "items", "anyOf", "enum", "required", "input_schema"]


@pytest.mark.parametrize(("model", "billed", "within"), [("gpt-4o", 101, 0), ("gpt-4", 105, 1)])
def test_the_cookbooks_weather_request_counts_as_billed(model, billed, within):
    counter = counter_for(model)
    messages = sum(message_overhead(counter, role) + counter.count(text) for role, text in MESSAGES)
    total = messages + REPLY_TOKENS + TOOLS_TOKENS + count_tool_schema(WEATHER, counter)
    assert abs(total - billed) <= within


def test_a_message_costs_three_tokens_and_its_role():
    counter = counter_for("gpt-4o")
    assert message_overhead(counter, "user") == 3 + 1


def test_a_name_costs_one_token_more_than_its_text():
    counter = counter_for("gpt-4o")
    extra = message_overhead(counter, "user", "alice") - message_overhead(counter, "user")
    assert extra == counter.count("alice") + 1


def test_one_tool_counts_alike_in_every_shape_it_is_sent_in():
    counter = counter_for("gpt-4o")
    anthropic = {"name": WEATHER["name"], "description": WEATHER["description"], "input_schema": WEATHER["parameters"]}
    shapes = [WEATHER, {"type": "function", "function": WEATHER}, {"type": "function", **WEATHER}, anthropic]
    counts = {count_tool_schema(shape, counter) for shape in shapes}
    counts |= {count_tool_schema(json.dumps(shape, indent=1), counter) for shape in shapes}
    assert len(counts) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "not json", "[1, 2]", '{"type": "web_search"}', "[" * 100_000, '{"function": 7}']
)
def test_what_is_no_tool_counts_as_its_text(text):
    counter = counter_for("gpt-4o")
    assert count_tool_schema(text, counter) == counter.count(text)


def test_a_cycle_and_odd_keys_are_survived():
    cycle: dict[str, object] = {"type": "x"}
    cycle["self"] = cycle
    assert count_tool_schema(cycle, counter_for("gpt-4o")) > 0
    assert count_tool_schema({(1, 2): object()}, counter_for("gpt-4o")) > 0


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4) | JSON))
def test_garbage_gets_a_count(schema):
    counter = counter_for("gpt-4o")
    assert count_tool_schema(schema, counter) > 0
    assert count_tool_schema(json.dumps(schema), counter) > 0
    assert count_tool_schema({**schema, "name": "f", "parameters": schema}, counter) > 0
