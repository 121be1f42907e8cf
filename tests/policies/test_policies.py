"""What holds for every policy: one contract, tried on each module of the package, and on a policy that breaks it."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from math import inf
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc import policies
from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap, Resident
from ctxgc.core.policy import Policy, Verdict
from ctxgc.policies import PolicyError, build, names, preset, presets
from ctxgc.policies.budget import Budget
from ctxgc.policies.compact import Compact
from ctxgc.policies.dedup import Dedup
from ctxgc.policies.generational import Generational
from ctxgc.policies.minify import Minify
from ctxgc.policies.truncate import Truncate
from tests.heaps import arrival, collect, count, heap
from tests.policies import residents as made
from tests.policies.others import Custom, Plain, Silent
from tests.strategies import json_bodies, texts

FUTURE = {"oracle": {"needs": [[0, 12], [2, 18]]}}
"""What a policy cannot do without."""
BASELINES = ("window", "keep_last_n", "clear_tool_uses", "oracle", "budget")
"""Policies that may name what an edit may have to quote."""
AHEAD = ("generational",)
"""Policies that also name what will be dead soon, so that it goes along with others."""


def default(name: str) -> Policy:
    return build([{"name": name, **FUTURE.get(name, {})}])[0]


def described(kind: type) -> list[str]:
    """The fields that a policy's docstring describes: one, or several with commas, and a colon."""
    lists = re.findall(r"((?:``\w+``, )*``\w+``):", kind.__doc__ or "")
    return [name for found in lists for name in re.findall(r"\w+", found)]


def breaches(module: ModuleType, policy: object, stem: str) -> list[str]:
    """What a policy's module does not keep of the contract."""
    kind, found = type(policy), []
    if getattr(policy, "name", None) != stem:
        found.append("name")
    if kind.__name__ != "".join(part.capitalize() for part in stem.split("_")):
        found.append("class name")
    if not is_dataclass(kind) or not hasattr(kind, "__slots__"):
        return [*found, "not a slotted dataclass"]
    try:
        setattr(policy, fields(kind)[0].name, None)
        found.append("not frozen")
    except (FrozenInstanceError, IndexError):
        pass
    found += [f"{one.name} not documented" for one in fields(kind) if one.name not in described(kind)]
    found += [f"{one.name} has no default" for one in fields(kind) if one.default is one.default_factory]
    if not (module.__doc__ or "").strip().count("Rule:"):
        found.append("no rule")
    return found


@pytest.mark.parametrize("name", names())
def test_every_policy_keeps_the_contract(name: str) -> None:
    module = importlib.import_module(f"ctxgc.policies.{name}")
    assert breaches(module, default(name), name) == []


def test_the_contract_notices_what_is_missing() -> None:
    module = importlib.import_module(Custom.__module__)
    assert breaches(module, Custom(), "other") == ["name", "class name", "no rule"]
    assert breaches(module, Plain(), "plain") == ["not a slotted dataclass"]
    undocumented = ["depth not documented", "name not documented", "no rule"]
    assert breaches(module, Silent(), "silent") == undocumented


def twice(policy: Policy, found: Heap) -> bool:
    return list(policy.propose(found)) == list(policy.propose(found))


@pytest.mark.parametrize("name", names())
@given(st.lists(st.one_of(texts(200), json_bodies().map(bytes.decode)), max_size=3))
def test_the_same_heap_gets_the_same_verdicts(name: str, contents: list[str]) -> None:
    eden = [arrival(text * 20, cell=number) for number, text in enumerate(contents)]
    assert twice(default(name), heap(*eden, same=lambda one: one.id - 1 if one.id else None))


def test_a_policy_with_state_is_noticed() -> None:
    class Moody:
        name = "moody"
        calls = 0

        def propose(self, heap: Heap) -> Iterable[Verdict]:
            self.calls += 1
            return [Verdict(0, "moody", "x", str(self.calls))]

    assert not twice(Moody(), heap())


def misnamed(policy: Policy, found: Heap) -> set[str]:
    """What a policy says of cells that were sent before and must not say."""
    by_id = {one.id: one for one in found.residents}
    out = set()
    for verdict in policy.propose(found):
        one, thinking = by_id[verdict.cell], by_id[verdict.cell].kind is Kind.THINKING
        wait = getattr(policy, "quotable_idle", 0) or inf
        fresh = one.quotable and not one.stale and not thinking and one.idle(found.turn) < wait
        wrong = {
            "pinned": one.pinned,
            "kind": one.kind is not Kind.TOOL_RESULT and not thinking,
            "excerpt": verdict.excerpt is None or (thinking and verdict.excerpt != 0),
            "no excerpt": (verdict.text, verdict.of, verdict.keep) != (None, None, ()),
            "future": verdict.since > found.turn and not (policy.name in AHEAD and verdict.urgency == "priced"),
            "before it arrived": verdict.since <= one.turn,
            "name": verdict.policy != policy.name or not verdict.reason,
            "quotable": fresh and policy.name not in BASELINES,
        }
        out |= {what for what, is_so in wrong.items() if is_so}
    return out


@pytest.mark.parametrize("name", names())
@given(made.residents(), st.integers(0, 9000))
def test_what_must_not_be_said_of_residents_is_not(name: str, found: list[Resident], surplus: int) -> None:
    policy, seen = default(name), made.heap(*found, surplus=surplus)
    assert misnamed(policy, seen) == set()
    assert twice(policy, seen)


def test_the_check_notices_what_must_not_be_said() -> None:
    found = made.heap(
        made.resident(0, pinned=True), made.resident(1, kind=Kind.TEXT), made.resident(2, quotable=True, turn=19)
    )
    assert misnamed(made.Careless(), found) == {"pinned", "kind", "quotable", "before it arrived"}
    assert misnamed(made.Ahead(), made.heap(made.resident(turn=2))) == {"future"}


@pytest.mark.parametrize(
    "name", ["generational", "keep_last_n", "oracle", "recency", "refcount", "superseded", "window"]
)
def test_what_is_only_a_pointer_is_named_though_it_is_small(name: str) -> None:
    """What it points at can go only with it."""
    small, seen = made.resident(turn=2, sent=20, stale="read again"), made.resident(1, turn=19)
    rest = [made.resident(number, turn=19) for number in range(2, 40)]
    pointer = made.resident(turn=2, sent=20, stale="read again", points=True)
    assert 0 not in made.cells(default(name), made.heap(small, seen, *rest))
    assert 0 in made.cells(default(name), made.heap(pointer, seen, *rest))


@pytest.mark.parametrize("name", ["generational", "aggressive"])
def test_what_nobody_uses_is_named_by_the_presets_that_collect(name: str) -> None:
    found = made.heap(made.resident(0, turn=2), made.resident(1, turn=19))
    said = [verdict for policy in preset(name) for verdict in policy.propose(found)]
    assert {verdict.cell for verdict in said if verdict.since <= found.turn} == {0}


@given(made.residents())
def test_the_aggressive_preset_names_whatever_the_default_does_and_leaves_no_more(found: list[Resident]) -> None:
    def least(name: str) -> dict[int, float]:
        seen, out = made.heap(*found), {}
        for verdict in (verdict for policy in preset(name) for verdict in policy.propose(seen)):
            out[verdict.cell] = min(verdict.excerpt or 0.0, out.get(verdict.cell, 1.0))
        return out

    usual, more = least(policies.DEFAULT), least("aggressive")
    assert all(more[cell] <= share for cell, share in usual.items())


def test_what_the_presets_are() -> None:
    assert preset("observe") == ()
    assert preset("lossless") == (Dedup(), Minify())
    assert preset("eden") == (Dedup(), Minify(), Truncate())
    assert Generational() in preset(policies.DEFAULT)
    assert presets()["generational"] == presets()["aggressive"]
    assert preset("aggressive")[-2:] == preset("generational")[-2:] == (Budget(), Compact())
    assert preset("aggressive") != preset("generational")


def test_every_preset_names_policies_that_exist() -> None:
    assert {policy for found in presets().values() for policy in found} <= set(names())


def test_the_modules_are_the_policies() -> None:
    assert names() == (
        "budget", "clear_tool_uses", "compact", "dedup", "failed_calls", "generational", "items", "keep_last_n",
        "minify", "oracle", "pin", "reasoning", "recency", "refcount", "superseded", "truncate", "window",
    )  # fmt: skip


def test_the_default_makes_the_most_of_a_heap() -> None:
    pretty = json.dumps([{"n": number} for number in range(60)], indent=2)
    eden = (arrival(pretty), arrival(pretty, cell=1), arrival("log\n" * 20_000, cell=2))
    found = heap(*eden, same=lambda one: 0 if one.id == 1 else None)
    assert [edit.action for edit in collect(found, *preset("eden"))] == ["minify", "dedup", "truncate"]


def test_an_unknown_preset_is_an_error() -> None:
    with pytest.raises(PolicyError, match="unknown preset 'edn': did you mean 'eden'"):
        preset("edn")


def test_a_cut_is_within_the_budget_as_a_real_tokenizer_counts() -> None:
    pytest.importorskip("tiktoken")
    tokens = pytest.importorskip("ctxgc.tokens")
    counter = tokens.counter_for("gpt-4o").count
    words = " ".join(f"{number}:{hash_} the quick brown fox" for number, hash_ in enumerate(range(0, 90_000, 17)))
    results = (
        words,
        words.replace(" the", "\n"),
        json.dumps(words.split(), indent=1),
        "漢字かな🎉" * 4000,
        "e" + "\u0301" * 20_000,
    )
    for text in results:
        for budget in (64, 500, 3000):
            (edit,) = collect(heap(arrival(text), count=counter), Truncate(budget=budget))
            assert counter(edit.text) <= budget
            assert counter(edit.text) > budget - 120
    assert counter(words) != count(words)
