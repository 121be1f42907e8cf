"""What tokens cost, from the price table that the litellm package carries.

Rule: the table is read once, when first asked; a model that is not listed has no price rather than a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .bundled import TokenDataUnavailable, bundled_file, read_data
from .models import price_names

if TYPE_CHECKING:
    from msgspec import Raw

TABLE = "model_prices_and_context_window_backup.json"
MIN_CACHEABLE = 1024
"""Shortest prefix cached, in tokens, where the table has none: OpenAI's, and the commonest of the others."""

_INPUT, _OUTPUT = "input_cost_per_token", "output_cost_per_token"
_READ, _WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_STEP = re.compile(rf"(?:{_INPUT}|{_OUTPUT}|{_READ}|{_WRITE})_above_(\d+)k_tokens$")


class Step(NamedTuple):
    """Prices in USD per token for a request whose whole input is longer than `threshold` tokens."""

    threshold: int
    input: float
    cached_read: float
    cache_write: float
    output: float


@dataclass(frozen=True, slots=True)
class Price:
    """What one model charges, in USD per token, and the limits that go with it."""

    input: float
    cached_read: float
    cache_write: float
    cache_write_1h: float
    output: float
    long_context: tuple[Step, ...] = ()
    max_input_tokens: int | None = None
    min_cacheable: int = MIN_CACHEABLE
    provider: str = ""

    def cost(self, *, uncached: int, cached: int, written: int, output: int) -> float:
        """USD for one request, from the tokens it read uncached, read from and wrote to the cache, and gave out.

        The three kinds of input do not overlap. When their sum exceeds a long-context threshold, every token of
        the request, output included, is charged at that step (OpenAI's and Google's rule).
        """
        step = self.at(uncached + cached + written)
        read = uncached * step.input + cached * step.cached_read + written * step.cache_write
        return read + output * step.output

    def at(self, total_input: int) -> Step:
        """The prices for a request of `total_input` tokens: the highest step it exceeds, else the base."""
        base = Step(0, self.input, self.cached_read, self.cache_write, self.output)
        passed = [step for step in self.long_context if total_input > step.threshold]
        return max(passed, default=base)


class PriceTable:
    """Prices by model name."""

    __slots__ = ("_path", "_rows")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, Raw] | None = None

    @classmethod
    def load(cls, path: Path | None = None) -> PriceTable:
        """The table in the file `path` (litellm's JSON layout), or the one litellm carries.

        Raises `TokenDataUnavailable` when litellm's table is not installed.
        """
        return cls(path or bundled_file(TABLE))

    def price(self, model: str) -> Price | None:
        """The price of `model` under any of its names (`price_names`), or None when it has none per token.

        Raises `TokenDataUnavailable` when the file cannot be read.
        """
        rows = self._load()
        found = (_price(_decode(rows[name])) for name in price_names(model) if name in rows)
        return next((price for price in found if price), None)

    def _load(self) -> dict[str, Raw]:
        if self._rows is None:
            from msgspec import DecodeError, Raw, json

            try:
                # Rows stay undecoded: of thousands of models, a process asks for a few.
                self._rows = json.decode(read_data(self._path), type=dict[str, Raw])
            except DecodeError as error:
                raise TokenDataUnavailable(f"{self._path} is not a price table: {error}") from error
            self._rows.pop("sample_spec", None)
        return self._rows


def _decode(row: Raw) -> Mapping[str, object]:
    from msgspec import json

    value = json.decode(row)
    return value if isinstance(value, dict) else {}


def _price(row: Mapping[str, object]) -> Price | None:
    paid, output = _usd(row, _INPUT), _usd(row, _OUTPUT)
    if paid is None or output is None:
        return None
    write = _usd(row, _WRITE) or paid  # litellm writes 0.0 where a provider does not charge extra
    base = Step(0, paid, _or(_usd(row, _READ), paid), write, output)
    return Price(
        input=paid,
        cached_read=base.cached_read,
        cache_write=write,
        cache_write_1h=_usd(row, f"{_WRITE}_above_1hr") or write,
        output=output,
        long_context=_steps(row, base),
        max_input_tokens=_whole(row, "max_input_tokens"),
        min_cacheable=_whole(row, "prompt_cache_min_tokens") or MIN_CACHEABLE,
        provider=str(row.get("litellm_provider", "")),
    )


def _steps(row: Mapping[str, object], base: Step) -> tuple[Step, ...]:
    matches = filter(None, map(_STEP.match, row))
    return tuple(_step(row, base, thousands) for thousands in sorted({int(match[1]) for match in matches}))


def _step(row: Mapping[str, object], base: Step, thousands: int) -> Step:
    """One step. A cache price that is not listed keeps its ratio to the input price."""
    suffix = f"_above_{thousands}k_tokens"
    paid = _or(_usd(row, _INPUT + suffix), base.input)
    rise = paid / base.input if base.input else 1.0
    return Step(
        thousands * 1000,
        paid,
        _or(_usd(row, _READ + suffix), base.cached_read * rise),
        _usd(row, _WRITE + suffix) or base.cache_write * rise,
        _or(_usd(row, _OUTPUT + suffix), base.output),
    )


def _usd(row: Mapping[str, object], key: str) -> float | None:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) and value >= 0 else None


def _whole(row: Mapping[str, object], key: str) -> int | None:
    value = row.get(key)
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
