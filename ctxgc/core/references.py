"""Which earlier cells a new text refers to: an index that grows by a cell at a time and is asked by a text at a time.

Rule: nothing refers by likeness alone. A quote is compared word by word, a term is found standing in the cell, a
garbled quote is aligned with what it may be taken from; what many cells have points at none of them.

Of a cell the first 400,000 characters are looked at and the rest not at all; of a text that refers, the first 60,000.
Paraphrases and rounded numbers are not found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rapidfuzz.fuzz import partial_ratio

from ctxgc.core import terms
from ctxgc.core._common import COMMON
from ctxgc.core._quotes import Quoting
from ctxgc.core._shingles import STRIDE, WIDTH, Shingles, shingles
from ctxgc.core._texts import Text, occurrences

READ = 400_000
"""Characters of a cell that are looked at."""
ASKED = 60_000
"""Characters of a referring text that are looked at."""

_SLICE = 20_000
_DEPTH = 5
_EVIDENCE = 60
_OFFSETS = 256
_TERMS = 300
_KEY = (1 << 60) - 1
_BITS = 20
_CELL = (1 << _BITS) - 1
_CARRIERS = 3
_MANY = 0
_WINDOW = 30
_VOTES = 2
_GARBLED = 8
_RARE = 2.5
_ALIKE = 80
_SPAN = 300


@dataclass(frozen=True, slots=True)
class Reference:
    """A cell that is referred to.

    ``at`` are the offsets in the cell's text, in characters, where what is referred to stands: sorted, at most 256 of
    them. ``evidence`` is the term, or the beginning of the quote, in at most 60 characters.
    """

    cell: int
    at: tuple[int, ...]
    evidence: str


@dataclass(slots=True)
class _Found:
    evidence: str
    at: set[int] = field(default_factory=set)


class References:
    """The index. Texts are kept in it once; with them it takes about six times their size."""

    __slots__ = ("_cells", "_firsts", "_shingles", "_terms", "_texts")

    def __init__(self) -> None:
        self._cells: set[int] = set()
        self._texts: list[Text] = []
        self._firsts: list[int] = []
        self._shingles = Shingles()
        # Hash of a term to the numbers (from 1) of the texts that have it, 20 bits each; _MANY where they are too many.
        self._terms: dict[int, int] = {}

    def background(self, text: str) -> None:
        """What the system or the user says is known anyway: to repeat it refers to no cell."""
        deque(self._take(None, text), 0)

    def add(self, cell: int, text: str) -> None:
        """Index what ``text`` introduces. A cell that is known already is left as it is."""
        deque(self.adding(cell, text), 0)

    def adding(self, cell: int, text: str) -> Iterator[None]:
        """``add`` in slices: yields about every 20,000 characters. One cell at a time; ``refer`` works in between."""
        if cell not in self._cells:
            self._cells.add(cell)
            yield from self._take(cell, text)

    def refer(self, text: str) -> tuple[Reference, ...]:
        """What ``text``, of the agent, refers to, by cell. Call arguments are taken as the JSON they are."""
        text = terms.decoded(terms.flat(text[:ASKED]))[0]
        surfaces = terms.words(text)
        lowered = list(map(str.lower, surfaces))
        found: dict[int, _Found] = {}
        carriers = {word: self._terms.get(hash(word) & _KEY, _MANY) for word in dict.fromkeys(lowered)}
        quoted = self._quoted(surfaces, lowered, carriers, found)
        self._named(text, found)
        self._garbled(lowered, {word: carriers[word] for word in carriers if word not in quoted}, found)
        return tuple(sorted(map(self._reference, found, found.values()), key=lambda one: one.cell))

    def _take(self, cell: int | None, text: str) -> Iterator[None]:
        known = Text(cell, text[:READ], len(self._shingles) + 1)
        if len(self._texts) == _CELL:
            return
        self._texts.append(known)
        self._firsts.append(known.first)
        number = _MANY if cell is None else len(self._texts)
        end = 0
        rest: list[str] = []
        while end < len(known.text):
            begin = end
            end, read = known.read(begin, _SLICE)
            rest += map(str.lower, read)
            self._own(terms.introduced(known.text[begin:end], rest), number)
            yield from self._shingles.grow(len(rest) // STRIDE)
            self._shingles.add(shingles(rest, STRIDE))
            rest = rest[max(0, (len(rest) - WIDTH) // STRIDE + 1) * STRIDE :]
            yield

    def _own(self, keys: Iterable[str], number: int) -> None:
        """Book the text ``number`` as a carrier of the terms."""
        known = self._terms
        for key in map(hash, keys):
            carriers = known.setdefault(key & _KEY, number)
            if carriers != number and carriers != _MANY:
                known[key & _KEY] = _with(carriers, number)

    def _quoted(
        self, surfaces: Sequence[str], lowered: Sequence[str], carriers: Mapping[str, int], found: dict[int, _Found]
    ) -> set[str]:
        """Note what is quoted; returns the words of the quotes."""
        quoted: set[str] = set()
        seeds = self._shingles.places(shingles(lowered, 1), _DEPTH)
        weights = {word: _RARE if packed else _weight(word) for word, packed in carriers.items()}
        quoting = Quoting(lowered, map(weights.__getitem__, lowered))
        for quote in quoting.quotes(seeds, lambda place: bisect_right(self._firsts, place) - 1, self._texts):
            stop = min(quote.stop, quote.start + _EVIDENCE)
            _note(found, quote.text, " ".join(surfaces[quote.start : stop]), quote.at)
            quoted.update(lowered[quote.start : quote.stop])
        return quoted

    def _named(self, text: str, found: dict[int, _Found]) -> None:
        known = ((key, surface, self._terms.get(hash(key) & _KEY)) for key, surface in terms.mentioned(text).items())
        for key, surface, packed in islice((one for one in known if one[2]), _TERMS):
            numbers = _unpacked(packed or _MANY)
            if len(numbers) <= (1 if len(key) == 3 else 2):
                for number in numbers:
                    _note(found, number, surface, self._texts[number].find(key, surface))

    def _garbled(self, lowered: Sequence[str], carriers: Mapping[str, int], found: dict[int, _Found]) -> None:
        """Quotes with errors: rare words of one text close together, around which both texts are alike."""
        votes: dict[int, dict[str, int]] = {}
        last = dict(zip(lowered, range(len(lowered)), strict=True))
        for word in [word for word, packed in carriers.items() if packed and word.isalpha()]:
            for number in _unpacked(carriers[word]):
                votes.setdefault(number, {})[word] = last[word]
        ranked = sorted(votes.items(), key=lambda vote: (-len(vote[1]), -vote[0]))
        for number, places in [one for one in ranked if one[0] not in found][:_GARBLED]:
            near = _closest([(at, word) for word, at in places.items()], _WINDOW)
            if len({word for _, word in near}) >= _VOTES:
                start, stop = max(0, near[0][0] - 3), near[-1][0] + 4
                self._align(lowered[start:stop], [word for _, word in near], number, found)

    def _align(self, ours: Sequence[str], rare: Sequence[str], number: int, found: dict[int, _Found]) -> None:
        low = self._texts[number].text.lower()
        if len(low) != len(self._texts[number].text):
            return
        places = [(at, word) for word in rare for at, _ in zip(occurrences(low, word), range(4), strict=False)]
        near = _closest(places, _SPAN)
        if not near:
            return
        theirs = terms.words(low[max(0, near[0][0] - 60) : near[-1][0] + 80])
        if partial_ratio(" ".join(ours), " ".join(theirs)) >= _ALIKE:
            _note(found, number, " ".join(ours), [at for at, _ in near])

    def _reference(self, number: int, found: _Found) -> Reference:
        text = self._texts[number]
        at = tuple(sorted(map(text.original, found.at))[:_OFFSETS])
        return Reference(text.cell if text.cell is not None else -1, at, found.evidence)


def _with(carriers: int, number: int) -> int:
    """Packed ``carriers``, of which the last is in the highest bits, and one more."""
    bits = (carriers.bit_length() - 1) // _BITS * _BITS
    if carriers >> bits == number:
        return carriers
    return _MANY if number == _MANY or bits + _BITS >= _CARRIERS * _BITS else carriers | number << (bits + _BITS)


def _unpacked(packed: int) -> list[int]:
    """Where in the list of texts the carriers are."""
    numbers = []
    while packed:
        numbers.append((packed & _CELL) - 1)
        packed >>= _BITS
    return numbers


def _weight(word: str) -> float:
    """What a word that many texts have adds to a quote; a word of few adds ``_RARE``."""
    if len(word) == 1 and not word.isascii():
        return 0.75
    return 0.25 if len(word) < 3 or word in COMMON else 1.0


def _note(found: dict[int, _Found], number: int, evidence: str, at: Iterable[int]) -> None:
    for offset in at:
        found.setdefault(number, _Found(evidence[:_EVIDENCE])).at.add(offset)


def _closest(places: list[tuple[int, str]], span: int) -> list[tuple[int, str]]:
    """The places within ``span`` of each other that have most different words."""
    places.sort()
    best: tuple[int, int, int] = (0, 0, 0)
    counts: dict[str, int] = {}
    start = 0
    for stop, (at, word) in enumerate(places, 1):
        counts[word] = counts.get(word, 0) + 1
        while at - places[start][0] > span:
            _, gone = places[start]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            start += 1
        best = max(best, (len(counts), start, stop))
    return places[best[1] : best[2]]
