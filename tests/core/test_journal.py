from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core import journal
from ctxgc.core.bookings import Artifact, Evidence, Fact, Period, Reconciliation, Restoration, Supersession
from ctxgc.core.collector import Edit
from ctxgc.core.compaction import Compaction, Item, Milestone, Summary
from ctxgc.core.journal import (
    Allocation,
    AnyEntry,
    Bypass,
    Collection,
    Edge,
    Gap,
    Insertion,
    Marking,
    NewCell,
    NewNode,
    Open,
    Overwritten,
    Piece,
    Pin,
    Recall,
    Recovery,
    Settlement,
    Usage,
    Variant,
)
from tests.strategies import texts

EDIT = Edit(3, "truncate", "truncate", "over 64 tokens", "é😀", "a" * 16, 100, 50)
CELL = NewCell("tool_result", "tool_result:bash", "bash({})", 12, b"\x00" * 16, pinned=True, call_id="c1", exact=False)
HASH = "sha256:" + "0" * 64
EVIDENCE = Evidence("a" * 16, 0, 9, 1, 2, HASH, "quotes", "1", '{"text":"é"}')
ITEM = Item("facts", "é", 1, "q", stands=True, fact="F1")
ENTRIES: tuple[AnyEntry, ...] = (
    Open(1.5, scope=b"s", origin="proxy", codec="openai_chat"),
    Allocation(
        2.0, call=b"c", model="m", parent=-1, head=0, continues=True, received=b"r", sent=b"s",
        before=(Piece(b"{"),), after=(Piece(blob=b"x" * 32),), variants=(Variant(0, b"b", b","),), schemas=(CELL,),
        nodes=(NewNode(-1, b"c", b"m", b"b", b"", "tool", 1, (CELL,), eden=False),), toolset=0, size=7,
    ),
    Collection(3.0, call=b"c", generation="eden", edits=(EDIT,)),
    Settlement(4.0, call=b"c", outcome="ok", status=200, usage=Usage(uncached=1, output=3), headers={"a": "b"}),
    Recall(5.0, handle="a" * 16, by="host", cell=3),
    Insertion(5.5, call=b"c", head=0, messages=(b"{}",), cells=(NewCell("text", "recall", "agent", 3, b"d"),)),
    Pin(5.7, cell=3, pinned=False),
    Bypass(6.0, call=b"c", reason="no codec", plain=True),
    Gap(7.0, calls=2, since=6.5, reason="disk full"),
    Marking(7.5, call=b"c", edges=(Edge(4, 1, (0, 9), "a.py"),), overwritten=(Overwritten(1, 4, "written"),)),
    Recovery(8.0, call=b"c"),
    Milestone(9.0, name="report written", head=3),
    Summary(9.1, after=-1, upto=2, model="m", outcome="ok", items=(ITEM,), resolved=(0,)),
    Compaction(
        9.2, call=b"c", after=0, upto=2, kept=(1,), messages=(b"{}",), cells=(CELL,), record=b"r" * 32,
        handle="a" * 16, handles={"b" * 16: 1}, before=900, tokens=90, trigger="window", by="m",
    ),
    Artifact(10.0, id="a" * 16, type="test", ref="make test", hash=HASH, size=9, lines=2, exit_status=0),
    Fact(10.1, id="F1", type="verified", statement="é😀", source=(EVIDENCE,), criticality="critical", of="C1"),
    Supersession(10.2, old="F1", new="F2", reason="written again"),
    Restoration(10.3, fact="F1"),
    Period(
        10.4, id="P1", milestone="done", window_from=0, window_to=4, opening_balance_ref="a" * 16, balance=("F1",),
        lossy=True,
    ),
    Reconciliation(10.5, match=3, findings={"F2": "drift"}, whole=False),
)  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES, ids=journal.kind)
def test_an_entry_is_read_back_as_it_was(entry: AnyEntry) -> None:
    assert journal.decode(journal.encode(entry)) == entry


def test_every_kind_of_entry_is_tried_here() -> None:
    assert {type(entry) for entry in ENTRIES} == set(AnyEntry.__args__)
    assert len({journal.kind(entry) for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=journal.kind)
def test_the_encoding_is_one_line_and_always_the_same(entry: AnyEntry) -> None:
    body = journal.encode(entry)
    assert journal.encode(journal.decode(body)) == body
    assert b"\n" not in body


def test_the_bytes_of_an_entry_do_not_change_between_versions() -> None:
    assert journal.encode(Recovery(8.0, call=b"c")) == b'{"kind":"recovery","at":8.0,"call":"Yw=="}'
    assert journal.encode(Recall(5.0, handle="h", by="host")) == b'{"kind":"recall","at":5.0,"handle":"h","by":"host"}'
    claim = Fact(1.0, id="C1", type="claim", statement="s")
    assert journal.encode(claim) == b'{"kind":"fact","at":1.0,"id":"C1","type":"claim","statement":"s"}'
    taken_back = Supersession(1.0, old="F1")
    assert journal.encode(taken_back) == b'{"kind":"supersession","at":1.0,"old":"F1"}'
    fact = journal.encode(Fact(1.0, id="F1", type="verified", statement="s", source=(EVIDENCE,)))
    assert b'"source":[["aaaaaaaaaaaaaaaa",0,9,1,2,"sha256:' in fact


def test_a_log_without_a_later_field_is_read_with_its_default() -> None:
    old = b'{"kind":"settlement","at":4.0,"call":"Yw==","outcome":"ok","status":200}'
    assert journal.decode(old) == Settlement(4.0, call=b"c", outcome="ok", status=200)


def test_a_log_with_a_field_of_a_later_version_is_read_without_it() -> None:
    assert journal.decode(b'{"kind":"recovery","at":8.0,"call":"Yw==","new":1}') == Recovery(8.0, call=b"c")


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"unknown","at":1.0}',
        b'{"kind":"recovery","at":1.0}',
        b'{"kind":"recovery","at":"1","call":""}',
        b'{"at":1.0,"call":""}',
    ],
)
def test_an_entry_that_is_not_one_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        journal.decode(body)


@pytest.mark.parametrize("entry", ENTRIES, ids=journal.kind)
def test_an_entry_cannot_be_changed(entry: AnyEntry) -> None:
    with pytest.raises(AttributeError):
        entry.at = 0.0  # type: ignore[misc]


def test_input_is_the_sum_of_its_kinds() -> None:
    assert Usage(uncached=1, cached=20, written=300, output=4000, reasoning=500).input == 321


@given(texts(), st.binary(max_size=40), st.floats(0, 4e9))
def test_texts_and_bytes_come_through(text: str, call: bytes, at: float) -> None:
    entry = Bypass(at, call=call, reason=text)
    assert journal.decode(journal.encode(entry)) == entry
