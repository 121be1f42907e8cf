"""Whatever happens to a conversation that is compacted, what is sent is valid; and what is not is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.compaction import Compaction
from ctxgc.policies import preset
from ctxgc.policies.dedup import Dedup
from ctxgc.session.originals import disagreements
from tests.session import rules
from tests.session.compacted import TERMS, long
from tests.session.scripts import Dict, body, memory, system, user

BIG = "".join(f"thing_{number} is at place_{number * 37}\n" for number in range(30))


@given(
    st.lists(st.sampled_from(("row", "row", "row", "twice", "answer", "rule", "retry", "back", "restart")), max_size=60)
)
@settings(max_examples=25)
def test_whatever_happens_what_is_sent_is_valid_and_is_what_the_journal_says(steps: list[str]) -> None:
    with memory() as store:
        talk = long(store, *preset("generational"), Dedup(min_tokens=16), terms=replace(TERMS, tail=200), quality=1000)
        for number, step in enumerate(steps):
            match step:
                case "row":
                    talk.one()
                case "twice":
                    talk.say(BIG, arguments={"q": 1})
                case "answer":
                    talk.answer(f"part {number} is done", f"now part {number + 1}")
                case "rule":
                    talk.messages.append(system(f"rule {number}"))
                    talk.send()
                case "retry":
                    talk.send()
                case "back" if len(talk.messages) > 4:
                    talk.branch(2 + number * 7 % (len(talk.messages) - 2), user(f"instead {number}"))
                case "restart":
                    talk.restart()
            assert talk.broken == []
        assert [reason for reason in talk.reasons() if "policy" not in reason] == []
        talk.check()


# Negative controls


def test_control_a_session_that_forgets_its_compaction_is_seen() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        entries = [entry for entry in talk.entries() if not isinstance(entry, Compaction)]
        assert list(disagreements(entries, store, talk.used.codec))


def test_control_a_record_that_is_altered_in_the_journal_is_seen() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()

        def altered(entry: Any) -> Any:
            if not isinstance(entry, Compaction):
                return entry
            return type(entry)(**{**_fields(entry), "messages": (b'{"role":"assistant","content":"other"}',)})

        assert list(disagreements(map(altered, talk.entries()), store, talk.used.codec))
        assert list(disagreements(talk.entries(), store, talk.used.codec)) == []


def _fields(entry: Compaction) -> Dict:
    return {name: getattr(entry, name) for name in entry.__struct_fields__}


@pytest.mark.parametrize(
    ("alter", "fault"),
    [
        (lambda sent: sent.pop(0), "messages came or went"),
        (lambda sent: sent.insert(3, sent[2]), "not one record stands for what was left out"),
        (lambda sent: sent[2].update(role="user"), "a record speaks as the user or the system"),
        (lambda sent: sent[2].update(role="system"), "a record speaks as the user or the system"),
        (lambda sent: sent[2].update(content="so far so good"), "not one record stands for what was left out"),
        (lambda sent: sent[-1].update(content="row"), "a text changed and does not say so"),
        (lambda sent: sent[-2].update(content="other"), "what the agent said or called changed"),
    ],
)
def test_control_the_other_validator_sees_what_is_wrong_around_a_record(alter: Any, fault: str) -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        received, sent = body(talk.messages, **talk.fields), talk.sent
        alter(sent)
        assert fault in rules.broken(received, body(sent, **talk.fields), talk.gone)


def test_control_a_result_before_the_user_is_seen() -> None:
    with memory() as store:
        talk = long(store, recall=True)
        talk.until()
        at = next(at for at, one in enumerate(talk.sent) if rules.says_so(one.get("content")))
        sent = talk.sent
        sent[at + 1 : at + 1] = [user("so?")]
        messages = [*talk.messages[: talk.gone[-1] + 1], user("so?"), *talk.messages[talk.gone[-1] + 1 :]]
        faults = rules.broken(body(messages), body(sent), talk.gone)
        assert "nobody of the agent's follows a result" in faults


def test_control_counting_with_another_record_does_not_add_up() -> None:
    with memory() as store:
        talk = long(store)
        talk.until()
        meter = talk.used.meter("gpt-5")
        blocks = [
            block
            for one in talk.sent
            if not rules.says_so(one.get("content"))
            for block in talk.used.codec.decode(json.dumps(one).encode()).blocks
        ]
        assert talk.session.state.tokens(talk.head, -1, sent=True) != sum(map(meter.measure, blocks))
