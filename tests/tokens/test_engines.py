from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.tokens.engines import TokenEngine, estimate, load_engine


def engine_raising(fault: BaseException) -> TokenEngine:
    def tally(_: str) -> int:
        raise fault

    return TokenEngine("broken", tally)


PanicException = type("PanicException", (BaseException,), {})  # named and rooted as the one from Rust is


@pytest.mark.parametrize("fault", [PanicException(), ValueError(), RecursionError(), MemoryError()])
def test_a_piece_that_breaks_the_tokenizer_is_estimated(fault):
    assert engine_raising(fault)("seven bytes more") == estimate("seven bytes more") == 5


@pytest.mark.parametrize(
    "fault", [KeyboardInterrupt(), SystemExit(), GeneratorExit(), asyncio.CancelledError(), BaseException()]
)
def test_what_must_stop_the_program_is_passed_on(fault):
    with pytest.raises(type(fault)):
        engine_raising(fault)("text")


def test_text_that_makes_tiktoken_panic_is_survived():
    # The hazard the guard and the pieces are for; in a bare call this raises, or some day simply counts.
    assert load_engine("o200k_base", "tiktoken")(" " * 1_000_000) > 0


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_engines_agree(encoding, corpora):
    pytest.importorskip("toktok")
    fast, plain = load_engine(encoding, "toktok"), load_engine(encoding, "tiktoken")
    assert (fast.name, plain.name) == ("toktok", "tiktoken")
    for name, text in corpora.items():
        assert fast(text) == plain(text), name
    assert fast("<|endoftext|>") == plain("<|endoftext|>") == 7


@pytest.mark.parametrize("choice", ["auto", "toktok", "tiktoken"])
def test_without_a_tokenizer_counts_are_estimates_that_say_why(tmp_path: Path, choice, no_network):
    engine = load_engine("no_such_encoding", choice, tmp_path)
    assert engine.name == "estimate"
    assert engine.problem
    assert engine("1234567") == 2


def test_a_missing_rank_file_is_named_in_the_problem(tmp_path: Path, no_network):
    engine = load_engine("o200k_base", "tiktoken", tmp_path)
    assert engine.name == "estimate"
    assert str(tmp_path) in engine.problem


@settings(deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_an_estimate_is_positive_for_any_text(text):
    assert (estimate(text) > 0) == bool(text)
