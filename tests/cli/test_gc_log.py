"""The log of collections, as it is printed."""

import json
import re
import shutil

import pytest

from ctxgc.core.compaction import Summary
from ctxgc.core.journal import decode, encode, kind
from ctxgc.store import Record, open_store
from tests.lab.collected import KEY, bodies, collecting_kit, run

LINE = re.compile(
    r"\[turn \d+ 20\d\d-\S+Z\] major \(rent\) \d cells [\d,]+->[\d,]+ tokens, context [\d,]+->[\d,]+\n"
    r"    rewrote [\d,]+, rent \d+\.\d{4} USD, price \d+\.\d{4} USD, saves \d+\.\d{4} USD a turn;"
    r" billed: cached [\d,]+ written [\d,]+ \(predicted [\d,]+/[\d,]+\)"
)


@pytest.fixture(scope="module")
def gc_url(tmp_path_factory):
    """A store with two sessions: a short one, and the newest, of which residents were collected."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'gc.db'}"
    store = open_store(url)
    run(collecting_kit(store), bodies(2), b"\xdd" * 32)
    run(collecting_kit(store), bodies(16))
    store.close()
    return url


def test_a_collection_is_one_line_with_its_cost_behind_it(run, gc_url):
    ran = run("gc-log", "--store", gc_url)
    assert (ran.code, ran.err) == (0, "")
    first, line, cost, eden, total = ran.text.splitlines()
    assert first == f"session {'cc' * 6}: 16 requests"
    assert LINE.fullmatch(f"{line}\n{cost}"), line
    assert max(map(len, ran.text.splitlines())) <= 160
    assert eden.startswith("eden: 1 collection, 1 cell ")
    assert total.startswith("total: ")
    assert re.search(r"untouched \d\.\d{4} USD, net (saved|lost) \d\.\d{4} USD$", total)


def test_eden_is_listed_when_it_is_asked_for(run, gc_url):
    lines = run("gc-log", "cc", "--eden", "--store", gc_url).text.splitlines()
    assert lines[1].startswith("[turn 6 ")
    assert "] eden 1 cell " in lines[1]
    assert not any(line.startswith("eden:") for line in lines)


def test_all_sessions_are_oldest_first(run, gc_url):
    heads = [line for line in run("gc-log", "--all", "--store", gc_url).text.splitlines() if line[:8] == "session "]
    assert [head.split()[1] for head in heads] == [f"{'dd' * 6}:", f"{'cc' * 6}:"]


def test_json_has_what_the_lines_have(run, gc_url):
    document = json.loads(run("gc-log", "cc", "--store", gc_url, "--json").out)
    assert document["schema"] == "ctxgc.gc-log/1"
    (session,) = document["sessions"]
    assert (session["id"], session["requests"], session["usd"]) == (KEY.hex(), 16, True)
    assert session["net"] == session["untouched"] - session["paid"]
    eden, major = session["collections"]
    assert (eden["generation"], eden["predicted"], eden["billed"]) == ("eden", None, None)
    assert (major["generation"], major["trigger"]) == ("major", "rent")
    assert sum(major["predicted"].values()) == sum(major["billed"].values()) == major["context_after"]
    assert set(major) == {
        "turn", "at", "model", "generation", "trigger", "cells", "before", "after", "context_before", "context_after",
        "rewritten", "rent", "price", "saving", "usd", "predicted", "billed", "span",
    }  # fmt: skip


def test_a_session_and_all_is_a_usage_error(run, gc_url):
    assert run("gc-log", "cc", "--all", "--store", gc_url).code == 2


def test_a_session_in_which_nothing_went_has_only_its_sums(run, url):
    lines = run("gc-log", "ab", "--store", url).text.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("total: 0 tokens not sent, 0 rewritten")


@pytest.mark.parametrize("command", [("gc-log",), ("explain", "cc"), ("diff", "cc")])
def test_a_store_that_is_not_there_is_one_line_and_is_not_made(run, tmp_path, command):
    ran = run(*command, "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (4, b"", 1)
    assert not (tmp_path / "none.db").exists()


def test_the_audit_says_what_the_pacer_decided_and_what_was_referred_to(run, gc_url):
    text = run("audit", "show", "cc", "--store", gc_url).text
    assert re.search(r"collects \(rent\) of \d cells: [\d,]+ tokens dead, [\d,]+ rewritten, rent 0\.\d+, price", text)
    assert "cells could go, none is due" in text
    assert "1 references to 1 cells: search(" in text


def test_a_summary_that_came_late_stands_where_it_was_asked_for(run, gc_url, tmp_path):
    shutil.copy(gc_url.removeprefix("sqlite:///"), tmp_path / "late.db")
    url = f"sqlite:///{tmp_path / 'late.db'}"
    store = open_store(url)
    entries = [decode(stored.body) for stored in store.entries(KEY)]
    begun = [entry.at for entry in entries if kind(entry) == "allocation"]
    said = Summary(at=begun[8] + 0.5, after=1, upto=9, model="gpt-5", outcome="refused: no JSON", input=10, output=1)
    store.append([Record(KEY, kind(said), encode(said), bytes(16))]).result()
    store.close()
    lines = run("gc-log", "cc", "--eden", "--store", url).text.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("[turn ")] == ["6", "9", "14"]
    times = [line.split()[2] for line in lines if line.startswith("[turn ")]
    assert times == sorted(times)
