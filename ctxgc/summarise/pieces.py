"""A span in pieces that a summariser's window can hold.

Rule: pieces end between turns; a turn that is too long for one ends between messages; only a message that is too long
by itself is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ctxgc.core.record import Original
from ctxgc.summarise.prompt import cut, labelled, prompt, seen

Count = Callable[[str], int]

_NONCE = "0" * 12
_LEAST = 64
"""Characters of an original that are left of it, however small the room."""


def pieces(originals: Sequence[Original], count: Count, room: int) -> list[list[Original]]:
    """The span, split so that the prompt for each piece takes at most ``room`` tokens by ``count``.

    Of messages that are larger than that, the texts are cut as far as they have to be; if the frame of the prompt alone
    is larger, each piece is as small as can be.
    """
    free = room - tokens((), count)
    found: list[list[Original]] = []
    spent = 0
    for unit in _units(originals, count, free):
        size = sum(_size(one, count) for one in unit)
        if not found or spent + size > free:
            found.append([])
            spent = 0
        found[-1] += unit
        spent += size
    return [part for piece in found for part in _halved(piece, count, room)]


def tokens(originals: Sequence[Original], count: Count) -> int:
    """What the prompt for these originals takes."""
    return sum(count(message["content"]) for message in prompt(originals, ()))


def _size(one: Original, count: Count) -> int:
    return count(labelled(one, _NONCE)) + 2 if seen(one) else 0


def _units(originals: Sequence[Original], count: Count, free: int) -> Iterator[list[Original]]:
    """What stays together: turns, or the messages of those that are too long."""
    for _, turn in groupby(originals, key=lambda one: one.turn):
        unit = list(turn)
        if sum(_size(one, count) for one in unit) <= free:
            yield unit
        else:
            yield from (_shortened(message, count, free) for message in _messages(unit))


def _messages(originals: Sequence[Original]) -> Iterator[list[Original]]:
    for _, message in groupby(originals, key=lambda one: (one.node, one.cell if one.node < 0 else -1)):
        yield list(message)


def _shortened(message: list[Original], count: Count, free: int) -> list[Original]:
    """The originals of one message, with their texts cut so that they fit: by bisection on the characters of each."""
    low, high = _LEAST, max((len(one.text) for one in message), default=0)
    if sum(_size(one, count) for one in message) <= free:
        return message
    while low < high:
        limit = (low + high + 1) // 2
        if sum(_size(one, count) for one in _cut(message, limit)) <= free:
            low = limit
        else:
            high = limit - 1
    return _cut(message, low)


def _cut(message: Sequence[Original], limit: int) -> list[Original]:
    return [one if len(one.text) <= limit else replace(one, text=cut(one.text, limit)) for one in message]


def _halved(piece: list[Original], count: Count, room: int) -> Iterator[list[Original]]:
    """A piece, or parts of it where the whole takes more than the sum of its parts did."""
    starts = [at for at in range(1, len(piece)) if piece[at].node != piece[at - 1].node or piece[at].node < 0]
    if not starts or tokens(piece, count) <= room:
        yield piece
        return
    middle = min(starts, key=lambda at: abs(at - len(piece) / 2))
    yield from _halved(piece[:middle], count, room)
    yield from _halved(piece[middle:], count, room)
