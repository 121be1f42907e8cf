from __future__ import annotations

import json

import pytest
from hypothesis import given

from ctxgc.core.block import Author, Block, Kind
from ctxgc.core.heap import content_digest, site_of, tag_of
from tests.strategies import broken_texts, json_bodies, texts


def no_source(_tool: str) -> str | None:
    return None


@pytest.mark.parametrize(
    ("block", "tag"),
    [
        (Block(Kind.TEXT, Author.SYSTEM), "system_prompt"),
        (Block(Kind.TEXT, Author.USER), "user_turn"),
        (Block(Kind.TEXT, Author.AGENT), "agent_reply"),
        (Block(Kind.THINKING, Author.AGENT), "agent_reasoning"),
        (Block(Kind.REFUSAL, Author.AGENT), "agent_reply"),
        (Block(Kind.IMAGE, Author.USER), "user_turn"),
        (Block(Kind.TOOL_CALL, Author.AGENT, name="bash"), "tool_call:bash"),
        (Block(Kind.TOOL_RESULT, Author.TOOL, name="bash"), "tool_result:bash"),
        (Block(Kind.TOOL_RESULT, Author.TOOL), "tool_result:unknown"),
        (Block(Kind.IMAGE, Author.TOOL, name="shot"), "tool_result:shot"),
        (Block(Kind.TOOL_SCHEMA, Author.SYSTEM, name="bash"), "tool_schema:bash"),
    ],
)
def test_the_tag_says_where_a_block_comes_from(block: Block, tag: str) -> None:
    assert tag_of(block, no_source) == tag


def test_a_tool_that_retrieves_tags_its_source() -> None:
    block = Block(Kind.TOOL_RESULT, Author.TOOL, name="search")
    assert tag_of(block, lambda tool: "web" if tool == "search" else None) == "retrieval:web"


def call(arguments: str) -> str:
    return site_of(Block(Kind.TOOL_CALL, Author.AGENT, name="search"), arguments)


def test_a_site_does_not_depend_on_key_order_or_whitespace() -> None:
    assert call('{"b": 1, "a": "x"}') == call('{"a":"x","b":1}') == 'search({"a":"x","b":1})'


@pytest.mark.parametrize(
    ("one", "other"),
    [('{"q":"a"}', '{"q":"b"}'), ('{"q":1}', '{"q":"1"}'), ('{"q":1.5}', '{"q":"1.5"}'), ("[]", "{}"), ("", "{}")],
)
def test_other_arguments_are_another_site(one: str, other: str) -> None:
    assert call(one) != call(other)


def test_sites_are_short_and_still_differ_at_their_end() -> None:
    one, other = (call(json.dumps({"q": "x" * 5000 + end})) for end in "ab")
    assert len(one) < 200
    assert one != other


def test_arguments_that_are_no_json_are_taken_as_they_are() -> None:
    assert call("rm -rf") == "search(rm -rf)"
    assert len(call("[" * 100_000)) < 200


def test_a_result_has_the_site_of_its_call() -> None:
    assert site_of(Block(Kind.TOOL_RESULT, Author.TOOL, name="search"), "{}") == call("{}")


def test_others_are_sites_by_who_wrote_them() -> None:
    assert site_of(Block(Kind.TEXT, Author.USER)) == "user"
    assert site_of(Block(Kind.TOOL_SCHEMA, Author.SYSTEM, name="bash")) == "bash"


@given(json_bodies())
def test_reading_a_site_never_fails(arguments: bytes) -> None:
    assert call(arguments.decode()).startswith("search(")


@given(texts(), texts())
def test_digests_are_equal_for_equal_contents_only(one: str, other: str) -> None:
    assert (content_digest(one) == content_digest(other)) == (one == other)


@given(broken_texts())
def test_lone_surrogates_have_a_digest_too(text: str) -> None:
    assert content_digest(text) != content_digest(text.encode("utf-8", "replace").decode())
