from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxgc.tokens.chunks import LIMIT
from ctxgc.tokens.counter import TextCounter, counter_for
from ctxgc.tokens.engines import load_engine
from ctxgc.tokens.memo import CountMemo

ENGINES = ["tiktoken", "toktok"]
LONG = " a\n=7哈\t😀"


class Recorder:
    """An engine that counts characters and remembers what it was given."""

    name = "recorder"
    problem = ""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, text: str) -> int:
        self.seen.append(text)
        return len(text)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_count_is_that_of_tiktoken_on_the_whole_text(engine, o200k, cl100k, corpora, no_network):
    pytest.importorskip(engine)
    for name, text in corpora.items():
        assert counter_for("gpt-5", engine).count(text) == len(o200k(text)), name
        assert counter_for("gpt-4", engine).count(text) == len(cl100k(text)), name


@settings(deadline=None)
@given(text=st.text(st.characters(codec="ascii") | st.sampled_from("中é😀 \n/'\ud800\udc00\udfff"), max_size=60))
def test_any_text_counts_as_in_tiktoken_even_with_lone_surrogates(o200k, text):
    assert counter_for("gpt-5", "tiktoken").count(text) == len(o200k(text))
    assert counter_for("gpt-5", "toktok").count(text) == len(o200k(text))


def test_special_tokens_in_a_text_are_ordinary_text():
    assert counter_for("gpt-5").count("<|endoftext|>") == 7


@pytest.mark.parametrize("char", LONG)
def test_a_megabyte_of_one_character_is_counted_alike_by_both_engines(char):
    pytest.importorskip("toktok")
    text = char * 1_000_000
    fast, plain = (counter_for("gpt-5", engine).count(text) for engine in ENGINES)
    assert fast == plain
    whole = load_engine("o200k_base", "toktok")(text)
    assert abs(plain - whole) <= 2 * (len(text) // LIMIT)


def test_no_tokenizer_call_is_larger_than_the_limit():
    engine = Recorder()
    for text in ("word " * 50_000, "x" * 50_000, "\n" * 50_000):
        assert TextCounter("any", engine).count(text) == len(text)
    assert max(map(len, engine.seen)) <= LIMIT


def test_a_run_of_one_character_takes_two_calls():
    engine = Recorder()
    TextCounter("any", engine).count("x" * (LIMIT * 20 + 5))
    assert len(engine.seen) == 2


def test_steps_add_up_to_the_count():
    text = "some words " * 10_000
    steps = list(TextCounter("any", Recorder()).steps(text))
    assert len(steps) > 3
    assert sum(steps) == len(text)


def test_a_long_text_is_counted_once():
    engine = Recorder()
    counter = TextCounter("any", engine)
    long, short = "word " * 200, "word"
    assert [counter.count(long), counter.count(long), counter.count(short), counter.count(short)] == [1000, 1000, 4, 4]
    assert engine.seen == [long, short, short]


def test_steps_left_unfinished_are_not_remembered():
    engine = Recorder()
    counter = TextCounter("any", engine)
    text = "some words " * 10_000
    next(counter.steps(text))
    assert counter.count(text) == len(text)


def test_the_memo_does_not_hold_the_texts():
    memo = CountMemo()
    counter = TextCounter("any", lambda text: len(text), memo=memo)
    tracemalloc.start()
    try:
        for number in range(50):
            counter.count(f"{number} " * 50_000)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(memo) == 50
    assert held < 1_000_000


@pytest.mark.parametrize("model", ["gpt-5", "openai/gpt-6-sol", "gpt-4"])
def test_openai_models_are_exact(model):
    counter = counter_for(model)
    assert (counter.exact, counter.reason) == (True, "")


@pytest.mark.parametrize("model", ["claude-opus-5-5", "gemini/gemini-3-pro", "deepseek-chat", "", "any/thing"])
def test_other_models_are_estimates_with_a_reason(model):
    counter = counter_for(model)
    assert counter.encoding == "o200k_base"
    assert not counter.exact
    assert repr(model) in counter.reason


def test_a_counter_without_a_tokenizer_says_so(tmp_path: Path, no_network):
    engine = load_engine("o200k_base", "tiktoken", tmp_path)
    counter = TextCounter("o200k_base", engine, engine.problem)
    assert counter.count("a text of some length") == 6
    assert not counter.exact


SCRIPT = """
import sys
import ctxgc.tokens as tokens
heavy = ("tiktoken", "toktok", "litellm", "msgspec", "requests", "tiktoken_ext", "regex")
print([name for name in heavy if name in sys.modules])
tokens.counter_for("gpt-5", "tiktoken").count("x")
tokens.counter_for("gpt-5").count("x")
tokens.PriceTable.load().price("gpt-5")
print([name for name in ("litellm", "requests", "msgspec") if name in sys.modules])
"""


def test_importing_loads_nothing_and_counting_never_imports_litellm():
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == ["[]", "['msgspec']"]  # msgspec shows that the check sees imports
