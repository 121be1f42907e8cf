"""What is read again, what is found, and what is not mistaken for something else."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from ctxgc.core import journal
from ctxgc.core.bookings import Fact, Reconciliation
from ctxgc.errors import LedgerError
from ctxgc.ledger import Ledger, Report, open_ledger
from ctxgc.store import Record, StoreCorrupt, digests, sqlite
from ctxgc.store.codec import unpack

from .helpers import fact, flip, written


def states(report: Report) -> dict[str, str]:
    return {row.fact: row.state for row in report.rows}


def in_file(ledger: Ledger, root: Path, name: str, text: str, criticality: str = "critical") -> str:
    artifact = written(ledger, root, name, text)
    return ledger.post(f"{name} says {text}", [ledger.verify(artifact, text)], criticality).id


def test_what_agrees_matches_and_is_booked(ledger: Ledger, root: Path):
    in_file(ledger, root, "a.txt", "one")
    fact(ledger, "two")
    report = ledger.reconcile()
    assert (report.ok, report.critical, states(report)) == (True, (), {"F1": "match", "F2": "match"})
    before = ledger.version
    ledger.reconcile(record=False)
    assert ledger.version == before
    (stored,) = ledger._log.store.entries(ledger.key, before - 1)
    assert journal.decode(stored.body) == Reconciliation(at=1_000.0, match=2)


def test_a_live_file_that_changed_is_drift_and_not_corrupt(ledger: Ledger, root: Path):
    in_file(ledger, root, "a.txt", "one")
    in_file(ledger, root, "b.txt", "two")
    in_file(ledger, root, "c.txt", "three", "normal")
    (root / "a.txt").write_text("One")
    (root / "b.txt").unlink()
    (root / "c.txt").write_text("other")
    report = ledger.reconcile()
    assert states(report) == {"F1": "drift", "F2": "missing", "F3": "match"}
    assert [row.fact for row in report.critical] == ["F1", "F2"]
    with open_ledger(ledger._log.store, root=root) as again:
        assert list(states(again.reconcile(record=False)).values()) == ["drift", "missing", "match"]


def test_what_is_not_a_file_has_no_live_source(ledger: Ledger):
    fact(ledger, "two", "critical")
    assert ledger.reconcile().ok


def test_superseded_facts_are_not_reconciled(ledger: Ledger, root: Path):
    in_file(ledger, root, "a.txt", "one")
    new = fact(ledger, "now two")
    (root / "a.txt").unlink()
    assert not ledger.reconcile().ok
    ledger.supersede("F1", new)
    assert states(ledger.reconcile()) == {"F2": "match"}
    ledger.restore("F1")
    assert states(ledger.reconcile()) == {"F1": "missing"}


@pytest.mark.parametrize("reopened", [False, True])
def test_a_voucher_that_was_tampered_with_is_corrupt(tmp_path: Path, url: str, root: Path, reopened: bool):
    ledger = open_ledger(url, root=root)
    in_file(ledger, root, "a.txt", "one " * 100)
    fact(ledger, "two")
    if reopened:
        ledger.leave()
    flip(tmp_path / "books.db", "blob", "data", "id = 1", byte=20)
    with open_ledger(url, root=root) if reopened else ledger as ledger:
        report = ledger.reconcile()
        assert states(report) == {"F1": "corrupt", "F2": "match"}
        assert ledger.trace("F1").sources[0].detail
        assert not ledger.trace("F1").agree
        assert ledger.trace("F2").agree
        with pytest.raises(LedgerError, match="F1 is corrupt"):
            ledger.close()
        with pytest.raises(StoreCorrupt):
            ledger.vault.read(ledger.books.facts["F1"].source[0].artifact)


@pytest.mark.parametrize(("byte", "state"), [(5, "corrupt"), (0, "match")])
def test_a_slice_is_hashed_itself_which_a_store_that_believes_its_blobs_shows(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, byte: int, state: str
):
    with open_ledger(url) as ledger:
        kept = ledger.vault.store(ref="q", content="one\ntwo\n", kind="query")
        ledger.post("two", [ledger.verify(kept, "two")])
    flip(tmp_path / "books.db", "blob", "data", "id = 1", byte)
    with open_ledger(url) as ledger:
        assert states(ledger.reconcile()) == {"F1": "corrupt"}
        monkeypatch.setattr(sqlite, "sha256", lambda _data: Believed(kept.hash))
        assert states(ledger.reconcile()) == {"F1": state}


class Believed:
    """The defect: a hash that is never computed."""

    def __init__(self, known: str) -> None:
        self._known = known

    def digest(self) -> bytes:
        return bytes.fromhex(self._known.removeprefix("sha256:"))


@pytest.mark.parametrize(("seq", "named"), [(1, "F1"), (3, "F2"), (0, ""), (4, "")])
def test_an_entry_that_was_tampered_with_is_named(tmp_path: Path, url: str, seq: int, named: str):
    with open_ledger(url) as ledger:
        fact(ledger, "one")
        fact(ledger, "two")
        ledger.close()
    with open_ledger(url) as ledger:
        assert ledger.version == 6
        flip(tmp_path / "books.db", "entry", "body", f"seq = {seq}", byte=-20)
        (row,) = ledger.reconcile(record=False).findings
        assert (row.fact, row.state) == (named, "corrupt")
        assert f"entry {seq} " in row.detail
        assert bool(ledger.reconcile(sample=2, record=False).findings) == bool(named)
        assert bool(ledger.trace("F1").detail) == (seq == 1)
    with open_ledger(url) as ledger:  # it cannot even be read again, and that is a finding too
        before = list(ledger._log.store.sessions())
        report = ledger.reconcile()
        assert f"entry {seq} " in report.rows[0].detail
        assert report.critical
        assert list(ledger._log.store.sessions()) == before
        with pytest.raises(StoreCorrupt):
            ledger.close()


def test_entries_that_are_gone_are_missed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch):
    fact(ledger, "one")
    store = ledger._log.store
    whole = store.entries
    monkeypatch.setattr(store, "entries", lambda key, start=0: iter(list(whole(key, 0))[start:1]))
    (row,) = ledger.reconcile(record=False).findings
    assert (row.fact, row.state) == ("F1", "corrupt")
    assert "not there any more" in row.detail


def test_an_entry_that_breaks_the_rules_cannot_be_folded(ledger: Ledger):
    forged = Fact(at=0, id="F1", type="verified", statement="approved")
    body = journal.encode(forged)
    ledger._log.store.append([Record(ledger.key, "fact", body, bytes(16))]).result()
    with pytest.raises(LedgerError, match="evidence"):
        ledger.refresh()
    (row,) = ledger.reconcile().rows
    assert (row.fact, row.state) == ("", "corrupt")


def test_a_sample_is_the_same_for_the_same_seed(ledger: Ledger):
    for number in range(20):
        fact(ledger, f"number {number}")
    picks = [tuple(states(ledger.reconcile(5, seed, record=False))) for seed in (1, 1, 2)]
    assert picks[0] == picks[1] != picks[2]
    assert len(picks[0]) == 5
    assert ledger.reconcile(99).rows == ledger.reconcile().rows
    assert ledger.reconcile(0).rows == ()


def test_what_was_found_is_booked_with_the_state_first(ledger: Ledger, root: Path):
    in_file(ledger, root, "a.txt", "one")
    (root / "a.txt").unlink()
    ledger.reconcile(seed=1)
    (stored,) = ledger._log.store.entries(ledger.key, ledger.version - 1)
    entry = journal.decode(stored.body)
    assert isinstance(entry, Reconciliation)
    assert entry.findings["F1"].startswith("missing: ")


@pytest.mark.parametrize(
    ("seq", "old", "new"),
    [(4, b'"F1"', b'"F2"'), (6, b'"done"', b'"gone"'), (1, b'"one"', b'"two"'), (0, b"one", b"two")],
)
def test_an_entry_of_any_kind_that_was_replaced_with_its_hash_is_named_by_whoever_had_read_it(
    tmp_path: Path, url: str, seq: int, old: bytes, new: bytes
):
    with open_ledger(url) as ledger:
        for statement in ("one", "two"):
            fact(ledger, statement)
        ledger.supersede("F1", "")
        ledger.close("done")
        assert ledger.reconcile(record=False).ok
        replaced(tmp_path / "books.db", seq, old, new)
        (row,) = ledger.reconcile(record=False).findings
        assert row.detail == f"entry {seq} of the log says something else than when it was read first"
        assert [found.kind for found in ledger._log.store.verify()] == ["seal"]


def replaced(path: Path, seq: int, old: bytes, new: bytes) -> None:
    """Write another entry in the place of one, with the leaf hash that goes with it."""
    db = apsw.Connection(str(path))
    session = db.execute("SELECT session FROM log").get
    kind, idem, encoding, kept = db.execute("SELECT kind, idem, enc, body FROM entry WHERE seq = ?", (seq,)).get
    body = unpack(encoding, kept)
    assert old in body
    body = body.replace(old, new)
    guard = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'entry_update'").get
    db.execute("DROP TRIGGER entry_update")
    leaf = digests.leaf(session, seq, kind, idem, body)
    db.execute("UPDATE entry SET enc = 0, body = ?, leaf = ? WHERE seq = ?", (body, leaf, seq))
    db.execute(guard)
    db.close()


def test_a_working_folder_that_is_left_is_still_where_files_are(
    url: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(root)
    with open_ledger(url) as ledger:
        artifact = written(ledger, root, "a.txt", "text")
        ledger.post("a is written", [ledger.verify(artifact, "text")], "critical")
        monkeypatch.chdir(tmp_path)
        assert ledger.reconcile().ok


def test_a_working_folder_that_is_gone_has_no_files(url: str, root: Path, monkeypatch: pytest.MonkeyPatch):
    gone = root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with open_ledger(url) as ledger:
        in_file(ledger, root, "a.txt", "one")
        assert states(ledger.reconcile()) == {"F1": "missing"}
