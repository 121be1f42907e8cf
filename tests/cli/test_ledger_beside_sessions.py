"""Every command on a store that holds sessions and ledgers: neither is taken for the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxgc.core.journal import decode
from ctxgc.core.state import fold
from ctxgc.ledger.log import key_of
from ctxgc.store import open_store
from tests.ledger.helpers import flip

from .books import REPORT, asked, kept
from .conftest import LONG, Run

SESSION = f"session {'aa' * 32}"


@pytest.fixture
def mixed(run: Run, url) -> str:
    """The store with a ledger, and one of a session, both written to after the sessions."""
    kept(run, url)
    asked(run, url, "voucher", "report.md", "--session", "aa")
    asked(run, url, "claim", "x", "--ledger", "unknown")
    return url


def test_ledgers_are_not_listed_as_sessions(run: Run, mixed):
    store = open_store(mixed, read_only=True)
    assert len(store.sessions()) == 5, "the control: to the store they are logs like any other"
    store.close()
    listed = json.loads(run("sessions", "--store", mixed, "--json").out)["sessions"]
    assert [session["id"][:2] for session in listed] == ["aa", "ab"]
    assert len(run("sessions", "--store", mixed).text.splitlines()) == 4


def test_a_store_of_ledgers_only_has_no_sessions(run: Run, tmp_path):
    url = f"sqlite:///{tmp_path / 'books.db'}"
    kept(run, url)
    assert run("sessions", "--store", url).text == "no sessions yet\n"
    assert run("gc-log", "--store", url).text == "no sessions yet\n"
    assert "0 sessions, 1 ledger;" in run("audit", "verify", "--store", url).text


OF_SESSIONS = [
    ("profile", "--session"), ("gc-log",), ("explain",), ("diff",), ("mcp", "--session"),
    ("audit", "show", "--body", "sent", 1),
]  # fmt: skip


@pytest.mark.parametrize("argv", OF_SESSIONS)
def test_a_ledger_is_no_session_to_any_command(run: Run, mixed, argv):
    ran = run(*argv, key_of("main").hex()[:12], "--store", mixed)
    assert (ran.code, ran.out) == (4, b"")
    assert "is a ledger and no session" in ran.err


@pytest.mark.parametrize("argv", [argv for argv in OF_SESSIONS if argv[0] != "mcp"])
def test_sessions_are_still_found(run: Run, mixed, argv):
    ran = run(*argv, "aa", "--store", mixed)
    assert (ran.code, ran.err) == (0, "")


def test_a_ledger_does_not_make_the_beginning_of_an_id_ambiguous(run: Run, url):
    name = next(name for name in map(str, range(1000)) if key_of(name).hex().startswith("aa"))
    asked(run, url, "claim", "x", "--ledger", name)
    assert run("profile", "--session", "aa", "--store", url).code == 0


def test_the_newest_session_is_not_a_ledger(run: Run, mixed):
    assert run("gc-log", "--store", mixed).text.startswith("session abababababab")
    assert len(json.loads(run("gc-log", "--all", "--json", "--store", mixed).out)["sessions"]) == 2


def test_a_voucher_is_recalled_by_its_handle_to_the_byte(run: Run, mixed, tmp_path):
    content = b"\xff\xfe first\r\nsecond \x00\n\nlast \xed\xa0\x80"
    (tmp_path / "x.bin").write_bytes(content)
    handle = asked(run, mixed, "voucher", "x.bin", "--ledger", "unknown")["voucher"]["id"]
    for written in (handle, f"[{handle} lines 1-2]", f"[ctxgc:{handle} "):
        assert run("recall", written, "--store", mixed) == (0, content, "")
    for lines, expected in (("1", b"\xff\xfe first\r\n"), ("2:3", b"second \x00\n\n"), ("4:", b"last \xed\xa0\x80")):
        assert run("recall", handle, "--lines", lines, "--store", mixed).out == expected


def test_an_opening_balance_is_recalled_by_the_handle_in_its_frame(run: Run, mixed):
    ref = asked(run, mixed, "close")["period"]["opening_balance_ref"]
    assert ref in run("ledger", "opening", "--store", mixed).text
    assert "42 pass" in run("recall", ref, "--store", mixed).text


def test_what_was_taken_out_of_a_session_is_recalled_as_before(run: Run, mixed):
    store = open_store(mixed, read_only=True)
    state = fold(decode(entry.body) for entry in store.entries(b"\xaa" * 32))
    store.close()
    assert run("recall", next(iter(state.by_handle)), "--store", mixed).out == LONG.encode()
    assert run("recall", "a" * 16, "--store", mixed).code == 4


def test_a_damaged_ledger_does_not_hide_the_vouchers_of_others(run: Run, mixed, tmp_path):
    (handle,) = {evidence["artifact"] for fact in asked(run, mixed, "facts")["facts"] for evidence in fact["source"]}
    other = asked(run, mixed, "voucher", "report.md", "--session", "aa")["voucher"]["id"]
    flip(tmp_path / "audit.db", "entry", "body", "kind = 'artifact' AND seq = 0", 9)
    assert run("recall", other, "--store", mixed).out == REPORT.encode()
    assert run("recall", handle, "--store", mixed).code == 4


def test_the_ledger_of_a_session_is_the_one_the_session_has(run: Run, mixed):
    answer = asked(run, mixed, "claim", "x", "--session", "aa")
    assert answer["ledger"] == SESSION
    assert asked(run, mixed, "claims", "--ledger", SESSION)["claims"] == [answer["claim"]]
    assert run("ledger", "claims", "--session", "aa", "--store", mixed).text.startswith(
        "Claims of the ledger of session aaaaaaaaaaaa "
    )


@pytest.mark.parametrize("prefix", ["a", "f00"])
def test_the_session_must_be_one_that_is_there(run: Run, mixed, prefix):
    ran = run("ledger", "claim", "x", "--session", prefix, "--store", mixed)
    assert (ran.code, ran.out) == (4, b"")


def test_no_store_is_made_for_a_session_that_cannot_be_in_it(run: Run, tmp_path):
    ran = run("ledger", "claim", "x", "--session", "aa", "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert ran.code == 4
    assert not (tmp_path / "none.db").exists()


def test_an_export_holds_both_and_verifies(run: Run, mixed, tmp_path):
    ran = run("audit", "export", tmp_path / "bundle", "--store", mixed)
    command = ran.text.splitlines()[-1].split()
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    assert subprocess.run([sys.executable, *command[1:]], check=False, capture_output=True, env=env).returncode == 0
