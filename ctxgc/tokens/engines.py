"""Tokenizers behind one seam: text in, number of tokens out.

Rule: an engine counts special-token strings as the ordinary text they are, takes pieces of bounded size, and
loading one never fails: when none can be loaded the answer is an estimate that carries the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from .ranks import load_encoding

EngineName = Literal["auto", "toktok", "tiktoken"]

BYTES_PER_TOKEN = 3.5
"""Of an estimate. Measured with o200k_base: English 4.2, code 4.3, JSON 3.2, Chinese 3.9, directory listings 2.3."""


class Engine(Protocol):
    """Counts the tokens of one piece of text that has no lone surrogates."""

    @property
    def name(self) -> str:
        """What counts."""

    @property
    def problem(self) -> str:
        """Why it only estimates; empty where it does not."""

    def __call__(self, text: str) -> int:
        """The number of tokens of `text`."""


@dataclass(frozen=True, slots=True)
class TokenEngine:
    """A real tokenizer; a piece it breaks on is estimated, so that no text can stop a request."""

    name: str
    tally: Callable[[str], int]
    problem: str = ""

    def __call__(self, text: str) -> int:
        """The number of tokens of `text`."""
        try:
            return self.tally(text)
        except Exception:  # an engine's error on one text: no count is worth failing for
            return estimate(text)
        except BaseException as fault:
            # Rust panics arrive as a BaseException of this name; cancellation and interrupts are not ours to stop.
            if type(fault).__name__ != "PanicException":
                raise
            return estimate(text)


@dataclass(frozen=True, slots=True)
class EstimateEngine:
    """The fallback when no tokenizer can be loaded: UTF-8 bytes over `BYTES_PER_TOKEN`."""

    problem: str
    name: str = "estimate"

    def __call__(self, text: str) -> int:
        """An estimate of the number of tokens of `text`."""
        return estimate(text)


def estimate(text: str) -> int:
    """Tokens of `text` by its size alone: UTF-8 bytes over `BYTES_PER_TOKEN`, rounded up; 0 for no text."""
    return int(-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN))


def load_engine(encoding: str, choice: EngineName = "auto", folder: Path | None = None) -> Engine:
    """An engine for `encoding`: toktok when installed, else tiktoken; `choice` asks for one of them.

    `folder` replaces litellm's folder of rank files (toktok has its own compiled in). Never raises: when nothing
    loads, the engine is an `EstimateEngine` whose `problem` says why.
    """
    loaders: dict[str, Callable[[], Engine]] = {
        "toktok": lambda: _toktok(encoding),
        "tiktoken": lambda: _tiktoken(encoding, folder),
    }
    problems = []
    for name in loaders if choice == "auto" else (choice,):
        try:
            return loaders[name]()
        except Exception as error:
            problems.append(f"{name}: {error}")
    return EstimateEngine("; ".join(problems))


@cache
def shared_engine(encoding: str, choice: EngineName) -> Engine:
    """`load_engine` once per process: an encoding takes about 0.3 s and 80 MB, and never changes."""
    return load_engine(encoding, choice)


def _toktok(encoding: str) -> Engine:
    import toktok

    # The public batch_count() costs about 28 us a call, this 0.2 us; should it go away, tiktoken takes over.
    tokenizer = toktok._encoding(encoding)
    return TokenEngine("toktok", tokenizer.count)


def _tiktoken(encoding: str, folder: Path | None) -> Engine:
    encode = load_encoding(encoding, folder).encode_ordinary
    return TokenEngine("tiktoken", lambda text: len(encode(text)))
