"""Conversations to try sessions on: messages and bodies as clients write them, and whole scripts of requests.

A script is a list of request bodies, as one client would send them one after another; ``None`` is a restart.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from ctxgc.assemble import make_kit
from ctxgc.core.journal import Settlement
from ctxgc.core.policy import Policy
from ctxgc.core.spans import elements, find
from ctxgc.policies.dedup import Dedup
from ctxgc.policies.minify import Minify
from ctxgc.policies.truncate import Truncate
from ctxgc.session import Kit, Prepared, Session, drain
from ctxgc.store import Store, open_store
from tests.strategies import broken_texts, texts

Dict = dict[str, Any]
Script = list[bytes | None]

KEY = b"k" * 32
EAGER = (Dedup(min_tokens=16), Minify(min_saving=20), Truncate(budget=64))
"""All policies, with figures at which small texts are collected."""

LONG = "".join(f"line {number} of the listing\n" for number in range(60))
PRETTY = json.dumps([{"id": number, "name": f"row {number}"} for number in range(12)], indent=4)


# Messages


def system(text: str = "be brief") -> Dict:
    return {"role": "system", "content": text}


def user(content: Any = "do it") -> Dict:
    return {"role": "user", "content": content}


def agent(content: str | None = None, *calls: Dict, **more: Any) -> Dict:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


def call(call_id: str, name: str = "search", arguments: str = '{"q": 1}') -> Dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, content: Any = LONG, **more: Any) -> Dict:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def schema(name: str = "search") -> Dict:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


def exchange(number: int, content: Any = LONG, name: str = "search", arguments: str | None = None) -> list[Dict]:
    """The agent calls a tool, and its result."""
    given = json.dumps({"q": number}) if arguments is None else arguments
    return [agent(None, call(f"c{number}", name, given)), result(f"c{number}", content)]


def marked(message: Dict) -> Dict:
    """The message with a cache breakpoint, as clients set one: the text becomes a part that carries it."""
    text = message["content"]
    if not isinstance(text, str):
        return message
    return {**message, "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]}


# Bodies


@dataclass(frozen=True)
class Style:
    """How a client writes its JSON."""

    order: tuple[str, ...] = ("model", "messages", "tools")
    indent: int | None = None
    separators: tuple[str, str] = (",", ":")
    ascii: bool = True


COMPACT = Style()
STYLES = (
    COMPACT,
    Style(("messages", "model", "tools"), separators=(", ", ": "), ascii=False),
    Style(("tools", "model", "messages"), indent=2),
    Style(("temperature", "tools", "messages", "stream", "model")),
)


def dump(value: Any, style: Style = COMPACT) -> bytes:
    text = json.dumps(value, ensure_ascii=style.ascii, indent=style.indent, separators=style.separators)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=style.indent, separators=style.separators).encode()


def body(messages: Sequence[Dict | bytes], style: Style = COMPACT, **fields: Any) -> bytes:
    """A request; messages given as bytes stand in it as they are."""
    values = {"model": "gpt-5", "tools": [schema()], "temperature": 0.5, "stream": True, **fields}
    item, colon = (b", ", b": ") if style.separators == (", ", ": ") or style.indent else (b",", b":")
    newline = b"\n" + b" " * style.indent if style.indent else b""
    raws = [message if isinstance(message, bytes) else dump(message, style) for message in messages]
    parts = {key: dump(value, style) for key, value in values.items()}
    parts["messages"] = b"[" + (item + newline).join(raws) + b"]"
    keys = [*style.order, *(key for key in fields if key not in style.order)]
    return b"{" + (item + newline).join(b'"%b"%b%b' % (key.encode(), colon, parts[key]) for key in keys) + b"}"


def history(text: bytes) -> list[bytes]:
    """The messages of a body, each as its bytes."""
    span = find(text, ("messages",))
    assert span is not None
    return [part.of(span.of(text)) for part in elements(span.of(text))]


def values(text: bytes) -> list[Any]:
    """The messages of a body as Python values."""
    return [json.loads(raw) for raw in history(text)]


# Sessions


class Known:
    """The real store, with a secret that is known: two of them mint the same handles."""

    secret = b"s" * 32

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@contextmanager
def memory() -> Iterator[Store]:
    store = open_store("sqlite://")
    try:
        yield store
    finally:
        store.close()


def kit(store: Store, policies: Sequence[Policy] = EAGER, **changes: Any) -> Kit:
    """A real kit, with a clock that stands still and ids that count."""
    numbers = itertools.count(1)
    made = make_kit(store, policies, {"find_*": "web"})
    settled: Dict = {"clock": lambda: 1.0, "new_id": lambda: next(numbers).to_bytes(16, "big")}
    return replace(made, **{**settled, **changes})


def fresh(used: Kit, key: bytes = KEY) -> Session:
    return Session(key, key, "test", used)


def restored(used: Kit, key: bytes = KEY) -> Session:
    """The session as its journal tells it."""
    session = drain(Session.restoring(key, used))
    assert session is not None
    session.recover()
    return session


def settle(session: Session, prepared: Prepared) -> None:
    session.settle(Settlement(at=1.0, call=prepared.call, outcome="ok", status=200))
    session.admit()  # what the shells do when an answer is out


def send(session: Session, text: bytes) -> Prepared:
    """One whole call; what was prepared for it."""
    prepared = session.prepare(text)
    settle(session, prepared)
    return prepared


def drive(script: Script, used: Kit) -> tuple[Session, list[tuple[bytes, Prepared]]]:
    """Run a script; the session at its end, and what was sent for each body."""
    session, sent = fresh(used), []
    for text in script:
        if text is None:
            session.flush()
            session = restored(used) if session.state.opened else fresh(used)
        else:
            sent.append((text, send(session, text)))
    session.flush()
    return session, sent


# Strategies


def results() -> st.SearchStrategy[Any]:
    """Tool results: short, huge, pretty JSON, whole parts, with surrogates, and echoes of stubs."""
    lines = st.builds(lambda text, times: f"{text}\n" * times, texts(12), st.integers(20, 200))
    rows = st.lists(st.dictionaries(texts(8), st.one_of(st.integers(), texts(12)), max_size=3), max_size=12)
    return st.one_of(
        texts(120),
        st.sampled_from((LONG, PRETTY, "[ctxgc:aaaaaaaaaaaaaaaa lines 1-2 of 3 not shown]", "", LONG + PRETTY)),
        lines,
        rows.map(lambda found: json.dumps(found, indent=4)),
        st.builds(lambda broken, long: broken + long, broken_texts(), st.sampled_from(("", LONG))),
        st.lists(st.one_of(texts(40), lines), min_size=1, max_size=3).map(
            lambda found: [{"type": "text", "text": text} for text in found]
        ),
    )


def said() -> st.SearchStrategy[Dict]:
    """What an application says about a message in its own field."""
    field = st.fixed_dictionaries({}, optional={"tag": st.sampled_from(("notes", "user_turn")), "pin": st.booleans()})
    return field.map(lambda found: {"ctxgc": found})


@st.composite
def steps(draw: st.DrawFn, number: int, *, own: bool) -> list[Dict]:
    """What one turn adds to a history: calls with their results, some of them repeated, or an answer and a question."""
    if draw(st.integers(0, 3)) == 0:
        return [agent(draw(texts(20))), user(draw(texts(20)))]
    calls, answers = [], []
    for index in range(draw(st.integers(1, 3))):
        call_id = f"c{number}_{index}"
        name = draw(st.sampled_from(("search", "find_pages", "Read", "bash")))
        calls.append(call(call_id, name, draw(st.sampled_from(('{"q": 1}', '{"q":1}', '{"q":2}', "not json")))))
        answers.append(result(call_id, draw(results()), **(draw(said()) if own and draw(st.booleans()) else {})))
    thinking = {"reasoning_content": draw(texts(20))} if draw(st.booleans()) else {}
    return [agent(None, *calls, **thinking), *answers]


EXTRA = b',"big":123456789012345678901234567890,"n":1e3,"esc":"\\u00e9\\ud83d\\ude00","z":1.0,"a":-0}'


def written(message: Dict, style: Style) -> bytes:
    """A message with members of vendors in it, of the kind that does not survive being parsed and written again."""
    return dump(message, style).rstrip()[:-1].rstrip() + EXTRA if message["role"] == "user" else dump(message, style)


@st.composite
def scripts(draw: st.DrawFn, length: int = 7, *, own: bool = False) -> Script:
    """A client's requests: growing, retried, branched, with helper calls, moved markers, and restarts between them.

    With ``own``, the application marks some results in its own field.
    """
    style = draw(st.sampled_from(STYLES))
    messages = [*([system(draw(texts(20)))] if draw(st.booleans()) else []), user(draw(texts(20)))]
    marker = False

    def render() -> bytes:
        shown = [*messages[:-1], marked(messages[-1])] if marker else messages
        return body([written(message, style) for message in shown], style)

    script: Script = [render()]
    for number in range(draw(st.integers(1, length))):
        kind = draw(st.sampled_from(("turn",) * 5 + ("retry", "branch", "helper", "marker", "restyle", "restart")))
        if kind == "helper":
            script.append(body([system("name this conversation"), user(draw(texts(10)))], style))
            continue
        if kind == "restart":
            script.append(None)
        if kind == "marker":
            marker = not marker
        if kind == "restyle":
            style = draw(st.sampled_from(STYLES))
        if kind == "branch":
            messages = messages[: draw(st.integers(1, len(messages)))]
            messages += [agent("otherwise"), user(draw(texts(20)))]
        elif kind != "retry":
            messages = [*messages, *draw(steps(number, own=own))]
        script.append(render())
    return script
