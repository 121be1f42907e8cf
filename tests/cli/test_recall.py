"""Reading back what was taken out, to the byte."""

import pytest

from ctxgc.store import open_store

from .conftest import LONG, child


def test_recall_gives_the_exact_bytes(run, url, handles):
    assert run("recall", handles[0], "--store", url) == (0, LONG.encode(), "")


@pytest.mark.parametrize("form", ["[ctxgc:{} lines 1-2 of 3 not shown]", "ctxgc:{}", "[ctxgc:{}]", " {} "])
def test_a_stub_as_it_was_copied_will_do(run, url, handles, form):
    assert run("recall", form.format(handles[0]), "--store", url).out == LONG.encode()


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [("2:3", 2, 3), ("2-3", 2, 3), (":2", 1, 2), ("3999-", 3999, 4001), ("7", 7, 7)],
)
def test_lines_end_at_line_feeds_only_and_keep_their_ends(run, url, handles, lines, first, last):
    expected = [line + b"\n" for line in LONG.encode().split(b"\n")][first - 1 : last]
    assert run("recall", handles[0], "--lines", lines, "--store", url).out == b"".join(expected)


@pytest.mark.parametrize("lines", ["0:3", "5:2", "a:b", ":", "", "1:2:3", "-3"])
def test_a_bad_range_is_a_usage_error(run, url, handles, lines):
    ran = run("recall", handles[0], f"--lines={lines}", "--store", url)
    assert ran.code == 2
    assert "no range of lines" in ran.err


@pytest.mark.parametrize("handle", ["aaaaaaaaaaaaaaaa", "short", "[ctxgc:", "x' OR 1=1 --"])
def test_an_unknown_handle_is_one_line(run, url, handle):
    ran = run("recall", handle, "--store", url)
    assert (ran.code, ran.out) == (4, b"")
    assert ran.err.startswith("ctxgc: no content in this store has the handle")
    assert ran.err.count("\n") == 1


def test_recall_works_while_someone_else_has_the_store_open_and_writes_nothing(run, url, handles):
    store = open_store(url)
    tip = store.tip()
    assert run("recall", handles[0], "--store", url).out == LONG.encode()
    assert store.tip() == tip
    store.close()


def test_a_reader_that_goes_away_is_no_error(url, handles):
    with child("from ctxgc.cli import main; main()", "recall", handles[0], "--store", url) as process:
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
