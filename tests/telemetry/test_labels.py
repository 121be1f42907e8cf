from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.telemetry.labels import (
    ACTIONS,
    OUTCOMES,
    REASONS,
    REST,
    SOURCES,
    TAGS,
    Provenance,
    action_of,
    outcome_of,
    reason_of,
)


@pytest.mark.parametrize(
    ("tag", "labels"),
    [
        ("tool_result:read_file", ("tool_result", "read_file")),
        ("tool_schema:bash", ("tool_schema", "bash")),
        ("retrieval:wiki", ("retrieval", "wiki")),
        ("system_prompt", ("system_prompt", "")),
        ("tool_result:a:b", ("tool_result", "a:b")),
        ("tool_result:mcp__github__create_issue", ("tool_result", "mcp:github")),
        ("tool_result:mcp__odd", ("tool_result", "mcp__odd")),
        ("house_rules", ("other", "house_rules")),
        ("house:rules", ("other", "house:rules")),
        ("ledger", ("ledger", "")),
        ("summary", ("summary", "")),
        ("", ("other", "")),
    ],
)
def test_a_tag_becomes_a_family_and_a_source(tag: str, labels: tuple[str, str]):
    assert Provenance().of(tag) == labels


def test_the_first_sources_keep_their_names_and_the_rest_are_one():
    provenance = Provenance()
    sources = [provenance.of(f"tool_result:t{number}")[1] for number in range(500)]
    assert sources == [f"t{number}" for number in range(SOURCES)] + [REST] * (500 - SOURCES)
    assert provenance.of("tool_call:t0") == ("tool_call", "t0")  # a source known from elsewhere needs no new place
    assert provenance.of("user_turn") == ("user_turn", "")


def test_all_tools_of_one_server_take_one_place():
    provenance = Provenance()
    for number in range(500):
        provenance.of(f"tool_result:mcp__big__t{number}")
    assert provenance.of("tool_result:later") == ("tool_result", "later")


@given(st.lists(st.text(st.characters(codec=None)), max_size=60))
def test_no_tag_breaks_a_label(tags: list[str]):
    provenance = Provenance()
    for tag, source in map(provenance.of, tags):
        assert tag in TAGS | {"other"}
        assert len(source.encode()) <= 320


def test_what_is_remembered_of_tags_is_bounded():
    provenance = Provenance()
    for number in range(10_000):
        provenance.of(f"tool_call:{number}")
    assert len(provenance._known) < 5_000
    assert provenance.of("tool_call:9999") == ("tool_call", REST)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("truncate", "truncate"), ("dedup", "dedupe"), ("minify+truncate", "truncate"), ("defuse", "defuse"),
        ("defuse+minify", "minify"), ("of my own", "other"), ("", "other"),
    ],
)  # fmt: skip
def test_an_edit_has_the_action_that_came_last(said: str, action: str):
    assert action_of(said) == action
    assert action in ACTIONS | {"other"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("malformed: not JSON", "malformed"), ("invalid: pairs", "invalid"), ("validator: pairs", "invalid"),
        ("fault: KeyError", "fault"), ("policy failed: ValueError", "policy"), ("refused: 400", "refused"),
        ("not booked: OSError", "not_booked"), ("audit: disk full", "audit"), ("malformed", "malformed"),
        ("not collected: KeyError", "fault"), ("not told: StoreError", "ledger"), ("not posted: LedgerError", "ledger"),
        ("period not closed: F1 drifts", "ledger"), ("errand failed: OSError", "ledger"), ("ledger: down", "ledger"),
        ("of another kind", "fault"), ("", "fault"), ("POLICY", "policy"),
    ],
)  # fmt: skip
def test_a_reason_in_words_is_one_of_a_few(said: str, reason: str):
    assert reason_of(said) == reason
    assert reason in REASONS


def test_an_outcome_that_is_unknown_is_an_error():
    assert {outcome_of(outcome) for outcome in OUTCOMES} == OUTCOMES
    assert outcome_of("lost") == "error"


def test_tags_of_any_length_are_placed_and_only_short_ones_are_kept():
    provenance = Provenance()
    long = "tool_result:" + "a" * 100_000
    assert provenance.of(long) == provenance.of(long) == ("tool_result", "a" * 80)
    assert provenance.of("tool_result:b") == ("tool_result", "b")
    assert list(provenance._known) == ["tool_result:b"]
