"""Odd ones out: the lines or JSON elements that are unlike the many around them, such as one failure among successes.

Rule: a unit is odd by comparison alone, never for what it says to its reader, so nothing can ask to be kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest

from ctxgc.core import _columns, _json_units, _tokens
from ctxgc.core._columns import LEAST, Flags

_COLUMNS = 12
_ENDS = 2
_ALIKE = 0.6
_ALIKE_OF_THREE = 0.8
_BONUS = 0.1

_Rows = Sequence[int]
_Table = Sequence[Sequence[str]]


def odd(units: Sequence[str], most: int = 16) -> tuple[int, ...]:
    """The indices, ascending, of the units that are unlike the others; at most ``most``, the oddest ones.

    Units are lines of a text, or elements of a JSON array or members of an object, with their commas. Fewer than
    eight have no odd one. Values that a few others make up nearly all of (levels, states, permissions, endings, keys,
    types, layouts) are odd where at most 2 % (or two units) have them; numbers where they are ten times as large as all
    others, or as small. Of units that are not alike at all, the few that report an error. Time follows the length.
    """
    return tuple(sorted(oddest(units, most)))


def oddest(units: Sequence[str], most: int = 16) -> tuple[int, ...]:
    """``odd`` with the oddest first: how odd a unit is follows from how rare in bits, log2(1 / share), its value is."""
    rows = [row for row, unit in enumerate(units) if unit and not unit.isspace()]
    if len(rows) < LEAST or most <= 0:
        return ()
    scores: dict[int, float] = {}
    for row, weight in _flags(rows, units):
        best = scores.get(row, 0.0)
        scores[row] = max(best, weight) + _BONUS * min(best, weight)
    return tuple(nlargest(most, scores, key=lambda row: (scores[row], -row)))


def _flags(rows: _Rows, units: Sequence[str]) -> Flags:
    values = _json_units.decoded(rows, units)
    if values is not None:
        yield from _json_units.flags(values)
        return
    lines = _tokens.unnumbered([units[row][: _tokens.LOOKED_AT].rstrip() for row in rows])
    if len(set(lines)) == 1:
        return
    mark = _tokens.delimiter(lines)
    table = [_tokens.tokens(line, mark) for line in lines]
    kinds = _Once(_tokens.kind)
    if mark or _alike(lines, table, kinds):
        yield from _line_flags(rows, units, lines, table, kinds)
    else:
        reporting = [row for row, line in zip(rows, lines, strict=True) if _tokens.reports(line)]
        yield from _columns.pooled(len(rows), ((row, 1.0) for row in reporting))


class _Once(dict[str, str]):
    """A function of texts, asked once for each text."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self.function = function

    def __missing__(self, text: str) -> str:
        found = self[text] = self.function(text)
        return found


def _alike(lines: Sequence[str], table: _Table, kinds: _Once) -> bool:
    """Whether most lines have the same layout, or the same thing in some column: a word, or one kind of thing."""
    columns = [[_tokens.shape(line) for line in lines]]
    for place in (*range(_COLUMNS // 2), -1, -2):
        columns.append([kinds[row[place]] for row in table if -len(row) <= place < len(row)])
    for column in columns:
        top = [times for _, times in Counter(column).most_common(3)]
        if top and (top[0] >= _ALIKE * len(table) or sum(top) >= _ALIKE_OF_THREE * len(table)):
            return True
    return False


def _line_flags(rows: _Rows, units: Sequence[str], lines: Sequence[str], table: _Table, kinds: _Once) -> Flags:
    # A word for a failure may stand anywhere in a line, and tells more than any column.
    failures = _Once(_tokens.failure)
    told = [next((word for token in row if (word := failures[token])), "") for row in table]
    yield from ((row, 2 * weight) for row, weight in _columns.rare(rows, told))
    yield from _columns.rare(rows, [len(row) for row in table], most_common=3)
    yield from _columns.rare(rows, [len(line) - len(line.lstrip()) for line in lines], most_common=3)
    yield from _columns.rare(rows, [_tokens.shape(line) for line in lines])
    yield from _columns.rare(rows, [" ".join([kinds[token] for token in row]) for row in table])
    yield from _columns.outlying(rows, [float(len(units[row])) for row in rows], low=False)
    yield from _pair_flags(rows, lines)
    for place in (*range(_COLUMNS), *range(-_ENDS, 0)):
        having = [at for at, row in enumerate(table) if -len(row) <= place < len(row)]
        if len(having) < _ALIKE * len(rows):
            continue
        yield from _token_flags([rows[at] for at in having], [table[at][place] for at in having], kinds)


def _token_flags(rows: _Rows, column: Sequence[str], kinds: _Once) -> Flags:
    """What is odd in one column of text: a value, a kind, a path's ending or folder, a number."""
    yield from _columns.rare(rows, column)
    yield from _columns.begun(rows, column)
    yield from _columns.numeric(rows, column)
    looks = [kinds[token] for token in column]
    yield from _columns.rare(rows, looks)
    yield from _tokens.path_flags(rows, column, looks)


def _pair_flags(rows: _Rows, lines: Iterable[str]) -> Flags:
    """What is odd among the values of each key, and which lines have other keys than the rest."""
    found: dict[str, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    keys = []
    for row, line in zip(rows, lines, strict=True):
        pairs = _tokens.pairs(line)
        keys.append(tuple(key for key, _ in pairs))
        for key, value in pairs:
            found[key][0].append(row)
            found[key][1].append(value)
    yield from _columns.rare(rows, keys, most_common=3)
    for having, values in found.values():
        if len(having) >= LEAST:
            yield from _columns.rare(having, values)
            yield from _columns.numeric(having, values)
