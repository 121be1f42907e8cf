"""What the scripted shell and development server print: test runs, and lists of records as indented JSON.

Rule: a test run names the tests that are in the files at that moment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from ctxgc.demo.logs import noise
from ctxgc.demo.workspace import Files

_TEST = re.compile(r"(?:@pytest\.mark\.parametrize\(\"\w+\", \[(.*)\]\)\n)?(?:async )?def (test_\w+)\(")
_WIDTH = 80
_CARRIERS = ("dhl", "dpd", "gls", "ups")


def pytest_run(
    paths: Sequence[str], seconds: str, failed: Mapping[str, str] | None = None, *, verbose: bool = False
) -> Callable[[Files], str]:
    """A run of pytest over test files: ``failed`` has what is printed for each test that fails."""

    def run(files: Files) -> str:
        broken = failed or {}
        tests = [(path, test) for path in paths for test in _tests(files[path])]
        lines = _verbose(tests, broken) if verbose else _dots(paths, tests, broken)
        parts = [_rule("test session starts"), _HEADER, f"collected {len(tests)} items\n", "\n", *lines, "\n"]
        if broken:
            parts.append(_rule("FAILURES"))
            parts += [_rule(test, "_") + "\n" + text + "\n" for test, text in broken.items()]
            parts.append(_rule("short test summary info"))
            parts += [f"FAILED {path}::{test}\n" for path, test in tests if test in broken]
        return "".join([*parts, _rule(_summary(len(tests), len(broken), seconds))])

    return run


def invoices(count: int) -> str:
    """``GET /api/invoices?limit=...``."""
    return _page([_invoice(number) for number in range(count)], count)


def shipments(count: int) -> str:
    """``GET /api/shipments?limit=...``; some have not been handed over."""
    return _page([_shipment(number) for number in range(count)], count)


_HEADER = """platform linux -- Python 3.12.8, pytest-8.3.4, pluggy-1.5.0
rootdir: /app
configfile: pyproject.toml
plugins: asyncio-0.25.3, aiohttp-1.1.0
asyncio: mode=Mode.AUTO, asyncio_default_fixture_loop_scope=function
"""


def _tests(text: str) -> Iterator[str]:
    for values, name in _TEST.findall(text):
        if values:
            yield from (f"{name}[{value}]" for value in re.findall(r'"([^"]*)"', values))
        else:
            yield name


def _rule(title: str, line: str = "=") -> str:
    return f" {title} ".center(_WIDTH, line) + "\n"


def _verbose(tests: Sequence[tuple[str, str]], failed: Mapping[str, str]) -> Iterator[str]:
    for number, (path, test) in enumerate(tests, 1):
        word = "FAILED" if test in failed else "PASSED"
        yield f"{f'{path}::{test} {word}':<{_WIDTH - 7}} [{100 * number // len(tests):>3}%]\n"


def _dots(paths: Sequence[str], tests: Sequence[tuple[str, str]], failed: Mapping[str, str]) -> Iterator[str]:
    done = 0
    for path in paths:
        marks = "".join("F" if test in failed else "." for at, test in tests if at == path)
        done += len(marks)
        yield f"{f'{path} {marks}':<{_WIDTH - 7}} [{100 * done // len(tests):>3}%]\n"


def _summary(tests: int, failed: int, seconds: str) -> str:
    words = [f"{failed} failed"] if failed else []
    return f"{', '.join([*words, f'{tests - failed} passed'])} in {seconds}s"


def _page(items: Sequence[Mapping[str, object]], limit: int) -> str:
    return json.dumps({"items": items, "limit": limit, "offset": 0}, indent=2)


def _invoice(number: int) -> Mapping[str, object]:
    net = Decimal(noise("net", number) % 30_000 + 900) / 100
    tax = (net * Decimal("0.19")).quantize(Decimal("0.01"))
    return {
        "id": number + 1,
        "order_id": 4100 + number * 3,
        "number": f"R-2025-{number + 1:05}",
        "net": f"{net:.2f}",
        "tax": f"{tax:.2f}",
        "gross": f"{net + tax:.2f}",
        "issued_at": f"2025-03-{10 + number // 24:02}T{number % 24:02}:{noise('minute', number) % 60:02}:00+00:00",
    }


def _shipment(number: int) -> Mapping[str, object]:
    waiting = number % 6 == 4
    day = f"2025-03-{8 + number // 16:02}T{7 + number % 12:02}:{noise('handed', number) % 60:02}:00+00:00"
    return {
        "id": number + 1,
        "order_id": 4100 + number * 3,
        "carrier": _CARRIERS[noise("carrier", number) % len(_CARRIERS)],
        "tracking": f"{noise('tracking', number) % 10**12:012}",
        "status": "label_printed" if waiting else "in_transit" if number % 2 else "delivered",
        "fee": "4.90" if number % 3 else "9.90",
        "handed_over_at": None if waiting else day,
    }
