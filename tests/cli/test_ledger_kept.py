"""Correcting, proving and reading the books from the command line: what is wrong has an exit code of its own."""

from __future__ import annotations

import pytest
from msgspec import structs

from ctxgc.core.bookings import Fact
from ctxgc.ledger import open_ledger
from tests.ledger.helpers import flip

from .books import REPORT, asked, forged, kept
from .conftest import Run

READING = [
    ("facts",), ("claims",), ("query", "x"), ("show", "F1"), ("trace", "F1"), ("opening",), ("reconcile",), ("close",),
    ("supersede", "F1"), ("restore", "F1"),
]  # fmt: skip


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'books.db'}"


def test_a_fact_can_be_overturned_withdrawn_and_restored(run: Run, url):
    kept(run, url)
    assert run("ledger", "supersede", "F1", "F2", "--reason", "again", "--store", url).text == (
        "F1 superseded by F2: again\n"
    )
    assert [fact["id"] for fact in asked(run, url, "facts")["facts"]] == ["F2"]
    status = [line.rpartition("  ")[2] for line in run("ledger", "facts", "--all", "--store", url).text.splitlines()]
    assert status[2:] == ["superseded by F2", "current"]
    assert run("ledger", "supersede", "F2", "--store", url).text == "F2 withdrawn\n"
    assert run("ledger", "facts", "--store", url).text == "no facts yet\n"
    assert run("ledger", "restore", "F1", "--store", url).text == "F1 restored\n"
    assert [fact["id"] for fact in asked(run, url, "facts")["facts"]] == ["F1"]
    shown = run("ledger", "show", "F1", "--store", url).text
    assert "F1 superseded by F2: again" in shown
    assert "F1 restored" in shown


@pytest.mark.parametrize("argv", [("supersede", "F9"), ("supersede", "F1", "F1"), ("restore", "F1"), ("trace", "F9")])
def test_what_the_ledger_refuses_is_one_line_and_exit_code_6(run: Run, url, argv):
    kept(run, url)
    ran = run("ledger", *argv, "--store", url)
    assert (ran.code, ran.out) == (6, b"")
    assert ran.err.count("\n") == 1


def test_a_fact_posted_in_place_of_another_supersedes_it(run: Run, url):
    kept(run, url)
    more = ("--verify", "number=0@failed", "--supersedes", "F2")
    assert asked(run, url, "post", "none fails", "--voucher", "report.md", *more)["fact"]["id"] == "F3"
    assert asked(run, url, "show", "F2")["fact"]["superseded_by"] == "F3"


def test_reconcile_tells_a_file_that_changed_from_one_that_is_gone(run: Run, url):
    report = kept(run, url)
    assert run("ledger", "reconcile", "--store", url) == (0, b"2 facts match\n", "")
    report.write_text("another")
    ran = run("ledger", "reconcile", "--store", url)
    assert ran.code == 7
    assert ran.text.startswith("F1 drift (critical): ")
    assert ran.text.endswith("\n1 fact matches, 1 does not\n")
    report.unlink()
    assert asked(run, url, "reconcile", code=7)["missing"] == 1


def test_a_sample_is_the_same_for_the_same_seed(run: Run, url):
    kept(run, url)
    picks = [asked(run, url, "reconcile", "--sample", 1, "--seed", 3)["rows"] for _ in range(2)]
    assert picks[0] == picks[1]
    assert len(picks[0]) == 1


def test_what_is_not_to_be_recorded_is_not(run: Run, url):
    kept(run, url)
    lengths = []
    for options in ((), ("--no-record",)):
        run("ledger", "reconcile", *options, "--store", url)
        with open_ledger(url) as ledger:
            lengths.append(ledger.version)
    assert lengths[0] == lengths[1]


def test_a_close_is_refused_with_the_reason_while_a_critical_fact_does_not_agree(run: Run, url):
    report = kept(run, url)
    report.write_text("another")
    ran = run("ledger", "close", "report written", "--store", url)
    assert (ran.code, ran.out) == (6, b"")
    assert "the period stays open: F1 is drift" in ran.err
    report.write_text(REPORT)
    ran = run("ledger", "close", "report written", "--store", url)
    assert ran.code == 0
    assert ran.text.startswith("P1 (report written) closed ")
    assert "claims were left behind" in ran.text


def test_an_opening_is_what_the_library_makes_of_it(run: Run, url):
    kept(run, url)
    run("ledger", "close", "--store", url)
    printed = run("ledger", "opening", "--budget", 800, "--pin", "Keep\tthis.", "--store", url).text
    with open_ledger(url) as ledger:
        assert printed == ledger.opening(800, ["Keep\tthis."]).text + "\n"
    assert "Keep\tthis." in printed
    assert "F1 critical: it is written" in printed


def test_pins_that_do_not_fit_are_refused(run: Run, url):
    kept(run, url)
    ran = run("ledger", "opening", "--budget", 50, "--pin", "word " * 200, "--store", url)
    assert (ran.code, ran.out) == (6, b"")
    assert "more than the budget of 50" in ran.err


def test_a_trace_shows_each_hash_as_booked_and_as_it_is(run: Run, url):
    kept(run, url)
    ran = run("ledger", "trace", "F2", "--store", url)
    assert ran.code == 0
    assert ran.text.count("booked sha256:") == ran.text.count("now    sha256:") == 2
    assert "  | 42 passed, 0 failed\n" in ran.text
    assert ran.text.endswith("agrees: every hash is what was booked\n")


def test_a_claim_is_traced_to_nothing_and_that_is_no_success(run: Run, url):
    kept(run, url)
    ran = run("ledger", "trace", "C1", "--store", url)
    assert ran.code == 7
    assert "it rests on nothing" in ran.text


def test_facts_are_found_by_words_and_by_voucher(run: Run, url):
    kept(run, url)
    assert [fact["id"] for fact in asked(run, url, "query", "which pass")["facts"]] == ["F2"]
    handle = asked(run, url, "facts")["facts"][0]["source"][0]["artifact"]
    assert {fact["id"] for fact in asked(run, url, "query", handle)["facts"]} == {"F1", "F2"}
    assert run("ledger", "query", "moon", "--store", url) == (0, b"no fact has anything of it\n", "")


def test_show_knows_facts_claims_periods_and_vouchers(run: Run, url):
    kept(run, url)
    period = asked(run, url, "close", "done")["period"]
    handle = asked(run, url, "facts")["facts"][0]["source"][0]["artifact"]
    assert "it is written" in run("ledger", "show", "F1", "--store", url).text
    assert "quotes 'port = 8787'" in run("ledger", "show", "C1", "--store", url).text
    assert "2 facts: F1, F2" in run("ledger", "show", "P1", "--store", url).text
    shown = run("ledger", "show", handle, "--store", url).text
    assert "3 lines" in shown
    assert "F1, F2 rest on it" in shown
    assert "42 passed" not in shown
    assert run("ledger", "show", period["opening_balance_ref"], "--store", url).code == 0


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        ("1-2", ["# report", "42 passed, 0 failed"]),
        ("3", ["port = 8787"]),
        ("2:", ["42 passed, 0 failed", "port = 8787"]),
    ],
)
def test_lines_of_a_voucher_are_shown_with_their_numbers(run: Run, url, lines, seen):
    kept(run, url)
    handle = asked(run, url, "facts")["facts"][0]["source"][0]["artifact"]
    assert asked(run, url, "show", handle, "--lines", lines)["voucher"]["text"] == seen
    assert run("ledger", "show", handle, "--lines", lines, "--store", url).text.endswith(f"  {seen[-1]}\n")


@pytest.mark.parametrize(
    ("argv", "code"), [(("F1", "--lines", "1-2"), 4), (("F9",), 4), (("x",), 4), (("F1", "--lines", "2-1"), 2)]
)
def test_what_cannot_be_shown_is_said(run: Run, url, argv, code):
    kept(run, url)
    ran = run("ledger", "show", *argv, "--store", url)
    assert (ran.code, ran.out) == (code, b"")


@pytest.mark.parametrize("argv", READING)
def test_a_ledger_that_is_not_there_never_looks_like_clean_books(run: Run, url, tmp_path, argv):
    ran = run("ledger", *argv, "--store", url)
    assert (ran.code, ran.out) == (4, b"")
    assert not (tmp_path / "books.db").exists()
    kept(run, url)
    ran = run("ledger", *argv, "--ledger", "mian", "--store", url)
    assert (ran.code, ran.out) == (4, b"")
    assert "no ledger 'mian': it has main" in ran.err


def test_ledgers_of_one_store_are_apart(run: Run, url):
    kept(run, url)
    assert asked(run, url, "claim", "x", "--ledger", "other")["ledger"] == "other"
    assert asked(run, url, "facts", "--ledger", "other")["facts"] == []


def test_the_ledger_is_taken_from_the_configuration(run: Run, url, monkeypatch):
    monkeypatch.setenv("CTXGC_LEDGER", "shared")
    assert asked(run, url, "claim", "x")["ledger"] == "shared"
    assert asked(run, url, "claim", "x", "--ledger", "main")["ledger"] == "main"


@pytest.mark.parametrize("options", [("--ledger", "a", "--session", "b"), ("--ledger", ""), ("--session", "")])
def test_one_ledger_is_named(run: Run, url, options):
    assert run("ledger", "claim", "x", *options, "--store", url).code == 2


HOSTILE = "red \x1b[31m bell \x07 \u202e back \r\n new [bold]line[/bold]"


def test_what_a_statement_holds_is_nothing_to_a_terminal(run: Run, url, tmp_path):
    (tmp_path / "x.txt").write_text(HOSTILE)
    at = ("--store", url)
    options = ("--voucher", "x.txt", "--verify", "file_exists", "--ref", f"{HOSTILE}.txt")
    run("ledger", "claim", HOSTILE, "--pointer", HOSTILE, "--quote", HOSTILE, *at)
    post = ("ledger", "post", HOSTILE, "--voucher", "x.txt", "--verify", "quotes=bell", *at)
    handle = asked(run, url, "voucher", "x.txt", "--ref", HOSTILE)["voucher"]["id"]
    for argv in (
        post, ("ledger", "facts", "--all", *at), ("ledger", "claims", *at), ("ledger", "show", "F1", *at),
        ("ledger", "show", "C1", *at), ("ledger", "show", handle, "--lines", "1-2", *at),
        ("ledger", "trace", "F1", *at), ("ledger", "query", "bell", *at), ("ledger", *("post", "y"), *options, *at),
        ("ledger", "reconcile", *at), ("ledger", "close", HOSTILE, *at), ("ledger", "show", "P1", *at),
        ("ledger", "opening", *at), ("ledger", "supersede", "F1", "--reason", HOSTILE, *at),
        ("ledger", "show", HOSTILE, *at), ("ledger", "facts", "--ledger", HOSTILE, *at),
        ("audit", "show", "main", *at), ("audit", "verify", *at),
    ):  # fmt: skip
        ran = run(*argv)
        said = ran.text + ran.err
        assert said
        assert not any(char in said for char in "\x1b\x07\u202e\r")


def test_a_statement_of_a_megabyte_does_not_fill_the_table(run: Run, url):
    with open_ledger(url) as ledger:
        ledger.claim("x" * 1_000_000)
        ledger.claim("y")
    assert len(run("ledger", "claims", "--store", url).out) < 2_000
    assert len(asked(run, url, "claims")["claims"][0]["statement"]) == 1_000_000


def test_a_changed_byte_of_a_voucher_is_shown_by_trace_and_named_by_reconcile(run: Run, url, tmp_path):
    kept(run, url)
    flip(tmp_path / "books.db", "blob", "data", "id = 1", 7)
    ran = run("ledger", "trace", "F2", "--store", url)
    assert ran.code == 7
    assert "DISAGREES" in ran.text.splitlines()[-1]
    assert asked(run, url, "trace", "F2", code=7)["agree"] is False
    assert asked(run, url, "reconcile", code=7)["corrupt"] == 2


def test_a_slice_with_another_hash_is_shown_beside_what_it_is_now(run: Run, url):
    kept(run, url)
    with open_ledger(url) as ledger:
        (evidence,) = ledger.books.facts["F2"].source
    false = structs.replace(evidence, slice="sha256:" + "0" * 64)
    forged(url, Fact(1.0, id="F3", type="verified", statement="x", source=(false,)))
    ran = run("ledger", "trace", "F3", "--store", url)
    assert ran.code == 7
    assert [line for line in ran.text.splitlines() if "now " in line and "DISAGREES" in line] == [
        f"  now    {evidence.slice}  DISAGREES"
    ]


def test_a_log_that_cannot_be_read_to_its_end_is_named_by_reconcile_and_unreadable_to_others(run: Run, url, tmp_path):
    kept(run, url)
    flip(tmp_path / "books.db", "entry", "body", "seq = 2", 9)
    report = asked(run, url, "reconcile", code=7)
    assert (report["rows"][0]["fact"], report["rows"][0]["state"]) == ("", "corrupt")
    ran = run("ledger", "facts", "--store", url)
    assert (ran.code, ran.out) == (4, b"")
    assert "entry 2 of the ledger's log" in ran.err
