"""Which old results an agent still needed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.lab.needs import AROUND, LONG_LINE, last_needed, line_of, needs, terms
from ctxgc.lab.segments import segments
from ctxgc.lab.texts import Use

from .build import agent, call, result, system, user
from .recordings import HISTORY, SECRET, transcript

OUTPUT = "one\n  see lib/parse_rule.py for it  \ntwo"


def found(*messages: dict, **more: object):
    (segment,) = segments(transcript([user("go"), *messages], **more))
    return needs(segment)


def used(*between: dict, by: dict, output: str = OUTPUT):
    return found(call("grep", "1"), result("1", output), *between, by)


@pytest.mark.parametrize("text", ["a_long_name", "lib/parse", "file.name", "version12", "parseRule", "x-1234567"])
def test_distinctive_terms(text):
    assert list(terms(f"see ({text}), then.")) == [text]


@pytest.mark.parametrize("text", ["ordinary", "Ordinary", "a_short", "well-known", "key:value", "........"])
def test_ordinary_terms(text):
    assert list(terms(f"see ({text}), then.")) == []


def test_a_term_has_no_punctuation_around_it():
    assert list(terms("/tmp/my_file.txt. and @user_name: -")) == ["tmp/my_file.txt", "user_name"]


def test_what_only_a_result_said_is_needed_when_the_agent_says_it():
    (need,) = used(by=agent("I open lib/parse_rule.py now"))
    assert (need.turn, need.term, need.result) == (1, "lib/parse_rule.py", 2)
    assert need.line == "see lib/parse_rule.py for it"
    assert (need.tag, need.use) == ("tool_result:grep", Use.TEXT)


@pytest.mark.parametrize(
    ("by", "use"),
    [
        (call("read", "2", path="lib/parse_rule.py"), Use.ARGUMENTS),
        ({**agent("ok"), "reasoning_content": "so lib/parse_rule.py"}, Use.THINKING),
    ],
)
def test_arguments_and_thoughts_use_terms_as_well(by, use):
    assert [need.use for need in used(by=by)] == [use]


@pytest.mark.parametrize(
    "earlier", [user("lib/parse_rule.py"), agent("lib/parse_rule.py"), call("x", "9", a="lib/parse_rule.py")]
)
def test_what_somebody_else_said_before_is_not_needed(earlier):
    said_before = found(earlier, user("go on"), call("grep", "1"), result("1", OUTPUT), agent("lib/parse_rule.py"))
    assert said_before == ()


def test_a_term_of_the_tool_list_is_not_needed():
    tools = json.dumps([{"name": "lib/parse_rule.py"}]).encode()
    assert found(call("grep", "1"), result("1", OUTPUT), agent("lib/parse_rule.py"), tools=tools) == ()


def test_a_part_of_a_longer_term_is_another_term():
    assert used(by=agent("parse_rule")) == ()


def test_a_term_counts_at_its_first_use_only():
    assert len(used(agent("lib/parse_rule.py"), user("and"), by=agent("lib/parse_rule.py"))) == 1


def test_the_latest_result_that_carries_it_is_the_one_needed():
    again = result("2", "elsewhere: lib/parse_rule.py")
    (need,) = used(call("cat", "2"), again, by=agent("lib/parse_rule.py"))
    assert (need.result, need.line, need.tag) == (4, "elsewhere: lib/parse_rule.py", "tool_result:cat")


def test_of_a_long_line_what_stands_around_the_term_is_needed():
    line = "x" * 500 + " lib/parse_rule.py " + "y" * 500
    (need,) = used(by=agent("lib/parse_rule.py"), output=f"a\n{line}\nb")
    assert need.line in line
    assert len(need.line) == 2 * AROUND + len("lib/parse_rule.py") < LONG_LINE


def test_the_line_is_the_one_with_the_term_by_itself():
    assert line_of("my_lib/parse_rule.py2\nlib/parse_rule.py: here", "lib/parse_rule.py") == "lib/parse_rule.py: here"
    assert line_of("nothing", "lib/parse_rule.py") == ""


def test_the_last_turn_at_which_each_result_is_needed():
    (segment,) = segments(transcript(HISTORY))
    (need,) = needs(segment)
    assert (need.term, need.line) == ("settings/server_port.toml", SECRET)
    assert last_needed(segment, (need,)) == ((0, 3),)


def test_ordinals_count_the_texts_of_results_and_turns_the_replies():
    parts = [{"type": "text", "text": OUTPUT}, {"type": "text", "text": "more"}]
    messages = [
        user("go"),
        call("ls", "0"),
        result("0", "none"),
        call("grep", "1"),
        {**result("1", ""), "content": parts},
    ]
    (segment,) = segments(transcript([*messages, agent("ok"), user("x"), agent("lib/parse_rule.py")]))
    assert last_needed(segment, needs(segment)) == ((1, 4), (2, 4))
    assert last_needed(segment, ()) == ()


@given(st.text(alphabet="ab_/.:\n @é\ud800", max_size=60))
def test_every_term_of_a_text_has_a_line_that_holds_it(text):
    for term in terms(text):
        line = line_of(text, term)
        assert term in line
        assert line in text


def test_a_megabyte_without_a_space_is_read_once():
    text = "a_b/" * 300_000  # quadratic would take hours
    assert len(used(by=agent(text), output=text + "\nother")) == 1
    assert line_of(text, "a_b/a_b/a_b") == ""


def test_the_system_prompt_is_somebody_else():
    messages = [
        system("lib/parse_rule.py"),
        user("go"),
        call("grep", "1"),
        result("1", OUTPUT),
        agent("lib/parse_rule.py"),
    ]
    (segment,) = segments(transcript(messages))
    assert needs(segment) == ()
