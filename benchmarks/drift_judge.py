"""What is looked at in the drift campaign: a request as it was sent, as parsed JSON, and what can be read back from it.

Nothing here knows how ctxgc decides. Of its own it knows the head of a record's text, and how a handle stands in a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.drift_story import Step, task

HANDLE = re.compile(r"\[(?:ctxgc:)?([a-z2-7]{16})(?= |\])")
STEPS = 2
"""How many handles one has to follow at most, one from the text behind the other."""
_OURS = "[ctxgc:"
_RECORD = re.compile(r"\[ctxgc:[a-z2-7]{16} record of turns ")
_STATE = re.compile(r"^- (open|closed)[^:\n]*: (.*)$", re.MULTILINE)
_FACT = re.compile(r"^(?:- )?(F\d+)\b[^:\n]*: (.*?)(?: \[[a-z2-7]{16} lines .*)?$", re.MULTILINE)
_TASK = re.compile(r"Now (task-\d+):")

Dict = dict[str, Any]


@dataclass
class Told:
    """What has been said by now, and what became of requests. ``answers`` are the words that closed each.

    Where the user spoke again before there was an answer, what became of the first request is ``unclear`` from then on.
    """

    constraints: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    state: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        self.constraints += step.constraints
        self.facts += step.facts
        self.injected += step.injected
        if step.closes or step.opens:
            self.state = {mark: "unclear" if state == "open" else state for mark, state in self.state.items()}
        self.state.update({task(one): "open" for one in step.opens})
        self.state.update({task(one): "closed" for one in step.closes})
        self.answers.update({task(one): str(step.messages[0]["content"]) for one in step.closes})


class Came:
    """The conversation as the client has it, so that what was sent can be compared with it."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}
        self._results: dict[str, int] = {}
        self.messages: list[Dict] = []

    def add(self, messages: Sequence[Dict]) -> None:
        for message in messages:
            self._places.setdefault(_key(message), []).append(len(self.messages))
            if message["role"] == "tool":
                self._results[message["tool_call_id"]] = len(self.messages)
            self.messages.append(message)

    def place(self, message: Dict, behind: int) -> int:
        """Which message that came, behind one, this one is, with at most a result's text changed; -1 for none."""
        if message.get("tool_call_id") in self._results:
            at = self._results[message["tool_call_id"]]
            return at if at > behind and {**message, "content": 0} == {**self.messages[at], "content": 0} else -1
        return next((at for at in self._places.get(_key(message), ()) if at > behind), -1)


def broken(came: Came, sent: Sequence[Dict]) -> Iterator[str]:
    """Why a server, or a reader, might refuse what was sent: a sentence for each rule that it breaks."""
    last, records, calls = -1, 0, dict[str, int]()
    for at, message in enumerate(sent):
        role, text = message["role"], str(message.get("content") or "")
        if role != "tool" and calls:
            yield "a call has no result"
        if role == "tool" and calls.pop(message["tool_call_id"], -1) < 0:
            yield "a result has no call"
        calls |= {one["id"]: at for one in message.get("tool_calls") or ()}
        ours = came.place(message, last)
        if ours >= 0:
            last = ours
        elif _RECORD.match(text):
            records += 1
            if role not in ("assistant", "tool") or (role == "tool" and sent[at + 1]["role"] == "user"):
                yield "a record stands where it may not"
        elif not (text.startswith(_OURS) or any("ctxgc_recall" in str(one) for one in message.get("tool_calls") or ())):
            yield "a message came from nowhere"
    if calls or records > 1:
        yield "a call has no result, or there are two records"
    if list(sent[:2]) != came.messages[:2] or last != len(came.messages) - 1:
        yield "the first or the last messages are missing"


def changed(received: Dict, sent: Dict) -> Iterator[str]:
    """What else than the messages is not what came: the recall tool may be there."""
    tools = [one for one in sent.get("tools", ()) if one["function"]["name"] != "ctxgc_recall"]
    if {**received, "messages": 0} != {**sent, "messages": 0, "tools": tools}:
        yield "something besides the messages changed"


def missing(told: Told, sent: Sequence[Dict]) -> list[str]:
    """The constraints that stand in no message of the user's word for word."""
    users = [str(one.get("content")) for one in sent if one["role"] == "user"]
    return [one for one in told.constraints if not any(one in text for text in users)]


def window(sent: Sequence[Dict]) -> str:
    """All texts of what was sent."""
    return "\n".join(
        text for one in sent for text in (str(one.get("content") or ""), *map(str, one.get("tool_calls") or ()))
    )


def reachable(shown: str, recall: Callable[[str], str]) -> str:
    """A window, and all that is behind the handles in it, and behind those in there."""
    texts, behind, known = [shown], [shown], set[str]()
    for _ in range(STEPS):
        handles = dict.fromkeys(handle for text in behind for handle in HANDLE.findall(text))
        behind = [recall(handle) for handle in handles if handle not in known]
        known |= set(handles)
        texts += behind
    return "\n".join(texts)


def stated(text: str) -> set[tuple[str, str]]:
    """The facts of the ledger that a text states, each by its id."""
    return {(found[1], found[2]) for found in _FACT.finditer(text)}


def untrue(told: Told, shown: str, near: str) -> Iterator[str]:
    """Requests that a window names as what they are not, and open ones that neither it nor its pointers name.

    A record may call open what was answered behind its span, as long as the answer stands there.
    """
    for mark, state in _named(shown):
        truth = told.state[mark]
        if truth not in (state, "unclear") and not (truth == "closed" and told.answers[mark] in shown):
            yield f"{mark} is said to be {state}, and is {truth}"
    for mark, truth in told.state.items():
        if truth == "open" and mark not in shown and (mark, "open") not in _named(near):
            yield f"{mark} is open, and missing"


def _named(text: str) -> set[tuple[str, str]]:
    """The requests that a text gives a state to."""
    return {(mark, state) for state, line in _STATE.findall(text) for mark in _TASK.findall(line)}


def _key(message: Dict) -> str:
    return json.dumps(message, sort_keys=True)
