"""What a model is asked and what it said: the seam between this package and whatever calls the model.

Rule: an asker never raises; what went wrong is in what it returns, on one line, without secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Ask:
    """One question. ``messages`` are those of a chat completion, ``schema`` the JSON schema that the answer follows.

    ``max_tokens`` bounds the answer, ``timeout`` (seconds) the whole of it. Without ``api_base`` and ``api_key`` the
    provider's own are used.
    """

    model: str
    messages: tuple[dict[str, str], ...]
    schema: Mapping[str, object]
    max_tokens: int
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: its ``text``, why it ended (``stop`` when it is complete), what it took in tokens.

    ``calls`` says that the model called a tool; ``error`` that there is no answer, and why.
    """

    text: str
    finish: str
    model: str = ""
    input: int = 0
    output: int = 0
    error: str = ""
    calls: bool = False


Asker = Callable[[Ask], Said]

_NAME, _ERROR, _TOKENS = 200, 300, 10**9


def plain(said: object) -> Said:
    """An answer as it may be journalled, whatever an application's asker gave: only its ``text`` is as it came."""
    if not isinstance(said, Said):
        return Said("", "error", error="the asker gave no answer")
    return replace(
        said,
        finish=_line(said.finish, _NAME),
        model=_line(said.model, _NAME),
        input=_tokens(said.input),
        output=_tokens(said.output),
        error=_line(said.error, _ERROR),
    )


def _line(text: object, limit: int) -> str:
    """On one line, and such that UTF-8 can carry it."""
    return " ".join(str(text or "")[: 4 * limit].encode("utf-8", "replace").decode().split())[:limit]


def _tokens(count: object) -> int:
    return min(max(count, 0), _TOKENS) if isinstance(count, int) else 0
