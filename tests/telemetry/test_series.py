from __future__ import annotations

from ctxgc.telemetry.labels import REST
from ctxgc.telemetry.metrics import Metric
from ctxgc.telemetry.series import Board, Counts, Spread


def test_a_counter_sums_by_labels_and_never_goes_down():
    counts = Counts()
    for amount in (2, 3, -4, 0):
        counts.add(("a",), amount)
    counts.add(("b",), 0)  # what never happened is no series
    assert counts.values == {("a",): 5}


def test_at_its_limit_a_counter_takes_new_sources_as_one_and_known_ones_as_before():
    counts = Counts(limit=2, source=1)
    for source in ("a", "b", "c", "d", "a"):
        counts.add(("tool_result", source), 1)
    counts.add(("user_turn", ""), 1)  # what has no source is not folded: its sets are few
    assert counts.values == {
        ("tool_result", "a"): 2, ("tool_result", "b"): 1, ("tool_result", REST): 2, ("user_turn", ""): 1,
    }  # fmt: skip


def test_a_value_at_a_bound_is_within_it():
    spread = Spread((1.0, 2.0))
    for value in (1.0, 1.5, 2.0, 2.5, -1.0):
        spread.observe((), value)
    assert spread.values[()].counts == [2, 2, 1]
    assert spread.values[()].sum == 7.0


def test_known_label_sets_start_at_zero():
    board = Board([Metric("c", "counter", "", ("l",), known=(("a",),)), Metric("h", "histogram", "", known=((),))])
    assert board.counters["c"].values == {("a",): 0}
    assert sum(board.histograms["h"].values[()].counts) == 0


def test_a_copy_stands_still():
    board = Board([Metric("c", "counter", ""), Metric("h", "histogram", "", buckets=(1.0,))])
    board.add("c")
    board.observe("h", (), 1.0)
    copy = board.copy()
    board.add("c")
    board.observe("h", (), 1.0)
    assert copy.counters["c"].values == {(): 1}
    assert copy.histograms["h"].values[()].counts == [1, 0]
