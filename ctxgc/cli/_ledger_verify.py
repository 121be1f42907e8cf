"""What ``--verify`` names: a verifier of the ledger's, and what it is asked.

Rule: what cannot be understood is said in one line, with all the forms there are, before anything is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ctxgc.ledger import Verifier

FORMS = "quotes=TEXT, number=VALUE[@NEAR], json=PATH=VALUE, exit=N, file_exists, reads_back"
_JSON = re.compile(r'((?:\["(?:[^"\\]|\\.)*+"\]|[^="\[\]]|\[-?[0-9]++\])*+)=(.*)\Z', re.DOTALL)
_STATUS = re.compile(r"-?[0-9]{1,10}\Z", re.ASCII)


def verifiers(specs: Sequence[str]) -> list[Verifier]:
    """The verifiers that these name. Raises ``UsageError`` for none, and ``BadParameter`` for what is not one."""
    if not specs:
        raise click.UsageError(f"no fact without evidence: give --verify with one of {FORMS}")
    return [_verifier(spec) for spec in specs]


def _verifier(spec: str) -> Verifier:
    name, given, asked = spec.partition("=")
    make = _MAKE.get((name, bool(given)))
    if make is None:
        raise _bad(spec, f"use one of {FORMS}")
    try:
        return make(asked)
    except ValueError as error:
        raise _bad(spec, str(error)) from None


def _bad(spec: str, why: str) -> click.BadParameter:
    shown = spec if len(spec) <= 60 else f"{spec[:60]}…"
    return click.BadParameter(f"{shown!r} names no verifier: {why}", param_hint="--verify")


def _quotes(asked: str) -> Verifier:
    from ctxgc.ledger import quotes

    if not asked.strip():
        raise ValueError("give the TEXT to find")
    return quotes(asked)


def _number(asked: str) -> Verifier:
    from ctxgc.ledger import number_equals

    value, _, near = asked.partition("@")
    return number_equals(value, near)


def _at_path(asked: str) -> Verifier:
    from ctxgc.ledger import json_path_equals

    found = _JSON.match(asked)
    if found is None:
        raise ValueError("give json=PATH=VALUE, such as json=totals.passed=42")
    return json_path_equals(found[1], _value(found[2]))


def _value(text: str) -> object:
    """JSON where it is any, with exact numbers; else the text itself, so that plain words need no quotes."""
    try:
        return json.loads(text, parse_float=Decimal, parse_int=_whole, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError):
        return text


def _whole(digits: str) -> int | Decimal:
    """Python reads no whole numbers of more than some thousand digits."""
    try:
        return int(digits)
    except ValueError:
        return Decimal(digits)


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _exit(asked: str) -> Verifier:
    from ctxgc.ledger import exit_status

    if not _STATUS.match(asked):
        raise ValueError("give the exit status as a number")
    return exit_status(int(asked))


def _file_exists(_asked: str) -> Verifier:
    from ctxgc.ledger import file_exists

    return file_exists()


def _reads_back(_asked: str) -> Verifier:
    from ctxgc.ledger import reads_back

    return reads_back()


_MAKE: dict[tuple[str, bool], Callable[[str], Verifier]] = {
    ("quotes", True): _quotes,
    ("number", True): _number,
    ("json", True): _at_path,
    ("exit", True): _exit,
    ("file_exists", False): _file_exists,
    ("reads_back", False): _reads_back,
}
"""How each is made, by its name and whether something is asked of it."""
