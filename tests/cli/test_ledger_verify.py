"""What ``--verify`` names, and what it does not."""

from __future__ import annotations

import json

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.cli._ledger_verify import verifiers
from ctxgc.core.bookings import Artifact
from ctxgc.errors import NotVerified
from ctxgc.ledger import Voucher

SPECS = {
    "quotes=a=b": ("quotes", {"text": "a=b"}),
    "number=1,234.5": ("number_equals", {"near": "", "value": "1234.5"}),
    "number=3@passed@end": ("number_equals", {"near": "passed@end", "value": "3"}),
    "json=a.b[0]=3": ("json_path_equals", {"path": "a.b[0]", "value": 3}),
    "json=a=b=c": ("json_path_equals", {"path": "a", "value": "b=c"}),
    'json=["a=b"].c=true': ("json_path_equals", {"path": '["a=b"].c', "value": True}),
    'json=a="3"': ("json_path_equals", {"path": "a", "value": "3"}),
    "json=a=NaN": ("json_path_equals", {"path": "a", "value": "NaN"}),
    "json=a=": ("json_path_equals", {"path": "a", "value": ""}),
    "json=a=1e99999999999999999999": ("json_path_equals", {"path": "a", "value": "1e99999999999999999999"}),
    "json==[1]": ("json_path_equals", {"path": "", "value": [1]}),
    "exit=0": ("exit_status", {"expected": 0}),
    "exit=-9": ("exit_status", {"expected": -9}),
    "file_exists": ("file_exists", {"path": None}),
    "reads_back": ("reads_back", {}),
}
BAD = [
    "", "quotes", "quotes=", "quotes=  ", "number", "number=", "number=x", "number=@near", "number=inf", "json=a",
    "json=[=1", "json=a[x]=1", "exit", "exit=", "exit=x", "exit=0x1", "exit=٣", "exit=" + "9" * 5000, "file_exists=x",
    "reads_back=", "said_so=yes", "Quotes=a", "=x",
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_names_a_verifier_and_what_it_is_asked(spec):
    (found,) = verifiers([spec])
    name, asked = SPECS[spec]
    assert (found.name, json.loads(found.asked)) == (name, asked)


@pytest.mark.parametrize("spec", BAD)
def test_anything_else_is_a_usage_error_of_one_line(spec):
    with pytest.raises(click.UsageError) as error:
        verifiers([spec])
    assert "\n" not in error.value.message
    assert len(error.value.message) < 400


def test_several_are_taken_in_order_and_none_is_refused():
    assert [one.name for one in verifiers(["exit=0", "quotes=a"])] == ["exit_status", "quotes"]
    with pytest.raises(click.UsageError, match="no fact without evidence"):
        verifiers([])


@given(st.sampled_from(["", "quotes=", "number=", "json=", "exit="]), st.text())
def test_no_text_is_anything_but_a_verifier_or_a_usage_error(form, text):
    try:
        assert len(verifiers([form + text])) == 1
    except click.UsageError:
        pass


@pytest.mark.parametrize("text", ["[" * 100_000, '["' + "a" * 100_000, "a" * 100_000, "[1]" * 100_000])
def test_long_specs_are_refused_and_nothing_worse(text):
    with pytest.raises(click.UsageError):
        verifiers([f"json={text}"])


def test_all_behind_the_path_is_the_value_however_long():
    (found,) = verifiers([f"json={'=' * 100_000}"])
    assert found.name == "json_path_equals"


def test_a_whole_number_of_any_length_is_a_number():
    (found,) = verifiers([f"json=={'1' * 5_000}"])
    content = f"{'1' * 5_000}".encode()
    artifact = Artifact(0, id="a" * 16, type="query", ref="q", hash="", size=5_000, lines=1)
    assert found(Voucher(artifact, content)) == (0, 5_000)
    with pytest.raises(NotVerified):
        found(Voucher(artifact, content[:-1] + b"2"))
