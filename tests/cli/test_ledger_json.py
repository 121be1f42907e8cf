"""The JSON of every ``ctxgc ledger`` command: which keys it has, whatever there is to say."""

from __future__ import annotations

import pytest

from ctxgc.cli.ledger import command as group

from .books import asked, kept
from .conftest import Run

EVIDENCE = {"artifact", "bytes", "lines", "slice", "verifier", "version", "asked"}
FACT = {
    "id", "at", "kind", "status", "statement", "criticality", "author", "pointer", "quote", "of", "superseded_by",
    "source",
}  # fmt: skip
VOUCHER = {"id", "at", "kind", "ref", "hash", "size", "lines", "exit_status"}
PERIOD = {"id", "closed_at", "milestone", "window_from", "window_to", "opening_balance_ref", "balance", "lossy"}
ROW = {"fact", "state", "detail", "critical"}
SOURCE = {"agree", "detail", "voucher", "voucher_recomputed", "evidence", "slice_recomputed", "excerpt"}
ANSWERS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "post": (("none fails", "--voucher", "report.md", "--verify", "number=0@failed"), {"posted", "fact"}),
    "voucher": (("report.md",), {"voucher"}),
    "claim": (("the moon",), {"claim"}),
    "facts": (("--all",), {"facts"}),
    "claims": ((), {"claims"}),
    "query": (("pass",), {"budget", "facts"}),
    "show": (("F1",), {"type", "fact"}),
    "trace": (("F2",), {"agree", "fact", "position", "period", "balances", "detail", "sources"}),
    "reconcile": ((), {"ok", "whole", "sample", "seed", "match", "drift", "missing", "corrupt", "rows"}),
    "close": (("done",), {"period"}),
    "opening": ((), {"budget", "tokens", "text", "facts", "pointed"}),
    "supersede": (("F1", "F2"), {"old", "new", "reason", "at"}),
    "restore": (("F1",), {"fact", "reason", "at"}),
}


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'books.db'}"


def test_every_command_is_here():
    assert set(ANSWERS) == set(group.commands)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_these_keys(run: Run, url, name):
    kept(run, url)
    if name == "restore":
        asked(run, url, "supersede", "F1", "F2")
    argv, keys = ANSWERS[name]
    answer = asked(run, url, name, *argv)
    assert answer["schema"] == f"ctxgc.ledger.{name}/1"
    assert answer["ledger"] == "main"
    assert set(answer) == {"schema", "ledger", *keys}


def test_a_fact_has_these_keys_wherever_it_stands(run: Run, url):
    kept(run, url)
    found = [
        asked(run, url, "post", "x", "--voucher", "report.md", "--verify", "file_exists")["fact"],
        asked(run, url, "claim", "y")["claim"],
        *asked(run, url, "facts", "--all")["facts"],
        *asked(run, url, "claims")["claims"],
        *asked(run, url, "query", "pass")["facts"],
        asked(run, url, "show", "F1")["fact"],
        asked(run, url, "show", "C1")["fact"],
        asked(run, url, "trace", "F1")["fact"],
    ]
    assert all(set(fact) == FACT for fact in found)
    assert all(set(evidence) == EVIDENCE for fact in found for evidence in fact["source"])


def test_a_fact_that_is_not_current_says_so(run: Run, url):
    kept(run, url)
    asked(run, url, "supersede", "F1", "F2")
    first, second = asked(run, url, "facts", "--all")["facts"]
    assert (first["status"], first["superseded_by"]) == ("superseded", "F2")
    assert (second["status"], second["superseded_by"]) == ("current", None)
    asked(run, url, "supersede", "F2")
    withdrawn = asked(run, url, "show", "F2")["fact"]
    assert (withdrawn["status"], withdrawn["superseded_by"]) == ("superseded", "")
    assert asked(run, url, "show", "C1")["fact"]["status"] == "claim"


def test_vouchers_and_periods_have_these_keys(run: Run, url):
    kept(run, url)
    voucher = asked(run, url, "voucher", "report.md")["voucher"]
    assert set(voucher) == VOUCHER
    shown = asked(run, url, "show", voucher["id"])
    assert shown["type"] == "voucher"
    assert set(shown["voucher"]) == VOUCHER | {"facts", "text", "text_from"}
    assert shown["voucher"]["text"] is None
    assert set(asked(run, url, "close")["period"]) == PERIOD
    shown = asked(run, url, "show", "P1")
    assert (shown["type"], set(shown["period"])) == ("period", PERIOD)


def test_a_trace_has_the_hashes_of_both_sides(run: Run, url):
    kept(run, url)
    (source,) = asked(run, url, "trace", "F2")["sources"]
    assert set(source) == SOURCE
    assert source["voucher"]["hash"] == source["voucher_recomputed"]
    assert source["evidence"]["slice"] == source["slice_recomputed"]
    assert source["excerpt"] == "42 passed, 0 failed"


def test_a_reconciliation_has_a_row_for_each_fact(run: Run, url):
    kept(run, url).write_text("another")
    report = asked(run, url, "reconcile", code=7)
    assert (report["ok"], report["match"], report["drift"]) == (False, 1, 1)
    assert [(row["fact"], row["state"]) for row in report["rows"]] == [("F1", "drift"), ("F2", "match")]
    assert all(set(row) == ROW for row in report["rows"])
