"""Figures as the page words them, said a second time in Python."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

NONE = "–"


def _minus(text: str) -> str:
    return text.replace("-", "−")


def whole(value: float | None) -> str:
    if value is None:
        return NONE
    rounded = Decimal(value).quantize(Decimal(1), ROUND_HALF_UP) + 0  # no minus before nought
    return _minus(f"{rounded:,}")


def share(value: float | None) -> str:
    if value is None:
        return NONE
    tenths = (Decimal(value) * 100).quantize(Decimal("0.1"), ROUND_HALF_UP) + 0
    return _minus(f"{tenths:,}".removesuffix(".0")) + "%"


def dollars(value: float | None) -> str:
    if value is None:
        return NONE
    size = abs(value)
    decimals = 2 if size >= 1 or size == 0 else min(8, 3 - math.floor(math.log10(size)))
    return ("−$" if value < 0 else "$") + f"{Decimal(size).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"


def clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(math.floor(seconds), UTC):%H:%M:%S}" if seconds > 0 else NONE


def moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(math.floor(seconds), UTC):%Y-%m-%d %H:%M:%S}" if seconds > 0 else NONE
