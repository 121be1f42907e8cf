"""Keeping the books from the command line: what is verified and what is not, and what each command says of it."""

from __future__ import annotations

import io
import sys

import pytest

from ctxgc.cli import _ledger_post

from .books import CONFIG, REPORT, asked, kept
from .conftest import Run, child

COMMANDS = [
    "post", "voucher", "claim", "facts", "claims", "query", "show", "trace", "reconcile", "close", "opening",
    "supersede", "restore",
]  # fmt: skip


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'books.db'}"


@pytest.fixture
def stdin(monkeypatch):
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_an_example(run, command):
    ran = run("ledger", command, "--help")
    assert ran.code == 0
    assert f"\n    ctxgc ledger {command}" in ran.text or f"| ctxgc ledger {command}" in ran.text
    assert all(option in ran.text for option in ("--store", "--ledger", "--session", "--json"))


def test_the_group_lists_them_all_and_says_what_exit_codes_mean(run):
    ran = run("ledger", "--help")
    assert all(f"\n  {command} " in ran.text for command in COMMANDS)
    assert "6 the ledger refuses" in ran.text
    assert "7 something does not match" in ran.text
    assert "7 something does not agree" in run("--help").text


def test_help_loads_neither_the_store_nor_msgspec():
    code = (
        "import sys\nfrom ctxgc.cli import main\nsys.argv = ['ctxgc', 'ledger', 'post', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('rich', 'pydantic', 'apsw', 'tiktoken', 'msgspec') if name in sys.modules])"
    )
    with child(code) as process:
        assert process.stdout.read().splitlines()[-1] == b"[]"


def test_a_fact_is_posted_on_a_file_and_listed(run: Run, url):
    kept(run, url)
    lines = run("ledger", "facts", "--store", url).text.splitlines()
    assert lines[0] == "Facts of the ledger main"
    assert lines[2].split()[0] == "F1"
    assert "critical  it is written" in lines[2]
    assert "42 pass" in lines[3]
    assert "lines 2-2" in lines[3]
    claims = run("ledger", "claims", "--store", url).text.splitlines()
    assert claims[2].split()[0] == "C1"
    assert "the port is 8787" in claims[2]


def test_what_is_posted_already_is_not_posted_twice(run: Run, url):
    again = ("post", "42 pass", "--voucher", "report.md", "--verify", "number=42@passed")
    kept(run, url)
    assert asked(run, url, *again)["posted"] is False
    assert "F2 was posted already" in run("ledger", *again, "--store", url).text
    assert len(asked(run, url, "facts", "--all")["facts"]) == 2


def test_without_evidence_there_is_no_fact_and_no_store(run: Run, url, tmp_path):
    (tmp_path / "report.md").write_text(REPORT)
    ran = run("ledger", "post", "so it is", "--voucher", "report.md", "--store", url)
    assert ran.code == 2
    assert "no fact without evidence" in ran.err
    for name in ("quotes=", "number=", "json=", "exit=", "file_exists", "reads_back"):
        assert name in ran.err
    assert not (tmp_path / "books.db").exists()


FALSE = [
    ("--verify", "quotes=43 passed"),
    ("--verify", "number=43@passed"),
    ("--verify", "json=a=1"),
    ("--verify", "exit=0"),
    ("--verify", "exit=0", "--exit-status", "1", "--kind", "test"),
    ("--verify", "file_exists", "--ref", "nowhere.md"),
    ("--verify", "reads_back", "--ref", "nowhere.md"),
    ("--verify", "number=42@passed", "--verify", "number=1@failed"),
]


@pytest.mark.parametrize("options", FALSE)
def test_what_does_not_hold_is_not_posted_and_is_exit_code_6(run: Run, url, options):
    kept(run, url)
    ran = run("ledger", "post", "so it is", "--voucher", "report.md", *options, "--store", url)
    assert (ran.code, ran.out) == (6, b"")
    assert ran.err.startswith("ctxgc: expected ")
    assert ran.err.count("\n") == 1
    assert len(asked(run, url, "facts", "--all")["facts"]) == 2


TRUE = [
    ("--verify", "quotes=42  passed"),
    ("--verify", "number=0@failed"),
    ("--verify", "exit=0", "--exit-status", "0", "--kind", "test", "--ref", "make test"),
    ("--verify", "exit=-9", "--exit-status", "-9", "--kind", "test"),
    ("--verify", "file_exists"),
    ("--verify", "reads_back", "--verify", "quotes=port = 8787"),
]


@pytest.mark.parametrize("options", TRUE)
def test_what_holds_is_posted(run: Run, url, options):
    kept(run, url)
    fact = asked(run, url, "post", "so it is", "--voucher", "report.md", *options)["fact"]
    assert (fact["id"], fact["status"]) == ("F3", "current")
    assert len(fact["source"]) == options.count("--verify")


def test_a_value_in_json_is_verified_exactly(run: Run, url, tmp_path):
    (tmp_path / "c.json").write_text(CONFIG)
    post = ("ledger", "post", "so it is", "--voucher", "c.json", "--store", url, "--verify")
    assert run(*post, "json=limits.max[1]=2.5").code == 0
    assert run(*post, "json=name=a=b").code == 0
    assert run(*post, "json=limits.max=[1, 2.5]").code == 0
    assert run(*post, "json=limits.max[1]=2.51").code == 6


def test_a_file_is_known_by_its_whole_path_so_that_it_can_be_read_from_anywhere(run: Run, url, tmp_path, monkeypatch):
    kept(run, url)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("ledger", "reconcile", "--store", url).code == 0


def test_standard_input_can_be_a_voucher_if_it_is_said_what_it_is(run: Run, url, stdin):
    stdin(b"0 failed\n")
    ran = run("ledger", "post", "none fails", "--voucher", "-", "--verify", "number=0@failed", "--store", url)
    assert ran.code == 2
    assert "--ref" in ran.err
    named = ("--ref", "make test", "--kind", "test")
    voucher = asked(run, url, "voucher", "-", *named)["voucher"]
    assert (voucher["kind"], voucher["ref"], voucher["size"]) == ("test", "make test", 9)


def test_a_voucher_that_is_kept_is_named_by_its_handle_or_a_pointer(run: Run, url, tmp_path):
    (tmp_path / "report.md").write_text(REPORT)
    handle = run("ledger", "voucher", "report.md", "--store", url).text.strip()
    for written in (handle, f"[{handle} lines 1-2]", f"[ctxgc:{handle} lines 1-2]"):
        post = ("ledger", "post", "port", "--voucher", written, "--verify", "quotes=8787", "--store", url)
        assert run(*post).code == 0
        assert run(*post, "--kind", "test").code == 2
    assert len(asked(run, url, "facts")["facts"]) == 1


@pytest.mark.parametrize("voucher", ["nowhere.md", ".", "a" * 16, "a\0b"])
def test_a_voucher_that_is_not_there_is_one_line(run: Run, url, voucher):
    ran = run("ledger", "post", "so it is", "--voucher", voucher, "--verify", "file_exists", "--store", url)
    assert ran.code == 4
    assert ran.err.count("\n") == 1


def test_a_claim_that_is_verified_is_no_claim_any_more(run: Run, url):
    kept(run, url)
    post = ("post", "the port is 8787", "--voucher", "report.md", "--verify", "number=8787@port", "--of", "C1")
    assert asked(run, url, *post)["fact"]["of"] == "C1"
    assert asked(run, url, "claims")["claims"] == []
    assert run("ledger", "claims", "--store", url).text == "no claims\n"


@pytest.mark.parametrize("voucher", ["/dev/zero", "large.txt"])
def test_an_original_that_never_ends_is_refused_in_one_line(run: Run, url, monkeypatch, tmp_path, voucher):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_ledger_post, "LIMIT", 4)
    (tmp_path / "large.txt").write_text("large")
    (tmp_path / "small.txt").write_text("four")
    ran = run("ledger", "voucher", voucher, "--store", url)
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, b"", 1)
    assert "it has more than" in ran.err
    assert run("ledger", "voucher", "small.txt", "--store", url).code == 0


@pytest.mark.parametrize("argv", [("show", "x" * 9_000), ("facts", "--ledger", "x" * 9_000), ("voucher", "x" * 9_000)])
def test_a_name_of_any_length_is_one_line_of_bounded_length(run: Run, url, argv):
    kept(run, url)
    ran = run("ledger", *argv, "--store", url)
    assert (ran.code, ran.err.count("\n")) == (4, 1)
    assert len(ran.err) < 300
