"""The validator: it accepts what servers accept, and each rule catches a history that breaks just this rule."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.wire import openai_chat_history as history
from ctxgc.wire import openai_chat_rules as rules
from ctxgc.wire.openai_chat_rules import problems, valid

TRACES = Path(__file__).parents[3] / "shared" / "traces"
Dict = dict[str, Any]


def raw(messages: Sequence[Dict | bytes]) -> list[bytes]:
    return [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]


def broken(sentences: tuple[str, ...]) -> set[str]:
    return {sentence.split(" (message")[0] for sentence in sentences}


def system(text: str = "be brief") -> Dict:
    return {"role": "system", "content": text}


def user(text: str = "do it") -> Dict:
    return {"role": "user", "content": text}


def assistant(content: str | None = None, *ids: str, **fields: Any) -> Dict:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": '{"n": 1.50}'}} for one in ids]
    return {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {}), **fields}


def tool(call_id: str, content: Any = "a long result") -> Dict:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def parts(*texts: str) -> list[Dict]:
    return [{"type": "text", "text": text} for text in texts]


HISTORY: list[Dict] = [
    system(),
    user(),
    assistant("first", "a", "b", reasoning_content="hm", extra_content={"google": {"thought_signature": "s"}}),
    tool("a"),
    tool("b", parts("one", "two")),
    user("more"),
    assistant(None, "c"),
    tool("c"),
    assistant("done"),
    user("again"),
    assistant(None, "d"),
    tool("d"),
]


def edited(change: Callable[[list[Dict]], object]) -> list[bytes]:
    """HISTORY after a change to a copy of it."""
    messages = copy.deepcopy(HISTORY)
    change(messages)
    return raw(messages)


# What is valid


VALID: dict[str, list[Dict]] = {
    "nothing": [],
    "a whole history": HISTORY,
    "developer": [{"role": "developer", "content": parts("x")}, user()],
    "system anywhere": [user(), system(), assistant("x"), {"role": "developer", "content": "y"}],
    "names": [{**user(), "name": "bob"}, {**assistant("x"), "name": "al"}],
    "media": [{"role": "user", "content": [*parts("x"), {"type": "image_url", "image_url": {"url": "u"}}]}],
    "sound and files": [{"role": "user", "content": [{"type": "input_audio"}, {"type": "file"}]}],
    "media in a result": [assistant(None, "a"), tool("a", [{"type": "image_url", "image_url": {"url": "u"}}])],
    "parts no one knows": [{"role": "user", "content": [{"type": "video_url", "video_url": {}}]}],
    "bare strings as parts": [{"role": "user", "content": ["x"]}],
    "refusal": [{"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
    "refusal as a member": [assistant(None, refusal="no")],
    "audio alone": [assistant(None, audio={"id": "x"})],
    "empty strings": [user(""), assistant(""), assistant(None, "a"), tool("a", "")],
    "calls without content": [{"role": "assistant", "tool_calls": HISTORY[6]["tool_calls"]}, tool("c")],
    "results in any order": [assistant(None, "a", "b"), tool("b"), tool("a")],
    "ids used again": [assistant(None, "a"), tool("a"), assistant(None, "a"), tool("a")],
    "no tool calls": [assistant("x", tool_calls=[]), assistant("y", tool_calls=None)],
    "custom": [assistant(None, tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "s"}}]), tool("a")],
    "function": [assistant(None, function_call={"name": "f", "arguments": ""}), {"role": "function", "name": "f"}],
    "calls without ids": [assistant(None, tool_calls=[{"function": {}}] * 2), *[{"role": "tool", "content": "x"}] * 2],
    "roles no one knows": [{"role": "critic"}, {"role": "ipython", "content": 7}],
    "numbers": [{**user(), "x": [1, 1.5, 1e400, 10**30]}],
}


@pytest.mark.parametrize("messages", VALID.values(), ids=VALID.keys())
def test_what_servers_accept_is_valid(messages: list[Dict]) -> None:
    encoded = [json.dumps(one).replace("Infinity", "1e400").encode() for one in messages]
    assert valid(encoded) == ()
    assert problems(encoded, encoded) == ()


INVALID: list[tuple[str, list[Dict | bytes]]] = [
    (history.UNREADABLE, [b"{"]),
    (history.UNREADABLE, [b"[]"]),
    (history.UNREADABLE, [b'{"role": "user", "content": "x", "n": NaN}']),
    (history.UNREADABLE, [b'{"role": "user", "content": "\xff"}']),
    (history.UNREADABLE, [b"[" * 100_000]),
    (history.DUPLICATE_KEY, [b'{"role": "user", "content": "x", "content": "y"}']),
    (history.DUPLICATE_KEY, [b'{"role": "user", "content": "x", "z": {"a": 1, "a": 1}}']),
    (history.NO_ROLE, [{"content": "x"}]),
    (history.NO_ROLE, [{}]),
    (history.UNANSWERED, [assistant(None, "a"), user()]),
    (history.UNANSWERED, [assistant(None, "a", "b"), tool("a"), assistant("x")]),
    (history.UNANSWERED, [assistant(None, "a"), system(), user()]),
    (history.UNANSWERED, [assistant(None, function_call={"name": "f"}), user()]),
    (history.PENDING, [assistant(None, "a", "b"), tool("a")]),
    (history.ORPHAN, [user(), tool("a")]),
    (history.ORPHAN, [assistant(None, "a"), tool("a"), user(), tool("a")]),
    (history.ORPHAN, [assistant(None, "a"), tool("a"), tool("b")]),
    (history.ORPHAN, [user(), {"role": "function", "name": "f", "content": "x"}]),
    (history.HUSK, [{"role": "assistant"}]),
    (history.HUSK, [assistant(None, tool_calls=[])]),
    (history.NO_CONTENT, [user(None)]),  # type: ignore[arg-type]
    (history.NO_CONTENT, [{"role": "system"}]),
    (history.NO_CONTENT, [assistant(None, "a"), tool("a", None)]),
    (history.NO_CONTENT, [{"role": "user", "content": {"type": "text", "text": "x"}}]),
    (history.BAD_PART, [{"role": "user", "content": [7]}]),
    (history.BAD_PART, [{"role": "user", "content": [{"text": "x"}]}]),
    (history.BAD_PART, [{"role": "user", "content": [{"type": "text"}]}]),
    (history.MISPLACED_PART, [{"role": "user", "content": [{"type": "refusal", "refusal": "no"}]}]),
    (history.MISPLACED_PART, [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]),
    (history.MISPLACED_PART, [{"role": "assistant", "content": [{"type": "input_audio"}]}]),
]


@pytest.mark.parametrize(("rule", "messages"), INVALID)
def test_a_history_that_breaks_one_rule(rule: str, messages: list[Dict | bytes]) -> None:
    assert broken(valid(raw(messages))) == {rule}


@pytest.mark.parametrize(("rule", "messages"), INVALID)
def test_what_was_broken_before_is_not_held_against_what_is_sent(rule: str, messages: list[Dict | bytes]) -> None:
    assert problems(raw(messages), raw(messages)) == ()


def test_a_rule_is_named_once_with_the_first_message_that_breaks_it() -> None:
    assert valid(raw([user(), {"role": "user"}, {"role": "user"}])) == (f"{history.NO_CONTENT} (message 1)",)


# What may be done


def test_nothing_done_is_allowed() -> None:
    assert problems(raw(HISTORY), raw(HISTORY)) == ()


def test_the_text_of_a_result_may_change_in_both_its_forms() -> None:
    def change(messages: list[Dict]) -> None:
        messages[3]["content"] = "short"
        messages[4]["content"][1]["text"] = "2"
        messages[-1]["content"] = "the last one too"

    assert problems(raw(HISTORY), edited(change)) == ()


def test_bare_strings_of_a_result_may_change() -> None:
    before, after = ([assistant(None, "a"), tool("a", [text])] for text in ("long text", "short"))
    assert problems(raw(before), raw(after)) == ()


def test_the_result_of_a_function_may_change() -> None:
    start = [user(), assistant(None, function_call={"name": "f", "arguments": ""})]
    before, after = ([*start, {"role": "function", "name": "f", "content": text}] for text in ("long", "s"))
    assert problems(raw(before), raw(after)) == ()


def test_own_members_may_go_from_any_message() -> None:
    before = [
        {"ctxgc": {"pin": True}, **one} if number % 2 else {**one, "ctxgc": {}} for number, one in enumerate(HISTORY)
    ]
    assert problems(raw(before), raw(HISTORY)) == ()


def test_a_whole_transaction_may_go() -> None:
    assert problems(raw(HISTORY), edited(lambda messages: messages.__delitem__(slice(2, 5)))) == ()
    assert problems(raw(HISTORY), edited(lambda messages: messages.__delitem__(slice(6, 8)))) == ()


def test_one_of_two_equal_transactions_may_go() -> None:
    before = [user(), *[assistant(None, "a"), tool("a")] * 3]
    assert problems(raw(before), raw(before[2:])) != ()
    assert problems(raw(before), raw([before[0], *before[3:]])) == ()


def test_a_part_of_a_history_with_the_calls_that_are_open() -> None:
    before = [assistant(None, "a", "b"), tool("b", "long result")]
    after = [before[0], tool("b", "short")]
    assert problems(raw(before), raw(after)) == ()


def test_results_without_their_call_are_no_fault_of_the_edit() -> None:
    assert problems(raw([tool("a", "long"), user()]), raw([tool("a", "s"), user()])) == ()


def test_a_blank_text_that_was_blank_before_and_a_surrogate_that_was_there() -> None:
    before, after = ([assistant(None, "a"), tool("a", parts(*texts))] for texts in (("", "x \ud800"), (" ", "\ud801")))
    assert problems(raw(before), raw(after)) == ()


# What may become of reasoning


PLAIN = ("reasoning_content", "reasoning")
SIGNATURES: dict[str, Any] = {
    "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}],
    "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
}


def thinking(**changes: Any) -> set[str]:
    """What is found where members of a message of the agent that has reasoned change; None takes one away."""
    return rethought(assistant("so", "a", **dict.fromkeys(PLAIN, "hm")), **changes)


def rethought(before: Dict, **changes: Any) -> set[str]:
    """What is found where a message in the middle changes; None takes a member away."""
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    histories = ([user(), message, tool("a"), user(), assistant("done")] for message in (before, after))
    return broken(problems(*map(raw, histories)))


@pytest.mark.parametrize("key", PLAIN)
def test_plain_reasoning_of_the_agent_may_become_one_space(key: str) -> None:
    assert thinking(**{key: " "}) == set()
    assert thinking(**dict.fromkeys(PLAIN, " ")) == set()


OTHERWISE = ["", "  ", "\n", "\t", "\u00a0", "h", "hm ", "...", [" "], {"text": " "}, 0, False, None]


@pytest.mark.parametrize("key", PLAIN)
@pytest.mark.parametrize("value", OTHERWISE, ids=repr)
def test_and_nothing_else(key: str, value: Any) -> None:
    assert thinking(**{key: value}) == {rules.MEMBER}


def test_nothing_else_may_change_with_it() -> None:
    for other in ({"content": "not so"}, {"content": " "}, {"tool_calls": assistant(None, "a", n=1)}, {"new": " "}):
        assert thinking(reasoning=" ", **other) >= {rules.MEMBER}


def test_a_blank_does_not_come_where_there_was_no_reasoning() -> None:
    assert rethought(assistant("so", "a"), reasoning=" ") == {rules.MEMBER}
    assert rethought(assistant("so", "a", reasoning=["hm"]), reasoning=" ") == {rules.MEMBER}


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("key", PLAIN)
def test_signed_reasoning_may_not_change_at_all(signature: str, key: str) -> None:
    signed = {**assistant("so", "a"), key: "hm", signature: SIGNATURES[signature]}
    assert rethought(signed) == set()
    for changes in ({key: " "}, {key: None}, {signature: None}, {signature: []}, {signature: " "}):
        assert rethought(signed, **changes) == {rules.MEMBER}
    assert rethought(signed, **{key: " ", signature: None}) == {rules.MEMBER}, "not even if its signature goes"


@pytest.mark.parametrize("signature", SIGNATURES)
def test_reasoning_with_a_signature_of_no_known_shape_is_signed_too(signature: str) -> None:
    for value in ([], {}, "", 0):
        assert rethought({**assistant("so", "a"), "reasoning": "hm", signature: value}, reasoning=" ") == {rules.MEMBER}


@pytest.mark.parametrize("key", PLAIN)
@pytest.mark.parametrize("role", ["user", "system", "developer", "tool", "function", "critic"])
def test_reasoning_of_others_may_not_change_at_all(role: str, key: str) -> None:
    other = {"role": role, "content": "so", "tool_call_id": "b", "name": "b", key: "hm"}
    calls = assistant(None, "b", function_call={"name": "b", "arguments": ""})
    for value in (" ", "h", None):
        after = {name: text for name, text in {**other, key: value}.items() if text is not None}
        histories = ([user(), calls, one, user(), assistant("done")] for one in (other, after))
        assert broken(problems(*map(raw, histories))) == {rules.MEMBER}


def test_reasoning_may_go_and_a_transaction_too() -> None:
    assert problems(raw(HISTORY), edited(both(put(2, "reasoning_content", " "), drop(6, 8)))) == ()
    assert problems(raw(HISTORY), edited(drop(2, 5))) == ()


# What may not be done


def put(number: int, key: str, value: Any) -> Callable[[list[Dict]], None]:
    return lambda messages: messages[number].__setitem__(key, value)


def drop(first: int, last: int) -> Callable[[list[Dict]], None]:
    return lambda messages: messages.__delitem__(slice(first, last))


def insert(number: int, *new: Dict) -> Callable[[list[Dict]], None]:
    return lambda messages: messages.__setitem__(slice(number, number), new)


def both(*changes: Callable[[list[Dict]], None]) -> Callable[[list[Dict]], None]:
    return lambda messages: [change(messages) for change in changes] and None


def only(*numbers: int) -> Callable[[list[Dict]], None]:
    return lambda messages: messages.__setitem__(slice(None), [messages[number] for number in numbers])


def call_member(key: str, value: Any) -> Callable[[list[Dict]], None]:
    return lambda messages: messages[2]["tool_calls"][0].__setitem__(key, value)


FORBIDDEN: dict[str, tuple[str, Callable[[list[Dict]], object]]] = {
    "a role": (rules.ROLES, put(5, "role", "assistant")),
    "system text": (rules.MEMBER, put(0, "content", "be long")),
    "a user in the middle": (rules.MEMBER, put(5, "content", "less")),
    "assistant text": (rules.MEMBER, put(2, "content", "second")),
    "last assistant message": (rules.MEMBER, put(10, "content", "x")),
    "null becomes empty": (rules.MEMBER, put(6, "content", "")),
    "a member goes": (rules.MEMBER, lambda messages: messages[2].pop("reasoning_content")),
    "a member comes": (rules.MEMBER, put(3, "name", "f")),
    "reasoning": (rules.MEMBER, put(2, "reasoning_content", "h")),
    "a signature": (rules.MEMBER, put(2, "extra_content", {"google": {"thought_signature": "t"}})),
    "arguments written anew": (rules.MEMBER, call_member("function", {"name": "f", "arguments": '{"n":1.5}'})),
    "an own member comes": (rules.MEMBER, put(3, "ctxgc", {})),
    "a result becomes parts": (rules.MEMBER, put(3, "content", parts("a long result"))),
    "a result becomes bare strings": (rules.MEMBER, put(3, "content", ["a long result"])),
    "a part of a result goes": (rules.MEMBER, put(4, "content", parts("one"))),
    "a part becomes another": (rules.MEMBER, put(4, "content", [*parts("one"), {"type": "x", "text": "two"}])),
    "a result becomes empty": (rules.EMPTY, put(3, "content", "")),
    "a result becomes blank": (rules.EMPTY, put(3, "content", " \n")),
    "a part becomes empty": (rules.EMPTY, put(4, "content", parts("one", ""))),
    "half an emoji": (rules.LONE_SURROGATE, put(3, "content", "a \ud83d")),
    "a system message comes": (rules.SYSTEM_ADDED, insert(8, system())),
    "a developer message comes": (rules.SYSTEM_ADDED, insert(0, {"role": "developer", "content": "x"})),
    "a user message comes": (rules.ADDED, insert(8, user())),
    "a transaction comes": (rules.ADDED, insert(2, assistant(None, "z"), tool("z"))),
    "the system message goes": (rules.REMOVED, drop(0, 1)),
    "a user message goes": (rules.REMOVED, drop(5, 6)),
    "a plain assistant message goes": (rules.REMOVED, drop(8, 9)),
    "the last transaction goes": (rules.REMOVED, drop(10, 12)),
    "the order changes": (rules.MEMBER, lambda messages: messages.__setitem__(slice(3, 5), messages[4:2:-1])),
}


@pytest.mark.parametrize(("rule", "change"), FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_a_change_that_breaks_one_rule(rule: str, change: Callable[[list[Dict]], object]) -> None:
    assert broken(problems(raw(HISTORY), edited(change))) == {rule}


ALSO: dict[str, tuple[set[str], Callable[[list[Dict]], object]]] = {
    "half a transaction goes": ({rules.REMOVED, history.UNANSWERED}, drop(3, 4)),
    "the call goes": ({rules.REMOVED, history.ORPHAN}, drop(2, 3)),
    "the last result goes": ({rules.REMOVED, history.PENDING}, drop(11, 12)),
    "no user message is left": (
        {rules.REMOVED, rules.NO_USER},
        lambda messages: messages.__setitem__(slice(None), [system()]),
    ),
    "the id of a result": ({rules.MEMBER, history.UNANSWERED, history.ORPHAN}, put(3, "tool_call_id", "x")),
    "the id of a call": ({rules.MEMBER, history.UNANSWERED, history.ORPHAN}, call_member("id", "x")),
    "calls are taken out": ({rules.MEMBER, history.ORPHAN, history.HUSK}, put(6, "tool_calls", None)),
    "a role becomes the system's": ({rules.ROLES, rules.SYSTEM_ADDED}, put(5, "role", "developer")),
    "the first user": ({rules.MEMBER, rules.USER_TOUCHED}, put(1, "content", "x")),
    "the last user": ({rules.MEMBER, rules.USER_TOUCHED}, put(9, "content", "x")),
    "a cache marker": ({rules.MEMBER, rules.MORE_MARKERS}, put(5, "cache_control", {"type": "ephemeral"})),
    "a breakpoint": (
        {rules.MEMBER, rules.MORE_MARKERS},
        lambda messages: messages[4]["content"][0].__setitem__("prompt_cache_breakpoint", {"mode": "explicit"}),
    ),
    "a result becomes null": ({rules.MEMBER, history.NO_CONTENT}, put(3, "content", None)),
    "a result gets an unknown type": (
        {rules.MEMBER, history.BAD_PART},
        lambda messages: messages[4]["content"][0].pop("type"),
    ),
}


@pytest.mark.parametrize(("expected", "change"), ALSO.values(), ids=ALSO.keys())
def test_a_change_that_breaks_more(expected: set[str], change: Callable[[list[Dict]], object]) -> None:
    assert broken(problems(raw(HISTORY), edited(change))) == expected


def spelled(before: bytes, after: bytes) -> set[str]:
    """What is found where a user message that is neither first nor last changes its spelling."""
    around = raw([user(), user()])
    return broken(problems([around[0], before, around[1]], [around[0], after, around[1]]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1", "1.0"), ("1.50", "1.5"), ("1e3", "1000.0"), ("1", "true"), ("0", "false"), ("-0", "0"), ("1", '"1"'),
        ("9007199254740993", "9007199254740992"), ("12345678901234567890123", "1.2345678901234568e22"),
        ("null", "{}"), ("[]", "{}"), ('{"a": 1, "a": 2}', '{"a": 2}'), ("[1, 2]", "[2, 1]"),
    ],
)  # fmt: skip
def test_values_that_look_alike_differ(before: str, after: str) -> None:
    one, other = ('{"role": "user", "content": "x", "n": %s}' % value for value in (before, after))  # noqa: UP031
    assert spelled(one.encode(), other.encode()) == {rules.MEMBER}


def test_other_spellings_of_the_same_are_the_same() -> None:
    assert spelled(b'{"role": "user", "content": "\\u00e9\\/"}', '{"content":"é/","role":"user"}'.encode()) == set()


def test_a_duplicate_key_that_comes_in() -> None:
    found = spelled(b'{"role": "user", "content": "x"}', b'{"role": "user", "content": "x", "content": "x"}')
    assert found == {history.DUPLICATE_KEY, rules.MEMBER}


def test_a_message_that_cannot_be_read_has_to_stay() -> None:
    assert spelled(b'{"role": NaN}', b'{"role": NaN}') == set()
    assert spelled(b'{"role": NaN}', b'{"role":  NaN}') == {rules.MEMBER}
    assert history.UNREADABLE in spelled(b'{"role": "user", "content": "x"}', b'{"role": "user", "content": "x"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"role":"user","content":"x"}', b'{"role": "user","content": "x"}'),
        (b'{"role":"user","content":"x"}', b'{"content":"x","role":"user"}'),
        (b'{"role":"user","content":"\\u00e9"}', '{"role":"user","content":"é"}'.encode()),
        (b'{"ctxgc":{},"role":"user","content":"\\u00e9"}', '{"role":"user","content":"é"}'.encode()),
        (b'{"ctxgc":{},"role":"user","content":"x"}', b'{"content":"x","role":"user"}'),
    ],
)
def test_first_and_last_user_are_compared_as_bytes(before: bytes, after: bytes) -> None:
    assert broken(problems([before], [after])) == {rules.USER_TOUCHED}


@pytest.mark.parametrize("before", ['{"ctxgc": {}, %s}', '{%s, "ctxgc": {"pin": true}}', "{%s}"])
def test_an_own_member_may_go_from_the_first_user(before: str) -> None:
    rest = '"role":  "user", "content": "\\u00e9", "n": 1e3'
    assert problems([(before % rest).encode()], [("{%s}" % rest).encode()]) == ()  # noqa: UP031


def test_an_own_member_may_stay() -> None:
    before, after = ([assistant(None, "a"), {**tool("a", text), "ctxgc": {"tag": "t"}}] for text in ("long text", "s"))
    assert problems(raw(before), raw(after)) == ()


def test_an_own_member_may_not_change() -> None:
    before, after = ([user(), {**assistant("x"), "ctxgc": {"pin": pin}}] for pin in (True, False))
    assert broken(problems(raw(before), raw(after))) == {rules.MEMBER}


def test_a_transaction_without_all_its_results_may_not_go() -> None:
    before = [user(), assistant(None, "a", "b"), tool("a"), user("never mind"), assistant("ok")]
    assert broken(problems(raw(before), raw([before[0], *before[3:]]))) == {rules.REMOVED}


def test_what_is_removed_hides_nothing_that_is_changed() -> None:
    assert broken(problems(raw(HISTORY), edited(both(put(3, "content", ""), drop(6, 8))))) == {rules.EMPTY}
    assert broken(problems(raw(HISTORY), edited(both(put(8, "content", "x"), drop(2, 5))))) == {rules.REMOVED}


def test_what_is_removed_hides_nothing_that_is_added() -> None:
    assert broken(problems(raw(HISTORY), edited(both(drop(2, 5), insert(0, user("new")))))) == {rules.REMOVED}


def test_unknown_parts_and_roles_have_to_stay() -> None:
    strange = [{"role": "critic", "content": "x"}, assistant(None, "a"), tool("a", [{"type": "doc", "text": "x"}])]
    messages = [user(), *strange]
    for number in (1, 3):
        after = copy.deepcopy(messages)
        after[number] = json.loads(json.dumps(after[number]).replace('"x"', '"y"'))
        assert broken(problems(raw(messages), raw(after))) == {rules.MEMBER}


@pytest.mark.parametrize("depth", [*range(300, 1000, 25), 100_000])
def test_nesting_however_deep_hides_no_change(depth: int) -> None:
    form = b'{"role": "user", "content": "x", "n": %s%d%s}'
    one, other = (form % (b"[" * depth, number, b"]" * depth) for number in (1, 2))
    assert spelled(one, one) == set()
    assert spelled(one, other) & {rules.MEMBER, rules.TOO_DEEP}


def test_every_rule_has_a_history_that_breaks_it() -> None:
    controls = {rule for rule, _ in INVALID} | {rule for rule, _ in FORBIDDEN.values()}
    controls = controls.union(*(expected for expected, _ in ALSO.values()))
    constants = [*vars(history).items(), *vars(rules).items()]
    sentences = {text for name, text in constants if name.isupper() and is_rule(text)}
    assert sentences - controls == {rules.TOO_DEEP}


def is_rule(value: object) -> bool:
    return isinstance(value, str) and " " in value.strip()


# Histories made up


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.strip)
CONTENTS = TEXTS | st.lists(TEXTS, min_size=1, max_size=3).map(lambda texts: parts(*texts))


@st.composite
def transactions(draw: st.DrawFn) -> list[Dict]:
    """A call, some in parallel, custom or legacy ones, and all results in some order."""
    if draw(st.integers(0, 5)) == 0:
        call = {"name": draw(TEXTS), "arguments": draw(TEXTS)}
        return [assistant(None, function_call=call), {"role": "function", "name": call["name"], "content": draw(TEXTS)}]
    ids = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    message = assistant(draw(st.none() | TEXTS), *ids)
    if draw(st.booleans()):
        message["tool_calls"][0] = {"id": ids[0], "type": "custom", "custom": {"name": "s", "input": draw(TEXTS)}}
    return [message, *(tool(one, draw(CONTENTS)) for one in draw(st.permutations(ids)))]


@st.composite
def histories(draw: st.DrawFn) -> list[list[Dict]]:
    """Turns of a valid history, each a transaction or a single message; the first is a user's, the last an agent's."""
    single = st.builds(user, CONTENTS) | st.builds(assistant, TEXTS) | st.builds(system, CONTENTS)
    turns = draw(st.lists(transactions() | single.map(lambda one: [one]), max_size=6))
    return [[user(draw(TEXTS))], *turns, draw(transactions())]


def flat(turns: Sequence[list[Dict]]) -> list[Dict]:
    return [message for turn in turns for message in turn]


@given(histories())
def test_valid_histories_have_no_problems(turns: list[list[Dict]]) -> None:
    assert valid(raw(flat(turns))) == ()


@given(histories(), st.data())
def test_results_cut_and_transactions_removed_are_allowed(turns: list[list[Dict]], data: st.DataObject) -> None:
    removable = [turn for turn in turns[:-1] if len(turn) > 1]
    gone = data.draw(st.lists(st.sampled_from(removable), unique_by=id)) if removable else []
    kept = copy.deepcopy([turn for turn in turns if not any(turn is other for other in gone)])
    for message in flat(kept):
        if message["role"] in ("tool", "function") and isinstance(message["content"], str):
            message["content"] = data.draw(TEXTS)
    assert problems(raw(flat(turns)), raw(flat(kept))) == ()


@given(histories(), st.data())
def test_a_message_less_is_never_allowed(turns: list[list[Dict]], data: st.DataObject) -> None:
    before = flat(turns)
    gone = data.draw(st.integers(0, len(before) - 1))
    assert rules.REMOVED in broken(problems(raw(before), raw(before[:gone] + before[gone + 1 :])))


@given(histories(), st.data())
def test_a_result_less_leaves_its_call_unanswered(turns: list[list[Dict]], data: st.DataObject) -> None:
    before = flat(turns)
    gone = data.draw(
        st.sampled_from([at for at, message in enumerate(before) if message["role"] in ("tool", "function")])
    )
    found = broken(valid(raw(before[:gone] + before[gone + 1 :])))
    assert found in ({history.UNANSWERED}, {history.PENDING})


@given(histories(), st.data())
def test_a_changed_member_is_never_allowed(turns: list[list[Dict]], data: st.DataObject) -> None:
    before = flat(turns)
    after = copy.deepcopy(before)
    changed = data.draw(st.sampled_from(after))
    key = data.draw(st.sampled_from([key for key in changed if key != "content"]))
    changed[key] = "other"
    assert broken(problems(raw(before), raw(after))) & {rules.MEMBER, rules.ROLES}


@given(st.lists(st.binary(max_size=30) | st.sampled_from(raw(HISTORY)), max_size=5), st.data())
def test_no_bytes_make_it_fail(messages: list[bytes], data: st.DataObject) -> None:
    assert problems(messages, messages) == ()
    problems(messages, data.draw(st.permutations(messages)))
    valid(messages)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["user", "assistant", "tool", "text", "a", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "tool_calls", "function_call", "tool_call_id", "id", "name"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(st.lists(JSON, max_size=4), st.lists(JSON, max_size=4))
def test_no_json_makes_it_fail(before: list[Any], after: list[Any]) -> None:
    problems(raw(before), raw(after))


# Histories recorded


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the recorded sessions, which are not in the repository")
def test_recorded_sessions_are_valid_but_for_calls_that_were_never_answered() -> None:
    for path in sorted(TRACES.glob("*.jsonl.gz")):
        messages = json.loads(gzip.decompress(path.read_bytes()))["messages"]
        assert broken(valid(raw(messages))) <= {history.UNANSWERED, history.PENDING}, path.name
        assert problems(raw(messages), raw(messages)) == ()
