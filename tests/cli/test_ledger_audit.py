"""The audit of ledgers: each is called what it is, its log is folded by its rules, and its facts are borne out."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest

from ctxgc.core.bookings import AnyBooking, Artifact, Evidence, Fact, Period, Supersession
from ctxgc.ledger import open_ledger
from tests.ledger.helpers import flip

from .books import asked, forged, kept
from .conftest import Run

WRONG = "sha256:" + "0" * 64


def fact(url: str, **changes: object) -> Fact:
    """The newest fact of the ledger under the next id, with evidence that is changed."""
    with open_ledger(url) as ledger:
        books = ledger.books
        newest = books.current()[-1]
        evidence = msgspec.structs.replace(newest.source[0], **changes)
        return msgspec.structs.replace(newest, id=books.next_fact(), source=(evidence,))


def verified(run: Run, url: str) -> tuple[int, list[str], str]:
    ran = run("audit", "verify", "--store", url)
    assert ran.err == ""
    *findings, last = ran.text.splitlines()
    return ran.code, findings, last


def test_a_store_with_a_session_and_ledgers_is_clean(run: Run, url):
    kept(run, url)
    asked(run, url, "claim", "x", "--session", "aa")
    asked(run, url, "claim", "x", "--ledger", "nobody knows the name")
    code, findings, last = verified(run, url)
    assert (code, findings) == (0, [])
    assert "; 2 sessions, 3 ledgers; tip " in last
    report = json.loads(run("audit", "verify", "--store", url, "--json").out)
    names = [ledger["name"] for ledger in report["ledgers"]]
    assert names[:2] == ["main", f"session {'aa' * 32}"]
    assert names[2] == report["ledgers"][2]["id"][:12]
    assert (report["ok"], report["sessions"]) == (True, 2)


FORGED: dict[str, AnyBooking] = {
    "a fact without evidence": Fact(1.0, id="F3", type="verified", statement="so it is"),
    "evidence in no voucher": Fact(
        1.0, id="F3", type="verified", statement="x", source=(Evidence("a" * 16, 0, 1, 1, 1, WRONG, "quotes", "1"),)
    ),
    "an id that is taken": Fact(1.0, id="C1", type="claim", statement="x"),
    "a claim that is superseded": Supersession(1.0, old="C1"),
    "a balance that is not what stands": Period(
        1.0, id="P1", milestone="", window_from=0, window_to=4, opening_balance_ref="a" * 16, balance=("F1",)
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_an_entry_that_the_rules_refuse_is_a_finding(run: Run, url, what):
    kept(run, url)
    forged(url, FORGED[what], Fact(1.0, id="C2", type="claim", statement="after"))
    code, findings, _ = verified(run, url)
    assert (code, len(findings)) == (1, 1)
    assert findings[0].startswith("ledger: ledger main, entry 4: The ledger's log is taken up to here: ")
    lines = run("audit", "show", "main", "--store", url).text.splitlines()
    assert ["REFUSED" in line for line in lines[1:]] == [False] * 4 + [True] * 2
    assert "it comes after one that is refused" in lines[-1]


SLICES: dict[str, dict[str, object]] = {
    "another hash": {"slice": WRONG},
    "other bytes": {"first": 0},
    "other lines": {"line_first": 1},
}


@pytest.mark.parametrize("what", SLICES)
def test_a_slice_that_its_voucher_does_not_bear_out_is_a_finding_even_of_a_superseded_fact(run: Run, url, what):
    kept(run, url)
    false = fact(url, **SLICES[what])
    forged(url, false, Supersession(2.0, old="F3"))
    code, findings, _ = verified(run, url)
    assert (code, len(findings)) == (1, 1)
    assert findings[0].startswith("voucher: ledger main, entry 4: F3 is not borne out: ")
    (finding,) = json.loads(run("audit", "verify", "--store", url, "--json").out)["findings"]
    assert (finding["ledger"], finding["seq"], finding["kind"]) == ("main", 4, "voucher")


def test_the_same_fact_unchanged_is_none(run: Run, url):
    """The control: what is written without asking the rules is only found where it is wrong."""
    kept(run, url)
    forged(url, fact(url), Supersession(2.0, old="F3"))
    assert verified(run, url)[:2] == (0, [])


@pytest.mark.parametrize(("size", "lines"), [(5, 1), (4, 2)])
def test_a_voucher_of_another_size_than_its_entry_says_is_a_finding(run: Run, url, size, lines):
    def voucher(size: int, lines: int) -> Artifact:
        digest = f"sha256:{hashlib.sha256(b'text').hexdigest()}"
        return Artifact(1.0, id="a" * 16, type="query", ref="q", hash=digest, size=size, lines=lines)

    forged(url, voucher(4, 1), name="right", blobs=(b"text",))
    assert verified(run, url)[0] == 0
    forged(url, voucher(size, lines), blobs=(b"text",))
    code, findings, _ = verified(run, url)
    assert (code, findings) == (
        1,
        [f"voucher: ledger main: The voucher {'a' * 16} is of another size than its entry says."],
    )


def test_a_voucher_that_is_not_in_the_store_is_a_finding(run: Run, url):
    forged(url, Artifact(1.0, id="a" * 16, type="query", ref="q", hash=WRONG, size=1, lines=1))
    code, findings, _ = verified(run, url)
    assert (code, len(findings)) == (1, 1)
    assert "voucher: ledger main: The voucher aaaaaaaaaaaaaaaa cannot be read" in findings[0]


def test_a_changed_byte_of_a_voucher_is_named_with_the_facts_that_rest_on_it(run: Run, url, tmp_path):
    kept(run, url)
    flip(tmp_path / "audit.db", "blob", "data", "id = (SELECT max(id) FROM blob)", 7)
    code, findings, _ = verified(run, url)
    assert code == 1
    (named,) = (line for line in findings if line.startswith("voucher: ledger main"))
    assert "F1, F2 rest on it" in named


@pytest.mark.parametrize("entry", [0, 1, 3])
def test_a_changed_byte_of_an_entry_is_named_and_the_log_stays_a_ledger(run: Run, url, tmp_path, entry):
    kept(run, url)
    flip(tmp_path / "audit.db", "entry", "body", f"log = (SELECT max(id) FROM log) AND seq = {entry}", 9)
    code, findings, last = verified(run, url)
    assert code == 1
    assert any(line.startswith(f"entry: ledger main, entry {entry}: ") for line in findings)
    assert any(line.startswith(f"ledger: ledger main, entry {entry}: ") for line in findings)
    assert "2 sessions, 1 ledger;" in last
    assert len(run("sessions", "--store", url).text.splitlines()) == 4


def test_a_booking_in_the_journal_of_a_session_is_a_finding(run: Run, url, monkeypatch):
    monkeypatch.setattr("tests.cli.books.key_of", lambda _name: b"\xaa" * 32)
    forged(url, Fact(1.0, id="C1", type="claim", statement="x"))
    code, findings, _ = verified(run, url)
    assert code == 1
    assert any("A fact belongs into a ledger" in line for line in findings)


def test_show_calls_a_ledger_by_its_name_and_lists_its_entries(run: Run, url):
    kept(run, url)
    lines = run("audit", "show", "main", "--store", url).text.splitlines()
    assert lines[0].startswith("ledger main, ")
    assert [line.split()[2] for line in lines[1:]] == ["artifact", "fact", "fact", "fact"]
    assert "REFUSED" not in "".join(lines)
    key = lines[0].split()[-1]
    assert run("audit", "show", key[:8], "--store", url).text.splitlines() == lines
    document = json.loads(run("audit", "show", "main", "--json", "--store", url).out)
    assert (document["ledger"], document["session"], len(document["entries"])) == ("main", key, 4)
    assert json.loads(run("audit", "show", "aa", "--json", "--store", url).out)["ledger"] is None


def test_show_can_pick_an_entry_and_no_request_of_a_ledger(run: Run, url):
    kept(run, url)
    full = run("audit", "show", "main", "--seq", 1, "--store", url).text
    assert json.loads(full.partition("\n")[2])["id"] == "F1"
    for option in (("--call", 1), ("--seq", 9), ("--body", "sent", 1)):
        ran = run("audit", "show", "main", *option, "--store", url)
        assert (ran.code, ran.err.count("\n")) == (4, 1)


def test_a_name_that_is_also_the_beginning_of_an_id_is_not_guessed(run: Run, url):
    asked(run, url, "claim", "x", "--ledger", "aa")
    ran = run("audit", "show", "aa", "--store", url)
    assert ran.code == 4
    assert "2 sessions" in ran.err
