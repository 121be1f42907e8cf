"""What the commands about one request of a session share: its number as an argument, and the moment it names.

Rule: a number below zero counts from the end, and is an argument and not an option.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from ctxgc.cli._journals import find_session, journal

if TYPE_CHECKING:
    from ctxgc.lab.moments import Moment
    from ctxgc.store import Store
    from ctxgc.wire.codec import Codec

F = TypeVar("F", bound=Callable[..., object])
SETTINGS = {"ignore_unknown_options": True}
"""Of a command with such an argument: ``-1`` is no option."""


def turn_argument(function: F) -> F:
    """The arguments SESSION and TURN."""
    turn = click.argument("turn", type=int, default=-1)
    return click.argument("session")(turn(function))


def find_moment(store: Store, session: str, turn: int) -> tuple[bytes, Moment]:
    """The key of a session, and the request asked for. Raises ``InputError``."""
    from ctxgc.lab.moments import moment

    key = find_session(store, session).key
    return key, moment([entry for _, entry in journal(store, key)], turn)


def codec_for(moment: Moment) -> Codec:
    """The codec of the session. Raises ``InputError``."""
    from ctxgc.cli._journals import codec_of
    from ctxgc.core.journal import Open

    return codec_of(next((entry.codec for entry in moment.before if isinstance(entry, Open)), ""))


def many(count: int, what: str) -> str:
    """So many of something, in its number."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def amount(value: float, *, usd: bool) -> str:
    """An amount in a tariff's unit: in USD, or in prices of one input token where it has no other."""
    return f"{value:,.4f} USD" if usd else f"{value:,.0f}"
