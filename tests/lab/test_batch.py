"""Many files: in order, in parallel, and with some that cannot be read."""

from dataclasses import replace
from pathlib import Path

import pytest

from ctxgc.errors import InputError
from ctxgc.lab.batch import Batch, Plan, compare_file, files, run_batch

from .recordings import HISTORY, at_price, write

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
PLAN = Plan(("observe", "eden"), (at_price("9"), at_price("none")))


def names(batch: Batch) -> list[str]:
    return [one.name for one in batch.compared]


@pytest.fixture
def folder(tmp_path):
    for name in ("b.json", "a.json", "c.jsonl"):
        write(tmp_path / name)
    (tmp_path / "README.md").write_text("not one")
    (tmp_path / "inside").mkdir()
    return tmp_path


def test_a_folder_is_its_transcripts_by_name(folder):
    assert [path.name for path in files([folder, folder / "b.json"])] == ["a.json", "b.json", "c.jsonl", "b.json"]


def test_a_folder_without_transcripts_is_an_error(folder):
    with pytest.raises(InputError, match="no transcripts"):
        files([folder / "inside"])


def test_results_come_in_the_order_of_the_files_whoever_was_first(folder):
    told = []
    found = run_batch(files([folder]), PLAN, jobs=2, progress=lambda *at: told.append(at))
    assert names(found) == ["a", "b", "c"]
    assert told == [(1, 3), (2, 3), (3, 3)]
    alone = run_batch(files([folder]), PLAN)
    assert [[run.judged for run in one.runs] for one in found.compared] == [
        [run.judged for run in one.runs] for one in alone.compared
    ]


def test_each_stretch_between_compactions_is_compared(tmp_path):
    path = write(tmp_path / "t.json", [*HISTORY, *HISTORY[1:]], meta={"compact_boundaries": [len(HISTORY)]})
    assert names(run_batch([path], PLAN)) == ["t", "t#2"]


@pytest.mark.parametrize(("size", "least", "taken"), [("counted", 100, 1), ("counted", 10**6, 0), ("reported", 1, 0)])
def test_small_segments_are_left_out_and_counted(tmp_path, size, least, taken):
    found = compare_file(write(tmp_path / "t.json"), replace(PLAN, min_tokens=least, size=size))
    assert (len(found.compared), found.small) == (taken, 1 - taken)


def test_the_first_unreadable_file_ends_it(folder):
    (folder / "a.json").write_bytes(b"{")
    with pytest.raises(InputError, match=r"a\.json"):
        run_batch(files([folder]), PLAN)


def test_unreadable_files_can_be_left_out(folder):
    (folder / "a.json").write_bytes(b"{")
    found = run_batch([*files([folder]), folder / "absent.json"], PLAN, keep_going=True)
    assert names(found) == ["b", "c"]
    assert [Path(error.split(",")[0].split(": ")[0]).name for error in found.errors] == ["a.json", "absent.json"]


@pytest.mark.slow
@pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not here")
def test_recorded_sessions_are_sent_valid_and_all_that_is_lost_can_be_recalled():
    paths = sorted(TRACES.glob("*.jsonl.gz"))[::5]
    assert paths
    for one in run_batch(paths, PLAN, jobs=2).compared:
        for run in one.runs:
            judged, survival = run.judged, run.judged.survival
            assert (judged.invalid, run.bypasses) == ((), 0), one.name
            assert survival.visible + survival.recallable == survival.needed, one.name
            if run.policy == "observe":
                assert run.cost_ratio(one.never) == 1, one.name
                assert survival.survived == 1, one.name
