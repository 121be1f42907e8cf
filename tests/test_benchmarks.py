"""The benchmarks that compare policies: what their marks mean, on sessions that are written here. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

import benchmarks
from benchmarks.pareto import DIGITS, GRID, STEPPED, curve, line, main, steps
from ctxgc.lab.judge import Survival
from ctxgc.lab.totals import Spread, Totals
from ctxgc.policies import from_config
from ctxgc.policies.generational import Generational

from .lab.build import call, result, user
from .lab.recordings import HISTORY, write

FOLDER = Path(benchmarks.__path__[0])
STEPS = [step for n in range(12) for step in (call("run", f"r{n}", n=n), result(f"r{n}", f"step {n} is done\n" * 40))]
LATE = [*HISTORY[:5], user("do the rest first"), *STEPS, *HISTORY[6:]]
"""A session in which a line of the first result is needed when ten turns and more have passed."""


def total(policy: str, cost: float, visible: int, needed: int = 1000) -> Totals:
    spread, survival = Spread(cost, cost, cost, cost), Survival(needed, visible, visible)
    more = {"rewritten": 0.0, "by_tag": {}, "by_use": {}, "invalid": 0, "bypasses": 0, "collections": {}}
    seconds = {"prepare_seconds": 0.0, "admit_seconds": 0.0}
    shares = (cost, spread, 1.0, spread, 0.0, spread)
    names = ("cost", "costs", "tokens", "tokens_spread", "rewrites", "rewrites_spread")
    ratios = dict(zip(names, shares, strict=True))
    return Totals(policy, "9", 1, 4, survival=survival, survivals=spread, **ratios, **more, **seconds)


def marked(*found: Totals) -> list[str]:
    return [point.policy for point in curve(found) if point.dominated]


def measured(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    main.main([str(one) for one in argv], standalone_mode=False)
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "late.json", LATE)
    write(tmp_path / "short.json")
    return tmp_path


def test_points_are_in_the_order_of_their_cost_and_the_dominated_are_marked():
    found = [total("dear", 1.0, 1000), total("cheap", 0.5, 900), total("worse", 0.5, 800), total("dearer", 0.6, 900)]
    assert [point.policy for point in curve(found)] == ["cheap", "worse", "dearer", "dear"]
    assert marked(*found) == ["worse", "dearer"]


def test_the_oracle_dominates_nobody_as_anybody_else_with_its_figures_would():
    others = [total("observe", 1.0, 1000), total("eden", 0.9, 900)]
    assert marked(total("oracle", 0.4, 1000), *others) == []
    assert marked(total("seer", 0.4, 1000), *others) == ["eden", "observe"]
    assert marked(total("oracle", 2.0, 0), *others) == []


def test_what_the_digits_do_not_show_dominates_nothing():
    least = 10.0**-DIGITS
    assert marked(total("a", 0.5, 900), total("b", 0.5 + least / 10, 900)) == []
    assert marked(total("a", 0.5, 900), total("b", 0.5 + least * 2, 900)) == ["b"]


def test_where_nothing_was_needed_no_name_was_there_to_be_kept():
    (point,) = curve([total("eden", 0.5, 0, needed=0)])
    assert (point.survival, point.named) == (1, None)
    assert line(point).split() == ["eden", "0.500", "0.500", "0.500", "100.0%", "-", "0.0%"]


def test_each_policy_of_the_grid_exists_and_no_two_are_the_same():
    made = {name: repr(from_config(name)) for name in GRID if name != "oracle"}
    assert len(set(made.values())) == len(made) == len(GRID) - 1


@pytest.mark.parametrize("key", STEPPED)
def test_control_a_step_of_no_size_would_be_the_default(key: str):
    still = f"generational@generational.{key}={getattr(Generational(), key)}"
    assert repr(from_config(still)) == repr(from_config("generational"))


def test_steps_are_half_and_twice_the_default():
    assert [steps(default) for default in (4, 5, 1, 0.055)] == [(2, 8), (2, 10), (1, 2), (0.0275, 0.11)]
    usual = Generational()
    for key in STEPPED:
        varied = [name.partition(f".{key}=")[2] for name in GRID if f".{key}=" in name]
        assert tuple(map(float, varied)) == steps(getattr(usual, key))


def test_all_of_the_grid_is_measured_at_each_class(capsys, folder):
    found = json.loads(measured(capsys, folder, "--prices", "9, none,9", "--json"))
    assert (found["schema"], found["sessions"], found["needed"]) == ("ctxgc.bench.pareto/1", 2, 2)
    assert (found["invalid"], found["bypasses"]) == (0, 0)
    assert [(one["name"], one["read"], one["write"]) for one in found["classes"]] == [("9", 0.1, 1), ("none", 1, 1)]
    for name in ("9", "none"):
        points = {one["policy"]: one for one in found["points"] if one["class"] == name}
        assert sorted(points) == sorted(GRID)
        assert [one["cost"] for one in points.values()] == sorted(one["cost"] for one in points.values())
        assert (points["observe"]["cost"], points["observe"]["survival"], points["observe"]["rewrites"]) == (1, 1, 0)
        assert points["window"]["survival"] == 0.5
        assert points["oracle"]["survival"] == 1


def test_the_table_says_what_the_document_says(capsys, folder):
    path = folder / "late.json"
    text = measured(capsys, path, "--prices", "9")
    points = json.loads(measured(capsys, path, "--prices", "9", "--json"))["points"]
    assert text.startswith("1 sessions, ")
    rows = [row.split() for row in text.splitlines()[4:]]
    assert [(row[0], row[1], row[-1] == "dominated") for row in rows] == [
        (one["policy"], f"{one['cost']:.3f}", one["dominated"]) for one in points
    ]
    assert any(one["dominated"] for one in points)


def test_sessions_that_are_too_small_are_left_out(capsys, folder):
    found = json.loads(measured(capsys, folder / "short.json", "--min-tokens", 10**6, "--json"))
    assert (found["sessions"], found["points"]) == (0, [])
    assert measured(capsys, folder / "short.json", "--min-tokens", 10**6).startswith("0 sessions")


@pytest.mark.parametrize("argv", [["absent.json"], [".", "--prices", "no-such-class"], [".", "--prices", ""]])
def test_what_cannot_be_measured_is_one_line(folder, monkeypatch, argv):
    monkeypatch.chdir(folder)
    with pytest.raises(click.ClickException, match=r"^[^\n]+$"):
        main.main(argv, standalone_mode=False)


def commands() -> set[str]:
    """The benchmarks that can be run."""
    return {path.stem for path in FOLDER.glob("*.py") if "@click.command" in path.read_text(encoding="utf-8")}


def missing(text: str) -> set[str]:
    return {name for name in commands() if f"| `python -m benchmarks.{name}" not in text}


def test_every_benchmark_has_a_row_on_their_page():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert missing(text) == set()
    assert missing(text.replace("benchmarks.pareto", "benchmarks.other")) == {"pareto"}
