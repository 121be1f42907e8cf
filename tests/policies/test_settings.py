"""From settings to policies: tables, presets, names with parameters, and one line for what is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.policies import PolicyError, build, from_config, preset
from ctxgc.policies.dedup import Dedup
from ctxgc.policies.generational import Generational
from ctxgc.policies.items import Items
from ctxgc.policies.minify import Minify
from ctxgc.policies.pin import Pin
from ctxgc.policies.recency import Recency
from ctxgc.policies.truncate import Truncate
from tests.policies.others import Custom, Plain

OTHERS = Custom.__module__


def test_building_with_parameters() -> None:
    tables: list[dict[str, object]] = [
        {"name": "truncate", "budget": 4000, "tools": {"bash": 2000, "*": 0}, "head": 1},
        {"name": "minify", "except_tools": ["x"]},
        {"name": f"{OTHERS}:Custom", "size": 7},
        {"name": f"{OTHERS}:Plain", "size": 8},
    ]
    *typed, plain = build(tables)
    assert typed == [
        Truncate(budget=4000, tools=(("bash", 2000), ("*", 0)), head=1.0),
        Minify(except_tools=("x",)),
        Custom(size=7),
    ]
    assert isinstance(plain, Plain)
    assert plain.size == 8


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"name": "truncat"}, "did you mean 'truncate'?"),
        ({"name": "zzz"}, "there are budget, clear_tool_uses, compact, dedup,"),
        ({"name": "_cuts"}, "unknown policy"),
        ({}, "needs a name"),
        ({"name": 3}, "needs a name"),
        ({"name": "truncate", "budgt": 1}, "unknown parameter 'budgt': did you mean 'budget'?"),
        ({"name": "truncate", "budget": "many"}, "Expected `int`, got `str`"),
        ({"name": "truncate", "budget": True}, "Expected `int`, got `bool`"),
        ({"name": "truncate", "budget": 10}, "at least 64"),
        ({"name": "truncate", "tools": {"bash": "x"}}, "Expected `int`"),
        ({"name": "minify", "except_tools": "Read"}, "Expected `array`"),
        ({"name": "no_such_module:X"}, "No module named"),
        ({"name": f"{OTHERS}:Missing"}, "Missing"),
        ({"name": ":X"}, "':X'"),
        ({"name": "json:loads"}, "json:loads"),
        ({"name": "json:__version__"}, "not a class"),
        ({"name": "decimal:Decimal"}, "not a policy"),
        ({"name": f"{OTHERS}:Plain", "size": -1}, "size is negative"),
        ({"name": f"{OTHERS}:Plain", "sise": 1}, "sise"),
    ],
)
def test_errors_say_what_is_wrong_in_one_line(table: dict[str, object], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        build([table])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_name_a_preset_policies_or_tables() -> None:
    assert from_config("lossless") == (Dedup(), Minify())
    assert from_config("truncate") == (Truncate(),)
    assert from_config("generational") == preset("generational"), "alone it is the preset, not the policy"
    assert from_config("dedup,generational") == (Dedup(), Generational())
    assert from_config("minify, dedup") == (Minify(), Dedup())
    assert from_config("observe", [{"name": "dedup", "min_tokens": 9}]) == (Dedup(min_tokens=9),)
    for wrong in ("edn", "", "minify,edn", "dedup,", "minify,aggressive"):
        with pytest.raises(PolicyError):
            from_config(wrong)


# Parameters in a setting


def test_parameters_follow_the_name_of_a_policy() -> None:
    assert from_config("recency@turns=20") == (Recency(turns=20),)
    assert from_config("recency@turns=20@keep=0.5") == (Recency(turns=20, keep=0.5),)
    assert from_config(" recency @ turns = 20 , dedup") == (Recency(turns=20), Dedup())
    assert from_config("truncate@tools={bash = 2000}@head=1") == (Truncate(tools=(("bash", 2000),), head=1.0),)
    assert from_config('pin@tags=["retrieval:*"]') == (Pin(tags=("retrieval:*",)),)
    assert from_config(f"{OTHERS}:Custom@size=7") == (Custom(size=7),)


def test_parameters_of_a_presets_policies_follow_the_name_of_the_preset() -> None:
    usual, changed = preset("generational"), from_config("generational@items.idle=4@generational.idle=9")
    assert [policy.name for policy in changed] == [policy.name for policy in usual]
    differing = [policy for policy, other in zip(changed, usual, strict=True) if policy != other]
    assert differing == [Items(idle=4), Generational(idle=9)]
    assert from_config("aggressive@truncate.budget=9000")[2] == Truncate(budget=9000)
    assert preset("generational") == usual, "the preset itself stays what it is"


def test_what_a_preset_sets_stays_where_only_another_parameter_is_given() -> None:
    (before,) = (policy for policy in preset("aggressive") if policy.name == "items")
    (after,) = (policy for policy in from_config("aggressive@items.idle=9") if policy.name == "items")
    assert isinstance(before, Items)
    assert after == replace(before, idle=9)
    assert after != Items(idle=9)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("recency@turns", "policy 'recency': 'turns' is not parameter=value"),
        ("recency@turns=", "'turns=' is not parameter=value"),
        ("recency@turns=many", "'turns=many' is not parameter=value"),
        ("recency@turns=1\nkeep=0", "it has several lines"),
        ("recency@turns=" + "9" * 5000, "is not parameter=value"),
        ("recency@turns=" + "[" * 100_000, "is not parameter=value"),
        ("recency@turns=\ud800", "is not parameter=value"),
        ("recency@", "'' is not parameter=value"),
        ("recency@turns=1@turns=2", "policy 'recency': 'turns' is given twice"),
        ("recency@trns=2", "unknown parameter 'trns': did you mean 'turns'?"),
        ("recency@turns=0", "turns is at least 1, not 0"),
        ('recency@turns="20"', "Expected `int`, got `str`"),
        ("recency@turns=true", "Expected `int`, got `bool`"),
        ('recency@name="window"', "policy 'recency': 'name' is no parameter"),
        ("recencey@turns=20", "unknown policy 'recencey': did you mean 'recency'?"),
        ("edn@dedup.min_tokens=9", "unknown preset 'edn': did you mean 'eden'?"),
        ("zzz@x=1", "unknown preset 'zzz'"),
        ("@turns=3", "unknown preset ''"),
        ("generational@idle=3", "preset 'generational': unknown policy 'idle': there are dedup,"),
        ("generational@itms.idle=3", "preset 'generational': unknown policy 'itms': did you mean 'items'?"),
        ("generational@items=3", "policy 'items': unknown parameter ''"),
        ("generational@items.idl=3", "policy 'items': unknown parameter 'idl': did you mean 'idle'?"),
        ('generational@items.name="minify"', "'items.name' is no parameter"),
        ("observe@dedup.min_tokens=9", "preset 'observe': unknown policy 'dedup': there are none"),
        ("dedup,generational@items.idle=4", "'generational' is a preset and stands alone"),
        ("truncate@tools={bash=1,x=2}", "policy 'truncate': 'tools={bash=1' is not parameter=value"),
    ],
)
def test_what_is_wrong_in_a_setting_is_said_in_one_line(setting: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        from_config(setting)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.one_of(st.text(max_size=30), st.text("@=.,:[]{}\"' \n1truncateitms", max_size=30)))
def test_a_setting_of_any_form_gives_policies_or_one_line(text: str) -> None:
    assert len(refusal(text).splitlines()) <= 1


def refusal(setting: str) -> str:
    """What is said about a setting; nothing where it gives policies."""
    try:
        found = from_config(setting)
    except PolicyError as error:
        return str(error)
    return "" if all(callable(policy.propose) for policy in found) else "not\npolicies"


@pytest.mark.parametrize(
    "text", ["generational@items.idle=4,recency", "recency,generational@items.idle=4", "eden,dedup"]
)
def test_a_preset_among_other_names_is_told_from_a_policy(text):
    with pytest.raises(PolicyError, match=r"is a preset and stands alone: name its policies instead \(dedup,"):
        from_config(text)
    assert from_config("generational@idle=4,recency")[0].name == "generational"
