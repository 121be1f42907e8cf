"""What can still be seen in a request."""

import pytest

from ctxgc.lab.needs import Need
from ctxgc.lab.texts import Use
from ctxgc.lab.visible import Reader, Sent, read_back

from .build import agent, body, call, result, user
from .recordings import raw

NEED = Need(1, "lib/parse_rule.py", 2, "see lib/parse_rule.py for it", "tool_result:grep", Use.TEXT)
HISTORY = [user("go"), call("grep", "1"), result("1", "one\nsee lib/parse_rule.py for it\ntwo")]


def sent(*messages: dict) -> Sent:
    text = body(messages)
    found = read_back(text)
    assert found is not None
    return Sent(text, found[1])


def shows(*messages: dict) -> bool:
    return sent(*messages).shows(NEED, raw(HISTORY), Reader())


def test_a_line_of_the_result_itself_is_visible():
    assert shows(*HISTORY)


def test_a_line_that_was_cut_out_is_not():
    assert not shows(*HISTORY[:2], result("1", "one\n[ctxgc:aaaaaaaaaaaaaaaa lines 2-2 of 3 not shown]\ntwo"))


def test_a_line_that_another_result_holds_is_visible():
    pointer = result("1", "[ctxgc:aaaaaaaaaaaaaaaa unchanged]")
    assert shows(HISTORY[0], call("x", "0"), result("0", NEED.line), call("grep", "1"), pointer)


@pytest.mark.parametrize("other", [user(NEED.line), agent(NEED.line)])
def test_what_is_no_result_does_not_make_a_line_visible_but_it_names_the_term(other):
    request = sent(other, *HISTORY[1:2], result("1", "one"))
    assert not request.shows(NEED, raw(HISTORY), Reader())
    assert request.names(NEED.term)
    assert not sent(*HISTORY[:2], result("1", "one")).names(NEED.term)


def test_a_part_of_the_line_is_not_the_line():
    assert not shows(*HISTORY[:2], result("1", "see lib/parse_rule.py"))


def test_lines_are_read_as_text_and_not_as_json():
    line = 'say "é\\n" lib/parse_rule.py'
    need = Need(1, NEED.term, 0, line, "", Use.TEXT)
    assert sent(result("1", f"a\n{line}\nb")).shows(need, (b"{}",), Reader())


def test_slashes_may_be_escaped():
    assert Sent(b'{"messages":["lib\\/parse_rule.py"]}', ()).names(NEED.term)


def test_handles_are_found_the_last_first_and_each_once():
    request = sent(
        user("[ctxgc:aaaaaaaaaaaaaaaa x] [ctxgc:bbbbbbbbbbbbbbbb x] [ctxgc:aaaaaaaaaaaaaaaa y] [ctxgc:short x]")
    )
    assert request.handles() == ("bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}"])
def test_what_is_no_request_reads_back_as_none(text):
    assert read_back(text) is None
