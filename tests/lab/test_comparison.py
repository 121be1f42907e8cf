"""One loop through the real session: policies, prices and the future, on a session in which one line is needed."""

import dataclasses

import pytest

from ctxgc.core.journal import Settlement, Usage
from ctxgc.lab import comparison
from ctxgc.lab.cases import ASSUMED
from ctxgc.lab.comparison import Clock, compare, kit_for, policies_for, run
from ctxgc.lab.judge import Survival
from ctxgc.lab.replay import session_for
from ctxgc.policies import PolicyError
from ctxgc.store import open_store

from .build import Keep
from .recordings import HISTORY, at_price, case

KEEP = (Keep(),)


def test_never_collecting_costs_what_never_collecting_costs():
    made = case()
    (found,) = compare(made, ["observe"], [at_price("9")])
    assert found.cost_ratio(made.never) == 1
    assert found.judged.survival == Survival(1, 1, 1, 0)
    assert dataclasses.replace(found.judged, survival=Survival(), by_tag={}, by_use={}) == made.never


def test_a_policy_that_cuts_is_cheaper_loses_the_line_and_can_recall_it():
    made = case()
    found = run(made, "keep", KEEP, at_price("9"))
    assert found.cost_ratio(made.never) < 0.2
    assert found.judged.survival == Survival(needed=1, visible=0, named=0, recallable=1)
    assert (found.judged.rewrites, found.judged.invalid, found.bypasses) == (0, (), 0)
    assert found.collections == {"eden": 1}
    assert found.prepare_seconds > 0 < found.admit_seconds


def test_a_replay_is_the_same_every_time():
    once, again = (run(case(), "keep", KEEP, at_price("9")) for _ in range(2))
    assert once.judged == again.judged


def test_a_policy_that_fails_shows_as_bypasses_and_sends_what_came():
    class Fails:
        name = "fails"

        def propose(self, heap):
            raise RuntimeError

    made = case()
    found = run(made, "fails", (Fails(),), at_price("9"))
    assert found.bypasses
    assert found.cost_ratio(made.never) == 1


def test_policies_and_classes_are_compared_in_order():
    found = compare(case(), ["observe", "dedup,minify"], [at_price("3"), at_price("none")])
    assert [(one.policy, one.price_class.name) for one in found] == [
        ("observe", "3"),
        ("observe", "none"),
        ("dedup,minify", "3"),
        ("dedup,minify", "none"),
    ]


def test_an_unknown_policy_is_an_error():
    with pytest.raises(PolicyError):
        compare(case(), ["edn"], [at_price("3")])


def test_the_clock_is_the_recorded_one(monkeypatch):
    seen = []
    monkeypatch.setattr(comparison, "session_for", lambda transcript, kit: Spy(session_for(transcript, kit), kit, seen))
    run(case(times=(None, None, 50.0, None, 60.0, None, 800.0, None, 900.0)), "observe", (), at_price("9"))
    assert seen == [50.0, 60.0, 800.0, 900.0]


class Spy:
    def __init__(self, session, kit, seen):
        self._session, self._kit, self._seen = session, kit, seen

    def __getattr__(self, name):
        return getattr(self._session, name)

    def prepare(self, text):
        self._seen.append(self._kit.clock())
        return self._session.prepare(text)


@pytest.mark.parametrize(
    ("name", "kinds"), [("9", "uncached cached"), ("11.5", "cached written"), ("none", "uncached")]
)
def test_a_session_is_told_the_usage_of_what_was_sent(name, kinds, monkeypatch):
    usages = []
    monkeypatch.setattr(
        comparison, "session_for", lambda transcript, kit: Settled(session_for(transcript, kit), usages)
    )
    made = case(usage=tuple((at, Usage(uncached=7, output=3)) for at in (2, 4, 6, 8)))
    found = run(made, "keep", KEEP, at_price(name))
    assert [usage.output for usage in usages] == [3] * 4
    assert sum(usage.input for usage in usages) == pytest.approx(found.judged.tokens, abs=4)
    told = {kind for kind in ("uncached", "cached", "written") if any(getattr(usage, kind) for usage in usages)}
    assert told == set(kinds.split())


class Settled:
    def __init__(self, session, usages):
        self._session, self._usages = session, usages

    def __getattr__(self, name):
        return getattr(self._session, name)

    def settle(self, settlement: Settlement):
        self._usages.append(settlement.usage)
        return self._session.settle(settlement)


def test_the_oracle_is_told_when_each_result_is_needed_last(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Oracle:
        needs: tuple
        name: str = "oracle"

        def propose(self, heap):
            return ()

    monkeypatch.setattr(comparison.importlib, "import_module", lambda name: type("M", (), {"Oracle": Oracle}))
    monkeypatch.setattr(comparison, "from_config", lambda name: (name,))
    assert policies_for("dedup, minify,oracle,truncate", case()) == (
        "dedup,minify",
        Oracle(((0, 3),)),
        "truncate",
    )


def test_a_kit_is_given_the_prices_of_the_class_for_every_model():
    store = open_store("sqlite://")
    kit = kit_for(store, (), at_price("24"), Clock(5.0))
    assert kit.clock() == 5.0
    assert [(one.read, one.write) for one in map(kit.tariff, ("gpt-5", ""))] == [(0.05, 1.25)] * 2
    store.close()


def test_there_is_a_replay_for_each_class_but_where_nothing_is_decided(monkeypatch):
    made = []
    monkeypatch.setattr(
        comparison, "run", lambda case, name, policies, one: made.append((name, one.name)) or Ran(name, one)
    )
    compare(case(), ["observe", "eden"], [at_price("3"), at_price("9")])
    assert made == [("observe", "3"), ("eden", "3"), ("eden", "9")]


@dataclasses.dataclass(frozen=True)
class Ran:
    policy: str
    price_class: object


def test_a_transcript_that_names_no_model_is_counted_as_an_assumed_one():
    assert case(HISTORY, model="").model == ASSUMED


def test_a_case_knows_its_size_by_all_measures():
    usage = tuple((at, Usage(uncached=size, cached=1000)) for at, size in ((2, 100), (4, 6000), (6, 6100), (8, 6200)))
    made = case(usage=usage)
    assert made.peak_count < 6200 < made.peak < 8000
    assert made.reported == 7200
    assert made.fit.usages == 4
    assert case().peak == case().peak_count
    assert case().reported == 0
