"""What a model is asked and what it said: the seam between this package and whatever calls the model.

Rule: an asker never raises; what went wrong is in what it returns, on one line, without secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


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
