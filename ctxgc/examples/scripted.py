"""A scripted model: it reads its window as a model would have to, and calls tools, recall among them.

Rule: it is a function of messages and tools. What it needs to know it finds in the window, or by following a pointer
that stands there; where it finds nothing it says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

from ctxgc.examples.chat import Message, content
from ctxgc.session.reading import TOOL_NAME

UNKNOWN = "I cannot tell."

Step = tuple[str, Mapping[str, object]]
"""A tool and its arguments."""
Script = Generator[Step, str, str]
"""Yields calls, is sent what they answer, and returns what is said at the end."""

_POINTER = re.compile(r"\[([a-z2-7]{16}) lines ([0-9]+)-([0-9]+)\]")
_LIST = re.compile(r"(?m)^[0-9,]+ more facts: [^\[\n]*\[([a-z2-7]{16})\]|^\[ctxgc:([a-z2-7]{16}) opening balance")
_CONSTANT = re.compile(r"(?m)^(V[0-9]+) = ([0-9]+)$")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a window shows: the system prompt with the opening balance, what is asked, and whether it can recall."""

    opening: str
    asked: str
    recalls: bool


def reply(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
    """The assistant's next message. The script is run from its beginning with what tools have answered so far."""
    asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
    answers = [content(message) for message in messages[asked:] if message["role"] == "tool"]
    recalls = any(tool["function"]["name"] == TOOL_NAME for tool in tools)
    script = _script(Seen(content(messages[0]), content(messages[asked]), recalls))
    try:
        step = next(script)
        for given in answers:
            step = script.send(given)
    except StopIteration as ended:
        return {"role": "assistant", "content": ended.value}
    return _calling(step, f"call_{len(messages)}")


def _calling(step: Step, name: str) -> Message:
    function = {"name": step[0], "arguments": json.dumps(step[1])}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def _script(seen: Seen) -> Script:
    for pattern, script in _SCRIPTS.items():
        found = re.match(pattern, seen.asked)
        if found:
            return script(seen, *found.groups())
    return _nothing()


def _nothing() -> Script:
    yield from ()
    return UNKNOWN


def _settings(seen: Seen, port: str, workers: str, region: str) -> Script:
    yield _write("settings.json", _object({"port": int(port), "workers": int(workers), "region": region}))
    return "The settings are there."


def _part(seen: Seen, part: str) -> Script:
    constants = _CONSTANT.findall(seen.asked)
    tests = (f"\n\ndef test_{name.lower()}():\n    assert {part}.{name} == {value}\n" for name, value in constants)
    yield _write(f"{part}.py", "".join(f"{name} = {value}\n" for name, value in constants))
    yield _write(f"test_{part}.py", f"import {part}\n{''.join(tests)}")
    yield _run(f"test_{part}.py")
    return "Module and tests are there."


def _other(seen: Seen, port: str) -> Script:
    text = yield from _whole(seen, "settings.json")
    if text is None:
        return UNKNOWN
    yield _write("settings.json", _object({**json.loads(text), "port": int(port)}))
    return "The port is another one now."


def _back(seen: Seen, handle: str) -> Script:
    text = yield _recall(handle)
    yield _write("settings.json", text)
    return "The settings are what they were."


def _client(seen: Seen, client: str, part: str) -> Script:
    settings, constants = (yield from _whole(seen, "settings.json")), (yield from _whole(seen, f"{part}.py"))
    if settings is None or constants is None:
        return UNKNOWN
    port, total = json.loads(settings)["port"], sum(int(value) for _, value in _CONSTANT.findall(constants))
    yield _write(f"{client}.py", f"PORT = {port}\nTOTAL = {total}\n")
    yield _write(f"test_{client}.py", _client_tests(client, part))
    yield _run(f"test_{client}.py")
    return "The client agrees with both."


def _client_tests(client: str, part: str) -> str:
    return (
        f"import json\nimport {client}\nimport {part}\n\n\n"
        "def test_port():\n    with open('settings.json') as file:\n"
        f"        assert {client}.PORT == json.load(file)['port']\n\n\n"
        "def test_total():\n"
        f"    assert {client}.TOTAL == sum(value for name, value in vars({part}).items() if name[0] == 'V')\n"
    )


def _line(seen: Seen, number: str, path: str) -> Script:
    handle, _, _ = yield from _fact(seen, f"{path} is written and reads back equal")
    if not handle:
        return UNKNOWN
    text = yield _recall(handle, first_line=int(number), last_line=int(number))
    return text.split("\n")[0]


def _passed(seen: Seen, path: str) -> Script:
    handle, first, last = yield from _fact(seen, f"the tests in {path} pass")
    if not handle:
        return UNKNOWN
    text = yield _recall(handle, first_line=first, last_line=last)
    found = re.search(r"(?m)^([0-9]+) passed, ", text)
    return found[1] if found else UNKNOWN


def _value(seen: Seen, key: str, path: str) -> Script:
    text = yield from _whole(seen, path)
    return UNKNOWN if text is None else str(json.loads(text).get(key, UNKNOWN))


def _whole(seen: Seen, path: str) -> Generator[Step, str, str | None]:
    """All of a file, from the voucher of the fact about it."""
    handle, _, _ = yield from _fact(seen, f"{path} is written and reads back equal")
    if not handle:
        return None
    text = yield _recall(handle)
    return text


def _fact(seen: Seen, statement: str) -> Generator[Step, str, tuple[str, int, int]]:
    """The narrowest pointer of the fact in these words: in the opening, or else in the list that it points to."""
    if not seen.recalls:
        return "", 0, 0
    found, listed = _pointer(seen.opening, statement), _LIST.search(seen.opening)
    if found is None and listed is not None:
        rows = yield _recall(listed[1] or listed[2], search=statement)
        found = _pointer(rows, statement)
    return found or ("", 0, 0)


def _pointer(text: str, statement: str) -> tuple[str, int, int] | None:
    line = re.search(rf"(?m)^(?:[0-9]+: )?F[0-9]+[a-z ]*: {re.escape(statement)} (\[.*)$", text)
    found = [(handle, int(first), int(last)) for handle, first, last in _POINTER.findall(line[1])] if line else []
    return min(found, key=lambda pointer: pointer[2] - pointer[1], default=None)


def _recall(handle: str, **part: object) -> Step:
    return TOOL_NAME, {"handle": handle, **part}


def _write(path: str, text: str) -> Step:
    return "write_file", {"path": path, "content": text}


def _run(path: str) -> Step:
    return "run_tests", {"path": path}


def _object(values: Mapping[str, object]) -> str:
    return json.dumps(values, indent=2) + "\n"


_SCRIPTS: Mapping[str, Callable[..., Script]] = {
    r'Write settings\.json: .* port = (\d+), workers = (\d+) and region = "([^"]+)"': _settings,
    r"Write (part_\d+)\.py, with": _part,
    r"Write settings\.json anew with port = (\d+)": _other,
    r"The new port is taken\. .* voucher \[(\w*)\]": _back,
    r"Write (use_\d+)\.py with .* constants in (part_\d+)\.py": _client,
    r"What is line (\d+) of (\w+\.py)\?": _line,
    r"How many tests in (\w+\.py) passed": _passed,
    r'What is the value of "(\w+)" in (\w+\.json)\?': _value,
}
