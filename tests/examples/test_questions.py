"""The second check: details come back by recall, and from nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ctxgc.examples.chat import Message, calls, content
from ctxgc.examples.play import Played
from ctxgc.examples.questions import Answers, Question, ask, questions
from ctxgc.examples.scripted import UNKNOWN, reply
from ctxgc.examples.window import PINS
from ctxgc.session.reading import TOOL_NAME
from tests.examples.conftest import Playing


def test_lines_counts_and_settings_are_asked_for_and_all_answered(five: Played) -> None:
    asked = questions(five)
    texts = "\n".join(question.text for question in asked)
    for words in ("of part_00.py?", "of use_00.py?", "How many tests in test_part_00.py", '"port"', '"workers"'):
        assert words in texts
    found = ask(five, reply, asked)
    assert (found.right, found.unaided) == (len(asked), 0)
    assert found.ok


def test_after_many_sub_tasks_the_way_leads_through_the_full_list(playing: Playing) -> None:
    handles: list[str] = []

    def watched(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        said = reply(messages, tools)
        handles.extend(str(call.given["handle"]) for call in calls(said))
        return said

    played = playing(50)
    assert ask(played, watched, questions(played)).ok
    assert played.ledger().books.periods[-1].opening_balance_ref in handles


def test_no_answer_stands_in_the_opening(five: Played) -> None:
    opening = five.ledger().opening(five.plan.opening, PINS).text
    assert [question.answer for question in questions(five) if question.answer in opening.split()] == []


def test_control_what_stands_in_the_window_shows_nothing(five: Played) -> None:
    known = Question("How many facts are there?", "7")

    def reading(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return {"role": "assistant", "content": content(messages[0]).partition(" facts that")[0].split()[-1]}

    found = ask(five, reading, [known])
    assert (found.right, found.unaided) == (1, 1)
    assert not found.ok


def test_control_a_model_that_guesses_is_wrong(five: Played) -> None:
    def guessing(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return {"role": "assistant", "content": "42"}

    assert not ask(five, guessing, questions(five)).ok


def test_control_vouchers_that_say_something_else_give_wrong_answers(five: Played) -> None:
    def misreading(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        wrong = [
            {**one, "content": content(one).replace("1", "7")} if one["role"] == "tool" else one for one in messages
        ]
        return reply(wrong, tools)

    asked = questions(five)
    assert ask(five, misreading, asked).right < len(asked)


def test_right_answers_are_those_of_the_files_and_not_of_the_ledger(five: Played) -> None:
    settings = five.root / "settings.json"
    settings.write_text(json.dumps({"port": 1, "workers": 2}))
    found = ask(five, reply, questions(five))
    assert found.right == found.asked - 2


def test_nothing_asked_shows_nothing() -> None:
    assert Answers(3, 3, 0, 700).ok
    assert not replace(Answers(3, 3, 0, 700), asked=0, right=0).ok


def test_without_the_tool_the_scripted_model_says_that_it_cannot_tell(five: Played) -> None:
    opening = five.ledger().opening(five.plan.opening, PINS).text
    messages = [{"role": "system", "content": opening}, {"role": "user", "content": questions(five)[0].text}]
    assert content(reply(messages, ())) == UNKNOWN
    assert [call.name for call in calls(reply(messages, [{"function": {"name": TOOL_NAME}}]))] == [TOOL_NAME]


@pytest.mark.parametrize("said", ["`V1 = 5`", " V1 = 5\n", '"V1 = 5".'])
def test_what_models_put_around_an_answer_does_not_count(five: Played, said: str) -> None:
    def wordy(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return {"role": "assistant", "content": said if tools else "no"}

    assert ask(five, wordy, [Question("What is line 1?", "V1 = 5")]).ok
