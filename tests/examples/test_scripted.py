"""The scripted model: it knows what its window says and what it has recalled, and nothing else."""

from __future__ import annotations

import json

from ctxgc.examples.chat import Message, calls
from ctxgc.examples.scripted import UNKNOWN, reply
from ctxgc.examples.tools import RECALL, TOOLS

HANDLE, LIST = "abcdefghijklmnop", "qrstuvwxyz234567"
ALL = (*TOOLS, RECALL)


def window(opening: str, asked: str, *rest: Message) -> list[Message]:
    return [{"role": "system", "content": opening}, {"role": "user", "content": asked}, *rest]


def given(messages: list[Message], tools: tuple[Message, ...] = ALL) -> dict[str, object]:
    (call,) = calls(reply(messages, tools))
    return {"tool": call.name, **call.given}


def answered(*texts: str) -> list[Message]:
    return [{"role": "tool", "tool_call_id": "c", "content": text} for text in texts]


def test_it_follows_the_pointer_of_the_fact_that_it_needs() -> None:
    opening = (
        f"F2: test_part_01.py is written and reads back equal [{LIST} lines 1-9]\n"
        f"F1: part_01.py is written and reads back equal [{HANDLE} lines 1-9]"
    )
    asked = window(opening, "What is line 5 of part_01.py? Answer with that line alone.")
    assert given(asked) == {"tool": "ctxgc_recall", "handle": HANDLE, "first_line": 5, "last_line": 5}
    assert reply([*asked, *answered("V5 = 8\n[lines 5-5 of 9]")], ALL)["content"] == "V5 = 8"


def test_a_fact_that_is_not_shown_is_looked_up_in_the_list() -> None:
    asked = window(
        f"9 more facts: F1-F9 in [{LIST}]", "How many tests in test_part_01.py passed when they were last run?"
    )
    assert given(asked) == {"tool": "ctxgc_recall", "handle": LIST, "search": "the tests in test_part_01.py pass"}
    row = f"7: F6: the tests in test_part_01.py pass [{HANDLE} lines 1-9] [{HANDLE} lines 9-9] by exit_status 1"
    assert given([*asked, *answered(row)]) == {
        "tool": "ctxgc_recall",
        "handle": HANDLE,
        "first_line": 9,
        "last_line": 9,
    }
    assert reply([*asked, *answered(row, "8 passed, 0 failed")], ALL)["content"] == "8"


def test_what_it_does_not_find_it_does_not_know() -> None:
    text = "What is line 5 of part_01.py?"
    assert reply(window("", text), ALL)["content"] == UNKNOWN
    assert reply(window(f"9 more facts: F1-F9 in [{LIST}]", text), TOOLS)["content"] == UNKNOWN
    assert (
        reply([*window(f"9 more facts: F1-F9 in [{LIST}]", text), *answered("[0 matches]")], ALL)["content"] == UNKNOWN
    )
    assert reply(window("", "Tell me a story."), ALL)["content"] == UNKNOWN


def test_it_keeps_nothing_between_two_calls() -> None:
    known = window(
        f"F1: part_01.py is written and reads back equal [{HANDLE} lines 1-9]", "What is line 1 of part_01.py?"
    )
    before = reply(known, ALL)
    reply([*known, *answered("V1 = 8")], ALL)
    assert reply(known, ALL) == before
    assert reply(window("", "What is line 1 of part_01.py?"), ALL)["content"] == UNKNOWN


def test_other_settings_are_the_recalled_ones_with_another_port() -> None:
    opening = f"F1 critical: settings.json is written and reads back equal [{HANDLE} lines 1-5]"
    asked = window(opening, "Write settings.json anew with port = 9. Whatever else is in it stays as it is.")
    assert given(asked) == {"tool": "ctxgc_recall", "handle": HANDLE}
    wrote = given([*asked, *answered('{"port": 1, "workers": 7}')])
    assert json.loads(str(wrote["content"])) == {"port": 9, "workers": 7}


def test_only_what_was_answered_since_the_last_question_counts() -> None:
    first = window("", "What is line 1 of part_01.py?", *answered("V1 = 8"))
    assert reply([*first, {"role": "user", "content": "What is line 1 of part_01.py?"}], ALL)["content"] == UNKNOWN
