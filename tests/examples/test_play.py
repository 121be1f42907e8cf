"""What is played: real files, windows that know only their beginnings, and periods that close on what is verified."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from ctxgc.errors import LedgerError
from ctxgc.examples.chat import Message, ModelFailed, calls, content
from ctxgc.examples.host import Host
from ctxgc.examples.play import Played
from ctxgc.examples.scripted import UNKNOWN, reply
from ctxgc.examples.tasks import NotDone, round_of
from ctxgc.examples.window import PINS, STEPS
from tests.examples.conftest import Playing


def test_each_sub_task_closes_a_period_named_after_it(five: Played) -> None:
    periods = five.ledger().books.periods
    assert [period.milestone for period in periods] == [
        "settings 0 written",
        "part_00 tested",
        "settings 0 changed",
        "settings 0 put back",
        "use_00 tested",
    ]
    assert len(five.windows) == 5


def test_the_files_are_what_the_sub_tasks_ask_for(five: Played) -> None:
    made = round_of(1, 0)
    assert json.loads((five.root / "settings.json").read_text())["port"] == made.port
    assert (five.root / "use_00.py").read_text() == f"PORT = {made.port}\nTOTAL = {sum(made.values)}\n"
    assert len((five.root / "part_00.py").read_text().splitlines()) == len(made.values)


def test_a_window_begins_with_system_prompt_pins_opening_and_task_alone(five: Played) -> None:
    for number, window in enumerate(five.windows):
        assert [message["role"] for message in window.head] == ["system", "user"]
        system = content(window.head[0])
        assert PINS[0] in system
        assert (f"opening balance after P{number}" in system) == (number > 0)


def test_what_an_earlier_window_wrote_comes_back_by_recall_only(five: Played) -> None:
    made, last = round_of(1, 0), five.windows[-1]
    assert str(made.port) not in "".join(map(content, last.head))
    answers = [content(message) for message in last.messages if message["role"] == "tool"]
    assert any(f'"port": {made.port}' in text for text in answers)
    assert [call.name for message in last.messages for call in calls(message)][:2] == ["ctxgc_recall"] * 2


def test_tokens_are_those_of_head_and_work_with_the_tools(five: Played) -> None:
    assert all(window.tokens > window.head_tokens > 300 for window in five.windows)


def test_a_fact_is_overturned_by_a_new_text_and_restored_by_the_old_one(five: Played) -> None:
    books = five.ledger().books
    balances = [
        [name for name in period.balance if "settings" in books.facts[name].statement] for period in books.periods
    ]
    first, second = balances[0][0], balances[2][0]
    assert balances == [[first], [first], [second], [first], [first]]
    assert books.facts[first].criticality == "critical"


def test_the_outcome_of_tests_rests_on_status_and_count(five: Played) -> None:
    books = five.ledger().books
    (fact,) = (fact for fact in books.current() if fact.statement == "the tests in test_part_00.py pass")
    assert [evidence.verifier for evidence in fact.source] == ["exit_status", "number_equals"]
    assert books.artifacts[fact.source[0].artifact].exit_status == 0


def test_control_a_model_that_says_it_is_done_is_not_believed(playing: Playing) -> None:
    def boasting(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return {"role": "assistant", "content": "All is written and tested, exit status 0."}

    with pytest.raises(NotDone, match=r"settings 0 written: the host has no fact about settings\.json"):
        playing(1, boasting)


def test_control_a_model_without_recall_cannot_go_on(playing: Playing) -> None:
    def forgetful(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        return reply(messages, tools[:3])

    assert [tool.said for tool in playing(2, forgetful).windows] != [UNKNOWN] * 2
    with pytest.raises(NotDone, match="settings 0 changed"):
        playing(3, forgetful)


def test_control_a_file_that_changes_behind_the_hosts_back_keeps_the_period_open(playing: Playing) -> None:
    class Careless(Host):
        def written(self, path: str, data: bytes) -> str:
            said = super().written(path, data)
            self.workspace.write(path, data + b"\n")
            return said

    with pytest.raises(LedgerError, match="F1 is drift"):
        playing(1, host=Careless)


def test_a_window_that_comes_to_no_end_is_given_up(playing: Playing) -> None:
    def endless(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
        function = {"name": "read_file", "arguments": "{}"}
        return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}

    with pytest.raises(ModelFailed, match=f"{STEPS} requests"):
        playing(1, endless)
