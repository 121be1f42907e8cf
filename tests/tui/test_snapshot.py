"""A look as lines: on one scale, never too wide, and nothing in it that a terminal would obey."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from ctxgc.cli import top
from ctxgc.tui.detail import LETTERS
from ctxgc.tui.sessions import SORTS, sorted_by, table
from ctxgc.tui.snapshot import snapshot
from ctxgc.tui.text import Piece, clock, cut, fit, money, plain, short
from ctxgc.tui.watching import Look

from .documents import HOSTILE, row, session


def text(look: Look, width: int, sort: str = "last") -> list[str]:
    return list(snapshot(look, width, sort))


def test_a_snapshot_lists_sessions_and_says_all_of_one():
    lines = text(Look([row(2), row(1)], session(2)), 100)
    assert lines[0] == "Sessions, by last"
    assert lines[2] == "> 020202020202 gpt-5         10    40.0k   20.0k ....   7%  +$0.0100 11-14 22:13"
    assert "Session 020202020202: gpt-5, 2 requests" in lines
    assert "  window 272.0k, 39 turns until room must be made, net -$0.5000" in lines
    assert '       policy = "eden"' in lines
    assert "  turn    2 major (rent), 3 cells, context 390 -> 200" in lines
    assert any(line.split() == ["read(a)", "200", "57.1%", "100"] for line in lines)
    assert "  1. read is sent again and again (60% of all tokens sent)." in lines


def test_bars_are_on_one_scale_and_their_letters_add_up():
    received, sent = (line[21:] for line in text(Look([row(1)], session(1)), 101) if line[:11].strip() in
                      ("received", "sent") and "by request" not in line)  # fmt: skip
    assert (received.count("R"), received.count("U")) == (60, 20)
    assert (sent.count("R"), sent.count("U")) == (20, 20)
    assert len(set(LETTERS.values())) == len(LETTERS)


@pytest.mark.parametrize("width", [1, 10, 20, 80, 119, 120, 160, 300])
def test_no_line_is_wider_than_the_terminal_and_nothing_in_it_is_obeyed(width):
    hostile = session(
        1, models=[HOSTILE], by_site=[{"name": HOSTILE * 20, "sent_turns": 2, "resident": 1}],
        suspects=[{"sentence": HOSTILE * 9, "action": HOSTILE, "setting": HOSTILE}],
    )  # fmt: skip
    lines = text(Look([row(1, model=HOSTILE)], hostile, HOSTILE), width)
    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    assert not HOSTILE.isprintable()


def test_narrow_and_wide_tables_fit_their_terminals():
    assert max(map(cell_len, table([row(1)], "", 80))) <= 80
    assert max(map(cell_len, table([row(1)], "", 120))) <= 120
    wide = table([row(1)], "", 160)[1]
    assert "20,000" in wide
    assert "2023-11-14 22:13:21" in wide


def test_what_is_not_known_is_a_question_mark():
    blank = row(1, requests=None, received=None, sent=None, window=0, net=None, model="", last=float("nan"))
    assert table([blank], "", 160)[1].split() == ["010101010101", "-", "?", "?", "?", "?", "?", "-"]


@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_puts_the_largest_first_and_the_unknown_last(sort):
    names = {"calls": "requests"}
    low, high = row(1, requests=1, net=-1.0, last=1.0), row(9, requests=99, net=1.0, last=9.0)
    unknown = row(5, **{names.get(sort, sort): None} if sort not in ("last", "window") else {"last": 0.0, "window": 0})
    assert [one["id"] for one in sorted_by([unknown, low, high], sort)] == [high["id"], low["id"], unknown["id"]]


def test_the_commands_sorts_are_those_there_are():
    assert tuple(SORTS) == top.SORTS


def test_a_session_of_no_requests_has_no_bars():
    turns = {"count": 0, "received": {}, "sent": {}, "sent_total": [], "net": []}
    lines = text(Look([row(1)], session(1, turns=turns, by_site=[], collections=[], suspects=[], tiles=[])), 80)
    assert lines[-1] == "No leak suspects"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0"), (950, "950"), (999, "999"), (999.9, "1.0k"), (1000, "1.0k"), (12_340, "12.3k"),
                        (999_960, "1.0M"), (2.5e9, "2.5G"), (-1500, "-1.5k")]
)  # fmt: skip
def test_short_figures(count, said):
    assert short(count) == said


def test_small_parts():
    assert fit("ab", 4, right=True) == "  ab"
    assert fit("abcdef", 4) == "abc…"
    assert cell_len(fit("宽字宽字", 4)) <= 4
    assert plain(cut((Piece("ab"), Piece("cdef")), 4)) == "abc…"
    assert (money(None, usd=True), money(-0.5, usd=True), money(1500, usd=False)) == ("?", "-$0.5000", "+1.5k")
    assert clock(1e300, wide=True) == "-"
