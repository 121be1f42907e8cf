from __future__ import annotations

from ctxgc.core.journal import Usage
from ctxgc.demo.billing import Biller
from ctxgc.demo.script import Call, Turn
from ctxgc.tokens import counter_for

COUNT = counter_for("gpt-5").count
LONG = "a long story about nothing " * 300
DONE = Turn("Done.")


def body(*texts: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text} for text in texts], **more}


def test_a_message_costs_its_text_and_four_tokens() -> None:
    usage = Biller("gpt-5").usage(body("Hello there"), DONE)
    assert usage == Usage(uncached=COUNT("Hello there") + 4 + 3, output=COUNT("Done."))


def test_parts_and_calls_count() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    expected = COUNT("Hello") + 4 + 4 + 3 + COUNT("bash") + COUNT('{"command": "ls"}') + 3
    assert Biller("gpt-5").usage({"messages": messages}, DONE).input == expected


def test_the_answer_is_counted_with_its_calls() -> None:
    turn = Turn("Go.", (Call("a", "bash", "{}", "never counted here"),))
    assert Biller("gpt-5").usage(body("x"), turn).output == COUNT("Go.") + COUNT("bash") + COUNT("{}") + 3


def test_a_prefix_that_was_received_is_cached_in_whole_messages() -> None:
    biller = Biller("gpt-5")
    first = biller.usage(body(LONG), DONE)
    second = biller.usage(body(LONG, "More?"), DONE)
    assert first.cached == 0
    assert second.cached == first.input - 3
    assert second.uncached == COUNT("More?") + 4 + 3


def test_a_short_prefix_is_not_cached() -> None:
    biller = Biller("gpt-5")
    biller.usage(body("Hello"), DONE)
    assert biller.usage(body("Hello", "More?"), DONE).cached == 0


def test_a_change_ends_the_cached_prefix() -> None:
    biller = Biller("gpt-5")
    biller.usage(body(LONG, "one", LONG), DONE)
    assert biller.usage(body(LONG, "two", LONG), DONE).cached == COUNT(LONG) + 4


def test_other_tools_leave_nothing_cached() -> None:
    tool = {"type": "function", "function": {"name": "bash", "description": "Run.", "parameters": {"type": "object"}}}
    biller = Biller("gpt-5")
    biller.usage(body(LONG), DONE)
    assert biller.usage(body(LONG, tools=[tool]), DONE).cached == 0
