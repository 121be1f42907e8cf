"""Who may collect from a conversation: ctxgc with its default preset, and collectors that do it the naive way.

A player is given the histories of one conversation, as its client sends them one after another, and returns what it
would send upstream for each. A check says what is wrong with that: nothing with ctxgc, something with the naive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from ctxgc.core import stub
from ctxgc.core.pacer import Tariff
from ctxgc.policies import preset
from ctxgc.session import Session
from tests.session import rules
from tests.session.growing import FREE
from tests.session.scripts import KEY, Dict, agent, body, call, fresh, kit, memory, result, send, values

History = list[Dict]
Player = Callable[[Sequence[History]], list[History]]
Change = Callable[[History], History]

LOG = "".join(
    f"12:{n // 60:02}:{n % 60:02} INFO request_{n * 7919 % 10_000} served from shelf_{n % 17}\n" for n in range(300)
)


def pings(count: int, start: int = 900) -> History:
    """Turns that have to do with nothing before them."""
    return [
        one
        for n in range(start, start + count)
        for one in (agent(None, call(f"c{n}", "ping")), result(f"c{n}", "pong"))
    ]


def told(messages: History, *, idle: int = 16) -> list[History]:
    """The histories that a client sends: one before each reply of the agent; then so many turns about nothing."""
    messages = [*messages, *pings(idle)]
    ends = [at for at, one in enumerate(messages) if one["role"] == "assistant" and at]
    return [messages[:end] for end in (*ends, len(messages))]


def ours(
    histories: Sequence[History],
    *,
    tariff: Tariff = FREE,
    look: Callable[[Session, list[History]], object] | None = None,
) -> list[History]:
    """ctxgc, with the default preset; by default all that may go goes at once. ``look`` is shown the session."""
    with memory() as store:
        session = fresh(kit(store, preset("generational"), tariff=lambda _: tariff), KEY)
        sent = [values(send(session, body(one)).body) for one in histories]
        if look is not None:
            look(session, sent)
        return sent


def naive(change: Change) -> Player:
    """A collector that makes something of each history by itself."""
    return lambda histories: [change(json.loads(json.dumps(one))) for one in histories]


# Naive collectors


def drop_oldest(history: History, keep: int = 5) -> History:
    """The last messages only, whatever they answer."""
    return history[-keep:]


def drop_results(history: History, keep: int = 2) -> History:
    """Results go, but the last; their calls stay."""
    last = [at for at, one in enumerate(history) if one["role"] == "tool"][-keep:]
    return [one for at, one in enumerate(history) if one["role"] != "tool" or at in last]


def drop_calls(history: History) -> History:
    """Calls and results go; the agent's messages stay."""
    return [
        {key: value for key, value in one.items() if key != "tool_calls"} for one in history if one["role"] != "tool"
    ]


def drop_empty(history: History) -> History:
    """What has no content says nothing."""
    return [one for one in history if one.get("content")]


def hoist(history: History) -> History:
    """System messages to the front."""
    return sorted(history, key=lambda one: one["role"] not in ("system", "developer"))


def summarise(history: History) -> History:
    """All but the last messages as a few words of the user's."""
    if len(history) < 12:
        return history
    said = "The user wants: /skill build-report. Some tools were called. Continue."
    return [{"role": "user", "content": said}, *history[-6:]]


def clear_but_last(keep: int) -> Change:
    """Old results become a placeholder, one more each turn."""

    def change(history: History) -> History:
        old = [one for one in history if one["role"] == "tool"][:-keep]
        for one in old:
            one["content"] = "[cleared]"
        return history

    return change


def by_id(history: History) -> History:
    """Results are looked up by the id of their call."""
    texts = {one["tool_call_id"]: one["content"] for one in history if one["role"] == "tool"}
    return [{**one, "content": texts[one["tool_call_id"]]} if one["role"] == "tool" else one for one in history]


def cut_arguments(history: History) -> History:
    """Long arguments are cut, with a mark."""
    for one in history:
        for asked in one.get("tool_calls", ()):
            text = asked["function"]["arguments"]
            asked["function"]["arguments"] = text if len(text) < 80 else text[:60] + "…[truncated]"
    return history


def same_path(history: History) -> History:
    """Of several results about a path only the last stays."""
    paths: dict[str, int] = {}
    asked = {
        c["id"]: json.loads(c["function"]["arguments"] or "{}") for one in history for c in one.get("tool_calls", ())
    }
    for at, one in enumerate(history):
        if one["role"] == "tool" and (path := asked.get(one["tool_call_id"], {}).get("path")):
            if path in paths:
                history[paths[path]]["content"] = "[superseded]"
            paths[path] = at
    return history


def numbers_only(history: History) -> History:
    """A compressor that keeps what looks like data."""
    for one in history:
        if one["role"] == "tool" and isinstance(one["content"], str):
            words = one["content"].split()
            one["content"] = " ".join(word for word in words if word.isdigit()) + " [ctxgc:"
    return history


# Checks


def invalid(histories: Sequence[History], sent: Sequence[History]) -> list[str]:
    """What servers would refuse, or what was touched that must not be."""
    return [fault for one, other in zip(histories, sent, strict=True) for fault in rules.broken(body(one), body(other))]


def unpaired(histories: Sequence[History], sent: Sequence[History]) -> list[str]:
    """Calls and results that were parted."""
    return [
        f"request {number}: {fault}"
        for number, (one, other) in enumerate(zip(histories, sent, strict=True))
        for fault, _ in rules.unpaired(other) - rules.unpaired(one)
    ]


def moved(histories: Sequence[History], sent: Sequence[History]) -> list[str]:
    """Messages of system, developer and user that are not where, or not what, they were."""

    def trusted(history: History) -> list[object]:
        return [one if one["role"] in ("system", "developer", "user") else None for one in history]

    return [
        f"request {n}"
        for n, (one, other) in enumerate(zip(histories, sent, strict=True))
        if trusted(one) != trusted(other)
    ]


def misled(histories: Sequence[History], sent: Sequence[History], session: Session | None = None) -> list[str]:
    """Results of the last request that show, or whose handles lead to, anything but the text that stood there."""
    out = []
    for old, new in zip(histories[-1], sent[-1], strict=True):
        if old["role"] == "tool" and old != new:
            handles = stub.handles(new["content"])
            texts = [session.recall(handle) for handle in handles] if session else [new["content"]]
            out += [text for text in texts if text != old["content"]]
    return out


def rewrites(sent: Sequence[History]) -> list[int]:
    """The requests in which something that had been sent was sent in another form."""
    return [n for n in range(1, len(sent)) if sent[n][: len(sent[n - 1])] != sent[n - 1]]


def invented(histories: Sequence[History], sent: Sequence[History]) -> list[str]:
    """Lines of results that the tool never gave: what is left must be the tool's own, or our stub or gap."""
    out = []
    for one, other in zip(histories, sent, strict=True):
        for message, shown in zip(one, other, strict=False):
            if (
                message["role"] == "tool"
                and isinstance(message["content"], str)
                and isinstance(shown.get("content"), str)
            ):
                known = {*message["content"].split("\n"), "\u2026"}
                out += [
                    line
                    for line in shown["content"].split("\n")
                    if line not in known and not line.startswith(stub.SIGIL)
                ]
    return out


def results(history: History) -> Iterator[str]:
    """The texts of a history's results."""
    return (one["content"] for one in history if one["role"] == "tool" and isinstance(one.get("content"), str))


def collected(sent: Sequence[History]) -> int:
    """How many results of the last request are not as they came."""
    return sum(stub.SIGIL in text for text in results(sent[-1]))
