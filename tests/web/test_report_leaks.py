"""A report without content: no twelve characters in a row that an agent, a tool or a host has written are in it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import pytest

from ctxgc.assemble import make_kit
from ctxgc.core.compaction import Compaction, Item, Milestone, Summary
from ctxgc.core.journal import Allocation, AnyEntry, Bypass, Collection, Gap, Recall, decode
from ctxgc.ledger import open_ledger
from ctxgc.policies import preset
from ctxgc.session import Session
from ctxgc.store import Store, open_store
from ctxgc.web import redacting
from ctxgc.web.redacting import LEFT_OUT, Redacting, named, reason
from ctxgc.web.report import write_report
from tests.lab.build import body
from tests.session.compacted import long
from tests.session.scripts import memory

WINDOW = 12
KEY = b"\xaa" * 32
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def canaries() -> Callable[[], str]:
    """Texts of which no two have twelve characters in a row in common, and which say nothing."""
    numbers = count(1)

    def made() -> str:
        seed = next(numbers) * 2_654_435_761
        return "".join(_LETTERS[(seed >> (5 * at)) * 7 % 26] + _LETTERS[(seed + at * at) % 26] for at in range(7))

    return made


def windows(texts: Iterable[str]) -> set[str]:
    return {text[at : at + WINDOW] for text in texts for at in range(len(text) - WINDOW + 1)}


def strings(value: Any) -> Iterator[str]:
    """All strings in a document, the names of its members too, and those in JSON within it."""
    match value:
        case str():
            yield value
            if value.startswith("{"):
                yield from strings(json.loads(value))
        case dict():
            yield from (name for name in value if name not in _OURS)
            yield from (one for each in value.values() for one in strings(each))
        case list():
            yield from (one for each in value for one in strings(each))


_OURS = frozenset({"tool_call_id", "reasoning_content", "additionalProperties"})


def written(store: Store, key: bytes, *, content: bool = False) -> str:
    out = io.StringIO()
    write_report(store, [key], out, content=content)
    return out.getvalue()


def leaked(store: Store, key: bytes, texts: Iterable[str], *, content: bool = False) -> set[str]:
    """What of the texts is in a report, and is not in that of an empty session."""
    with memory() as empty:
        Session(key, b"s" * 32, "x", make_kit(empty, ())).flush()
        page = windows([written(empty, key)])
    return (windows(texts) & windows([written(store, key, content=content)])) - page


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store("sqlite://")
    yield opened
    opened.close()


def everything(canary: Callable[[], str]) -> list[Any]:
    """A conversation with something telling wherever an agent or a tool can say anything."""
    said = [
        {"role": "system", "content": canary(), "name": canary()},
        {"role": "user", "content": canary(), canary(): {canary(): canary()}, "name": canary()},
    ]
    for turn in range(6):
        call = {
            "id": canary(),
            "type": "function",
            "function": {
                "name": f"read {canary()}/{canary()}.py" if turn == 3 else "read",
                "arguments": json.dumps({canary(): f"/home/{canary()}/{canary()}.py"}) if turn % 2 else canary(),
            },
        }
        told = "\n".join(f"{canary()} {line}" for line in range(400))
        said += [
            {"role": "assistant", "content": canary(), "reasoning_content": canary(), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"Error: {told}" if turn == 2 else told},
        ]
    return said


@pytest.mark.parametrize("content", [False, True])
def test_nothing_of_a_conversation_is_there(store: Store, content: bool) -> None:
    canary = canaries()
    said, schema = everything(canary), {"description": canary(), "parameters": {"properties": {canary(): {}}}}
    tools = [{"type": "function", "function": {"name": "read", **schema}}]
    session = Session(KEY, b"s" * 32, "prefix", make_kit(store, preset("generational")))
    for length in range(2, len(said) + 1, 2):
        session.prepare(body(said[:length], tools, "gpt-5"))
        session.admit()
    odd = [*said, {"role": f"{canary()} {canary()}", "content": canary()}]
    session.prepare(body(odd, tools, "gpt-5"))
    session.prepare(f'{{"messages": [], "{canary()}": 1, "messages": 2}}'.encode())
    session.flush()
    assert any(isinstance(entry, Collection) for entry in entries(store, KEY))
    texts = [text for text in strings([odd, tools]) if text not in ("read", "assistant")]
    assert bool(leaked(store, KEY, texts, content=content)) is content


@pytest.mark.parametrize("content", [False, True])
def test_nor_of_one_that_was_compacted(content: bool) -> None:
    with memory() as store:
        found = long(store)
        found.until(2)
        found.session.flush()
        assert any(isinstance(entry, Compaction) for entry in entries(store, found.session.key))
        told = leaked(store, found.session.key, strings(found.messages), content=content)
        assert bool(told) is content


def entries(store: Store, key: bytes) -> list[AnyEntry]:
    return [decode(one.body) for one in store.entries(key)]


def noted(canary: Callable[[], str]) -> list[AnyEntry]:
    """Entries that repeat what somebody said."""
    item = Item("facts", canary(), 0, canary())
    return [
        Milestone(at=1.0, name=canary(), head=0),
        Bypass(at=1.0, call=b"", reason=f"malformed: expected the key {canary()!r} at byte 3"),
        Bypass(at=1.0, call=b"", reason=f"period not closed: {canary()} is not what /home/{canary()} says"),
        Bypass(at=1.0, call=b"", reason=f"{canary()}: {canary()}"),
        Gap(at=1.0, calls=1, since=1.0, reason=f"StoreError: {canary()}"),
        Recall(at=1.0, handle=f"{canary()} {canary()}", by="model", found=False),
        Summary(at=1.0, after=-1, upto=0, model="m", outcome=f"refused: {canary()}", items=(item,)),
    ]


@pytest.fixture
def told(store: Store) -> list[str]:
    """Books, milestones, faults and summaries of a session, and all that is said in them."""
    canary, texts = canaries(), list[str]()

    def noting() -> str:
        texts.append(canary())
        return texts[-1]

    session = Session(KEY, b"s" * 32, "prefix", make_kit(store, ()))
    session.prepare(body([{"role": "user", "content": noting()}], [], "gpt-5"))
    session.admit()
    for entry in noted(noting):
        session._books.write(session._books.line(entry))
    session.flush()
    ledger = open_ledger(store, f"session {KEY.hex()}")
    original = noting()
    voucher = ledger.vault.store(ref=f"/home/{noting()}.txt", content=original)
    ledger.post(noting(), [ledger.verify(voucher, original)])
    ledger.claim(noting(), pointer=noting(), quote=noting())
    ledger.close(noting())
    texts.append(voucher.hash.removeprefix("sha256:"))
    store.flush()
    return texts


def test_nor_of_books_milestones_and_faults(store: Store, told: list[str]) -> None:
    assert leaked(store, KEY, told) == set()
    assert leaked(store, KEY, told, content=True)


@pytest.mark.parametrize("field", ["reason", "hashed"])
def test_the_check_notices_what_is_left(
    store: Store, told: list[str], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redacting, field, lambda *given: given[-1])
    assert leaked(store, KEY, told)


# What stays


@pytest.mark.parametrize("text", ["read_file", "tool_result", "fs.read", "a-b", "R2"])
def test_a_name_stays(text: str) -> None:
    assert named(b"s", text) == text


@pytest.mark.parametrize("text", ["read it", "a/b.py", "é", "x" * 65, "a\n", "\ud800", "(", "<b>"])
def test_what_is_no_name_does_not(text: str) -> None:
    assert named(b"s", text).startswith("#")
    assert named(b"s", text) == named(b"s", text) != named(b"t", text)


def test_a_reason_keeps_its_kind_and_the_type_of_an_error() -> None:
    assert reason("fault: TypeError") == "fault: TypeError"
    assert reason("not booked: ValueError") == "not booked: ValueError"
    assert reason("malformed: expected the key 'x'") == "malformed"
    assert reason("refused: the provider found an edited request not valid") == "refused"
    assert reason("taken") == "taken"
    assert reason("whatever it is") == LEFT_OUT


def test_calls_and_results_are_paired_as_before(store: Store) -> None:
    session = Session(KEY, b"s" * 32, "prefix", make_kit(store, ()))
    session.prepare(body(everything(canaries()), [], "gpt-5"))
    session.flush()
    redact = Redacting(store.secret)
    ids = [
        [cell.call_id for node in entry.nodes for cell in node.cells if cell.call_id]
        for entry in (one for each in entries(store, KEY) for one in (each, redact(each)))
        if isinstance(entry, Allocation)
    ]
    whole, without = ids
    assert len(whole) == 12
    assert [whole.index(one) for one in whole] == [without.index(one) for one in without]
    assert not set(whole) & set(without)
