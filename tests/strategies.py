"""Inputs for property tests: JSON texts, texts with everything Unicode has to offer, histories of messages."""

from __future__ import annotations

import json

from hypothesis import strategies as st

PIECES = (
    "\U0001f469\u200d\U0001f4bb",  # two emoji joined to one
    "\U0001f1e9\U0001f1ea",  # a flag: two letters
    "e\u0301",
    "\u1100\u1161\u11a8",  # a syllable of three parts
    "\u0915\u094d\u0937\u093f",
    "한국",
    "漢字",
    "\r\n",
    "\n",
    "  ",
    "[ctxgc:",
)
LITERALS = ("0", "-0", "1e3", "1E-7", "0.10", "123456789012345678901234567890", "1.0", "true", "false", "null")
ESCAPES = (
    "\\n",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\udc00",
    '\\"',
    "\\\\",
    "\\/",
    "é",
    "😀",
    " ",
    "a",
    "{",
    "]",
    ",",
)
SPACES = st.sampled_from(("", "", " ", "\n", "\r\n\t", "  "))


def texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Text that UTF-8 can carry: ordinary, emoji, joined and combined characters, echoes of stubs."""
    plain = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    return st.lists(st.one_of(plain, st.sampled_from(PIECES)), max_size=max_size // 4).map("".join)


def broken_texts() -> st.SearchStrategy[str]:
    """Text with at least one lone surrogate, which UTF-8 cannot carry."""
    return st.tuples(texts(), st.sampled_from(("\ud800", "\udfff")), texts()).map("".join)


def json_strings() -> st.SearchStrategy[str]:
    """JSON string literals, escapes as somebody may have written them, lone surrogates among them."""
    return st.lists(st.sampled_from(ESCAPES), max_size=6).map(lambda parts: f'"{"".join(parts)}"')


def _container(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    padded = st.tuples(SPACES, inner, SPACES).map("".join)
    keyed = st.tuples(st.integers(0, 99), json_strings(), padded)
    members = st.lists(keyed, max_size=4, unique_by=lambda member: member[0])
    objects = members.map(lambda found: "{" + ",".join(f'"{key}{name[1:]}:{value}' for key, name, value in found) + "}")
    return st.one_of(st.lists(padded, max_size=4).map(lambda found: f"[{','.join(found)}]"), objects)


def json_texts() -> st.SearchStrategy[str]:
    """Any JSON value as text: big integers, ``1e3``, escapes, odd whitespace; no key twice in one object."""
    return st.recursive(st.one_of(st.sampled_from(LITERALS), json_strings()), _container, max_leaves=12)


def json_bodies() -> st.SearchStrategy[bytes]:
    """A JSON object or array as bytes, with whitespace around it."""
    return st.tuples(SPACES, _container(json_texts()), SPACES).map("".join).map(str.encode)


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[dict[str, object]]:
    """One turn: the user speaks, the agent may call tools (several at once), and answers."""
    calls = [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(("Read", "search", "bash"))),
                "arguments": json.dumps({"q": draw(texts(20))}),
            },
        }
        for index in range(draw(st.integers(0, 3)))
    ]
    messages: list[dict[str, object]] = [{"role": "user", "content": draw(texts())}]
    if calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": draw(texts(200))} for call in calls]
    return [*messages, {"role": "assistant", "content": draw(texts())}]


@st.composite
def histories(draw: st.DrawFn, max_turns: int = 4) -> list[dict[str, object]]:
    """A valid chat-completions history: a system prompt or none, then turns; every call has its result."""
    messages: list[dict[str, object]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(texts())})
    for number in range(draw(st.integers(1, max_turns))):
        messages += draw(turns(number))
    return messages
