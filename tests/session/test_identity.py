"""Whose request it is: every header and field that agents send, in their order, and never without the credential."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.session.identity import Identity, credential, from_fields, from_headers, scope_of

ID = "0f9e8d7c-6b5a-4321-8765-0123456789ab"
CODEX = {"user-agent": "codex_exec/0.171.0 (Linux)"}

HEADERS: list[tuple[str, dict[str, str]]] = [
    ("x-ctxgc-session", {}),
    ("x-litellm-trace-id", {}),
    ("x-litellm-session-id", {}),
    ("x-claude-code-session-id", {}),
    ("session-id", CODEX),
    ("thread-id", CODEX),
    ("session_id", CODEX),
    ("conversation_id", CODEX),
    ("x-session-id", {}),
    ("x-session-affinity", {}),
    ("helicone-session-id", {}),
    ("x-acme-session-id", {}),
]
OLD_USER = f"user_{'a' * 8}_account_{'b' * 8}_session_{ID}"
NEW_USER = json.dumps({"device_id": "d", "account_uuid": "a", "session_id": ID})

FIELDS: list[tuple[str, dict[str, Any]]] = [
    ("metadata.user_id", {"metadata": {"user_id": OLD_USER}}),
    ("litellm_session_id", {"litellm_session_id": ID}),
    ("metadata.session_id", {"metadata": {"session_id": ID}}),
    ("metadata.langfuse_session_id", {"metadata": {"langfuse_session_id": ID}}),
    ("session_id", {"session_id": ID}),
    ("prompt_cache_key", {"prompt_cache_key": ID}),
    ("conversation", {"conversation": ID}),
]


def raws(fields: dict[str, Any]) -> dict[str, bytes]:
    return {key: json.dumps(value).encode() for key, value in fields.items()}


@pytest.mark.parametrize(("name", "more"), HEADERS)
def test_a_header_names_the_session(name: str, more: dict[str, str]) -> None:
    assert from_headers({name: ID, **more}) == Identity(ID, name)


@pytest.mark.parametrize("at", range(len(HEADERS) - 1))
def test_an_earlier_header_counts_before_all_later_ones(at: int) -> None:
    later = {name: f"another-{name}" for name, _ in HEADERS[at + 1 :]}
    name, _ = HEADERS[at]
    assert from_headers({**later, **CODEX, name: ID}) == Identity(ID, name)


@pytest.mark.parametrize("name", ["session-id", "thread-id", "session_id", "conversation_id"])
@pytest.mark.parametrize("agent", [{}, {"user-agent": "curl/8"}])
def test_codex_headers_mean_nothing_from_others(name: str, agent: dict[str, str]) -> None:
    assert from_headers({name: ID, **agent}) is None


@pytest.mark.parametrize("agent", ["codex_cli_rs/0.1", "Codex_VSCode/1", "codex_exec/0.171"])
def test_codex_by_any_of_its_names(agent: str) -> None:
    assert from_headers({"session-id": ID, "user-agent": agent}) == Identity(ID, "session-id")


@pytest.mark.parametrize("value", ["", "short", "has spaces in it", "semi;colon-123", "é" * 9])
def test_a_vendors_header_must_look_like_an_id(value: str) -> None:
    assert from_headers({"x-acme-session-id": value}) is None


@pytest.mark.parametrize("name", ["session", "x-request-id", "traceparent", "x-session", "x-acme-session"])
def test_other_headers_name_no_session(name: str) -> None:
    assert from_headers({name: ID}) is None


def test_an_empty_header_is_none() -> None:
    assert from_headers({"x-ctxgc-session": "", "x-session-id": ID}) == Identity(ID, "x-session-id")


# Fields of the body


@pytest.mark.parametrize(("origin", "fields"), FIELDS)
def test_a_field_names_the_session(origin: str, fields: dict[str, Any]) -> None:
    assert from_fields(raws(fields), {}) == Identity(ID, origin)


@pytest.mark.parametrize("at", range(len(FIELDS) - 1))
def test_an_earlier_field_counts_before_all_later_ones(at: int) -> None:
    found: dict[str, Any] = {"metadata": {}}
    for origin, fields in FIELDS[at:]:
        value = fields.get("metadata")
        if value:
            key = origin.partition(".")[2]
            found["metadata"].setdefault(key, value[key] if origin == FIELDS[at][0] else f"x_session_{origin}")
        else:
            found[origin] = ID if origin == FIELDS[at][0] else f"another {origin}"
    assert from_fields(raws(found), {"baggage": "session.id=other"}) == Identity(ID, FIELDS[at][0])


@pytest.mark.parametrize("user_id", [OLD_USER, NEW_USER, json.loads(NEW_USER)])
def test_every_form_of_claude_codes_user_id(user_id: Any) -> None:
    assert from_fields(raws({"metadata": {"user_id": user_id}}), {}) == Identity(ID, "metadata.user_id")


@pytest.mark.parametrize("user_id", ["alice", "{not json", '{"session_id": 7}', "{}", 7, None, [], '{"\ud800": 1}'])
def test_a_user_id_that_is_no_session(user_id: Any) -> None:
    assert from_fields(raws({"metadata": {"user_id": user_id}}), {}) is None


def test_a_conversation_may_be_an_object() -> None:
    assert from_fields(raws({"conversation": {"id": ID}}), {}) == Identity(ID, "conversation")


@pytest.mark.parametrize("fields", [{}, {"metadata": None}, {"metadata": "x"}, {"session_id": 7}, {"user": ID}])
def test_fields_without_a_session(fields: dict[str, Any]) -> None:
    assert from_fields(raws(fields), {}) is None


@pytest.mark.parametrize(
    ("baggage", "found"),
    [
        ("session.id=abc", "abc"),
        ("a=b, session.id=abc;ttl=1,c=d", "abc"),
        ("my.session.id=abc", None),
        ("session.id=", None),
        ("", None),
    ],
)
def test_baggage(baggage: str, found: str | None) -> None:
    assert from_fields({}, {"baggage": baggage}) == (Identity(found, "baggage") if found else None)


@given(st.dictionaries(st.sampled_from(["metadata", "session_id", "conversation"]), st.binary(max_size=20)))
def test_no_field_raises(fields: dict[str, bytes]) -> None:
    from_fields(fields, {})


# The credential


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
def test_every_credential_counts(header: str) -> None:
    one, other = credential({header: "one"}), credential({header: "other"})
    assert len({one, other, credential({})}) == 3


def test_other_headers_do_not() -> None:
    assert credential({"authorization": "k", "user-agent": "a"}) == credential({"authorization": "k"})


@given(st.text(max_size=8), st.text(max_size=8))
def test_one_id_of_two_tenants_is_two_scopes(one: str, other: str) -> None:
    scopes = {scope_of(credential({"authorization": key}), Identity(ID)) for key in (one, other)}
    assert len(scopes) == len({one, other})


def test_credentials_do_not_run_into_each_other() -> None:
    assert credential({"authorization": "a\0b"}) != credential({"authorization": "a", "x-api-key": "b"})


def test_where_an_id_stood_does_not_matter() -> None:
    assert scope_of(bytes(32), Identity(ID, "x-session-id")) == scope_of(bytes(32), Identity(ID, "session_id"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (({"cookie": "a"}, b""), ({"cookie": "b"}, b"")),
        (({"x-portkey-api-key": "a"}, b""), ({"x-portkey-api-key": "b"}, b"")),
        (({}, b"key=a"), ({}, b"key=b")),
        (({}, b"beta=true&api_key=a"), ({}, b"beta=true&api_key=b")),
    ],
)
def test_whatever_may_be_a_credential_keeps_apart(one: tuple[dict[str, str], bytes], other) -> None:
    assert credential(*one) != credential(*other)


def test_what_changes_with_each_request_does_not() -> None:
    assert credential({"idempotency-key": "a"}, b"beta=true") == credential({"idempotency-key": "b"}, b"beta=false")
