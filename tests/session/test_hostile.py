"""Whatever policies say, of whatever history: what is sent is valid, leads back, and is what the journal says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.core.policy import Verdict
from ctxgc.session import Prepared
from tests.session import rules
from tests.session.histories import story
from tests.session.hostile import Hostile, Witness, compacting, equipped, hostile, tell
from tests.session.hostile import settings as chosen
from tests.session.scripts import agent, body, exchange, fresh, memory, result, send, system, user

FREE = Tariff(read=1.0, write=1.0, least=0)
SEEDS = st.integers(0, 2**48)


@given(SEEDS)
@settings(max_examples=200)
def test_what_is_sent_is_valid_and_leads_back(seed: int) -> None:
    chance = Random(seed)
    policies, (tariff, pacer), told = hostile(chance), chosen(chance), story(chance)
    with memory() as store:
        counted, _ = tell(told, *equipped(store, policies, tariff, pacer))
    assert counted.faults == []


@given(SEEDS)
@settings(max_examples=40)
def test_a_restart_before_every_request_changes_no_byte(seed: int) -> None:
    chance = Random(seed)
    policies, (tariff, pacer) = hostile(chance), chosen(chance)
    told = [one for one in story(chance, branches=False) if one]
    with memory() as one, memory() as other:
        _, live = tell(told, *equipped(one, policies, tariff, pacer))
        _, again = tell(told, *equipped(other, policies, tariff, pacer), forgetful=True)
    assert live == again


@given(SEEDS)
@settings(max_examples=60)
def test_what_is_compacted_is_valid_and_leads_back(seed: int) -> None:
    chance = Random(seed)
    policies, (tariff, pacer), told = compacting(chance), chosen(chance), story(chance, 24, milestones=True)
    with memory() as store:
        counted, _ = tell(told, *equipped(store, policies, tariff, pacer))
    assert counted.faults == []
    assert counted.refused == 0, "no edit of ours may need the last check"


@given(SEEDS)
@settings(max_examples=20)
def test_a_restart_before_every_request_changes_no_byte_of_what_is_compacted(seed: int) -> None:
    chance = Random(seed)
    policies, (tariff, pacer) = compacting(chance), chosen(chance)
    told = [one for one in story(chance, 20, branches=False) if one]
    with memory() as one, memory() as other:
        _, live = tell(told, *equipped(one, policies, tariff, pacer))
        _, again = tell(told, *equipped(other, policies, tariff, pacer), forgetful=True)
    assert live == again


def test_the_stories_are_compacted() -> None:
    compacted = 0
    for seed in range(20):
        chance = Random(seed)
        policies, told = compacting(chance), story(chance, 24, milestones=True)
        with memory() as store:
            counted, _ = tell(told, *equipped(store, policies, FREE, Pacer(quality=1500)))
        compacted += counted.compacted
    assert compacted > 10


def test_the_stories_are_collected_from() -> None:
    residents = edits = 0
    for seed in range(30):
        chance = Random(seed)
        policies, told = hostile(chance), story(chance)
        with memory() as store:
            counted, _ = tell(told, *equipped(store, policies, FREE, Pacer()))
        residents, edits = residents + counted.residents, edits + counted.edits
    assert residents > 20
    assert edits > residents + 20


# Negative controls: each defect is put into what was sent, and the witness must see it.

TEXT = "".join(f"row_{number} of item_{number * 37 % 100}\n" for number in range(60))
PLAIN = [
    system(),
    user(),
    agent("so", reasoning_content="long thoughts"),
    *exchange(1, TEXT),
    result("c1", [{"type": "text", "text": TEXT}]),
    user("and?"),
]


def changed(change: Callable[[list[dict[str, object]]], object]) -> bytes:
    messages = json.loads(json.dumps(PLAIN))
    change(messages)
    return body(messages)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda m: m.pop(4), "messages came or went"),
        (lambda m: m[0].update(content="be long"), "a message of the user or the system changed"),
        (lambda m: m[6].update(content="and? [ctxgc:]"), "a message of the user or the system changed"),
        (lambda m: m[3]["tool_calls"][0].update(id="x"), "a call and its result were parted"),
        (lambda m: m[3].update(content="said"), "what the agent said or called changed"),
        (lambda m: m[2].update(reasoning_content="short"), "reasoning changed and is not blank"),
        (lambda m: m[4].update(tool_call_id="c9"), "a call and its result were parted"),
        (lambda m: m[4].update(content=None), "the shape of a result changed"),
        (lambda m: m[4].update(content=" "), "a text became empty"),
        (lambda m: m[4].update(content="ctxgc \ud800"), "a lone surrogate came into a text"),
        (lambda m: m[4].update(content="short"), "a text changed and does not say so"),
        (lambda m: m[4].update(name="x"), "a result changed in more than its text"),
        (lambda m: m[5]["content"][0].update(type="input_text"), "a part changed in more than its text"),
        (lambda m: m[5]["content"].pop(), "the shape of a result changed"),
        (lambda m: m[4].update(cache_control={}), "there are more cache markers"),
    ],
)
def test_control_the_second_validator_sees_each_fault(
    change: Callable[[list[dict[str, object]]], object], fault: str
) -> None:
    assert fault in rules.broken(body(PLAIN), changed(change))


def test_control_what_is_as_it_came_breaks_no_rule() -> None:
    assert rules.broken(body(PLAIN), body(PLAIN)) == []
    assert rules.broken(body(PLAIN), changed(lambda m: m[4].update(content="[ctxgc:x]"))) == []
    assert rules.broken(body(PLAIN), changed(lambda m: m[2].update(reasoning_content=" "))) == []
    assert "something besides the messages changed" in rules.broken(body(PLAIN), body(PLAIN, temperature=1))
    assert rules.broken(body(PLAIN), b"{") == ["it is no JSON"]


def witnessed(alter: Callable[[bytes], bytes], messages: list[dict[str, object]] | None = None) -> list[str]:
    """What a witness says of a second request, which ``alter`` tampers with, after a first one that is as it was."""
    eager = Hostile((Verdict(0, "p", "a", "r", keep=((0, 40),)),), 1)
    with memory() as store:
        used, _ = equipped(store, (eager,), FREE, Pacer())
        session, witness = fresh(used), Witness(used)
        for number, last in enumerate((None, alter)):
            text = body([*(messages or PLAIN), *exchange(2, TEXT), *exchange(3, TEXT)][: 9 + 2 * number])
            prepared: Prepared = send(session, text)
            prepared = replace(prepared, body=last(prepared.body)) if last else prepared
            witness.see(session, text, prepared)
    return witness.counted.faults


def test_control_the_witness_sees_a_prefix_that_changed() -> None:
    fault = "the prefix changed and the journal does not say why"
    assert witnessed(lambda sent: sent) == []
    assert fault in witnessed(lambda sent: sent.replace(b"row_1 of", b"row_1 is", 1))


def test_control_the_witness_sees_a_pin_that_changed() -> None:
    pinned = [*PLAIN[:4], {**PLAIN[4], "ctxgc": {"pin": True}}, *PLAIN[5:]]
    assert "what the application pinned changed" in witnessed(lambda sent: sent.replace(b"row_1 of", b"", 1), pinned)
