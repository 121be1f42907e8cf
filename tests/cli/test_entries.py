"""Every kind of entry in one plain line, without a word of what was said or stated."""

from __future__ import annotations

import pytest

from ctxgc.cli._entries import describe
from ctxgc.core.bookings import Artifact, Evidence, Fact, Period, Reconciliation, Restoration, Supersession
from ctxgc.core.cells import NewCell
from ctxgc.core.compaction import Compaction, Item, Milestone, Summary
from ctxgc.core.journal import AnyEntry, Insertion
from ctxgc.core.state import State
from tests.core.test_journal import ENTRIES

HANDLE, OTHER = "a" * 16, "b" * 16
HASH = "sha256:" + "0" * 64
SECRET = "the word nobody prints"
SEEN = Evidence(HANDLE, 0, 9, 1, 2, HASH, "quotes", "1", f'{{"text":"{SECRET}"}}')
CELL = NewCell("text", "recall", "agent", 30, b"d")
LINES: dict[str, tuple[AnyEntry, str]] = {
    "a voucher": (
        Artifact(1.0, id=HANDLE, type="test", ref="make test", hash=HASH, size=1234, lines=2, exit_status=0),
        f"test make test kept as {HANDLE}, 1,234 bytes",
    ),
    "a claim": (
        Fact(1.0, id="C1", type="claim", statement=SECRET, author="agent", quote=SECRET), "C1 claimed by the agent",
    ),
    "a fact": (
        Fact(1.0, id="F1", type="verified", statement=SECRET, source=(SEEN, SEEN), of="C1", criticality="critical"),
        f"F1 verified by quotes 1 in {HANDLE}, was C1, critical",
    ),
    "a supersession": (
        Supersession(1.0, old="F1", new="F2", reason="written again"), "F1 superseded by F2: written again",
    ),
    "a withdrawal": (Supersession(1.0, old="F1"), "F1 withdrawn"),
    "a restoration": (Restoration(1.0, fact="F1", reason="rolled back"), "F1 restored: rolled back"),
    "a period": (
        Period(
            1.0, id="P1", milestone="report written", window_from=0, window_to=4, opening_balance_ref=OTHER,
            balance=("F1", "F2"), lossy=True,
        ),
        f"P1 (report written) closed with 2 facts, listed in {OTHER}, claims were left behind",
    ),
    "a period without a name": (
        Period(1.0, id="P2", milestone="", window_from=4, window_to=5, opening_balance_ref=OTHER, balance=()),
        f"P2 closed with 0 facts, listed in {OTHER}",
    ),
    "a reconciliation": (Reconciliation(1.0, match=1200), "1,200 facts agree"),
    "a reconciliation that found something": (
        Reconciliation(1.0, match=3, findings={f"F{number}": "drift" for number in range(1, 6)}, whole=False),
        "3 facts of a sample agree; F1 drift, F2 drift, F3 drift, and 2 more",
    ),
    "a milestone": (Milestone(1.0, name="report written", head=3), "the host declares done: report written"),
    "a summary": (
        Summary(
            1.0, after=-1, upto=7, model="m", outcome="ok", input=2000, output=100, attempts=2,
            items=(Item("facts", SECRET, 1, SECRET, stands=True), Item("open_items", SECRET, 2)),
        ),
        "m on nodes behind -1 up to 7: ok; 2 items, 1 with a quote that stands; 2 attempts, 2,000 tokens in, 100 out",
    ),
    "a compaction": (
        Compaction(
            1.0, call=b"c", after=0, upto=7, kept=(), messages=(SECRET.encode(),), cells=(CELL,), record=b"r" * 32,
            handle=HANDLE, handles={}, before=9000, tokens=800, trigger="window", by="m",
        ),
        "call 1: what stands behind node 0 up to node 7 compacted (window) with the help of m, 9,000 tokens to 800,"
        f" the record is {HANDLE}",
    ),
    "news": (
        Insertion(1.0, call=b"c", head=0, messages=(SECRET.encode(),), cells=(CELL,), told=4),
        "call 1: news of the ledger stand in its history, 30 tokens",
    ),
    "a recall": (
        Insertion(1.0, call=b"c", head=0, messages=(SECRET.encode(),), cells=(CELL,)),
        "call 1: a recall of the model's stands in its history, 30 tokens",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LINES)
def test_an_entry_is_described_in_plain_words(what: str) -> None:
    entry, line = LINES[what]
    assert describe(entry, State(), {b"c": 1}) == line
    assert SECRET not in line


NEW = {Artifact, Fact, Supersession, Restoration, Period, Reconciliation, Compaction, Milestone, Summary}


def test_every_kind_of_the_books_and_of_compaction_is_tried_here() -> None:
    assert {type(entry) for entry, _ in LINES.values()} >= NEW


@pytest.mark.parametrize("entry", [one for one in ENTRIES if type(one) in NEW], ids=lambda one: type(one).__name__)
def test_no_line_is_empty_or_longer_than_a_few_names(entry: AnyEntry) -> None:
    assert 0 < len(describe(entry, State(), {})) < 300


@pytest.mark.parametrize("entry", [
    Artifact(1.0, id=HANDLE, type="query", ref="SELECT " + "x" * 1_000_000, hash=HASH, size=1, lines=1),
    Supersession(1.0, old="F1", new="F2", reason="r" * 1_000_000),
    Milestone(1.0, name="n" * 1_000_000, head=0),
    Summary(1.0, after=0, upto=1, model="m", outcome="refused: " + "x" * 1_000_000),
    Reconciliation(1.0, match=0, findings={"F1": "corrupt: " + "x" * 1_000_000}),
])  # fmt: skip
def test_long_names_are_cut(entry: AnyEntry) -> None:
    assert len(describe(entry, State(), {})) < 300
