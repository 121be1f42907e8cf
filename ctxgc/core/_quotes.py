"""Which passages of earlier texts a text quotes word for word, whatever its whitespace, case and punctuation.

Rule: a passage counts if its words were compared one by one, and together they say more than any text might.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice

from ctxgc.core._shingles import STRIDE, WIDTH
from ctxgc.core._texts import Text

ENOUGH = 6
"""What the words of a quote must weigh together."""
_AROUND = 12
_LONGEST = 600
_CANDIDATES = 32
_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Quote:
    """Words ``start`` to ``stop`` stand in text number ``text`` too: every fourth of them, and the last, at ``at``."""

    start: int
    stop: int
    text: int
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A text whose words, moved by ``shift``, may be ours from ``start`` to ``stop``."""

    text: int
    shift: int
    start: int
    stop: int


class Quoting:
    """A text that may quote others: its words in small letters, and what each of them weighs as evidence."""

    __slots__ = ("_weights", "_words")

    def __init__(self, words: Sequence[str], weights: Iterable[float]) -> None:
        self._words = words
        self._weights = list(accumulate(weights, initial=0.0))

    def quotes(
        self, seeds: Iterable[tuple[int, int]], locate: Callable[[int], int], texts: Sequence[Text]
    ) -> Iterator[Quote]:
        """What is quoted.

        ``seeds`` are numbers of words and the places of shingles that may begin there; ``locate`` gives the number of
        the text that a place lies in. Of a passage that two texts have both are named, of more the last one.
        """
        runs: dict[tuple[int, int, int], Quote] = {}
        for line in islice(self._lines(seeds, locate, texts), _CANDIDATES):
            for run in self._runs(line, texts[line.text]):
                runs[run.start, run.stop, run.text] = run
        return _chosen(sorted(runs.values(), key=lambda run: (run.start - run.stop, run.start, run.text)), texts)

    def _lines(
        self, seeds: Iterable[tuple[int, int]], locate: Callable[[int], int], texts: Sequence[Text]
    ) -> Iterator[_Line]:
        """Where to compare: most seeds first, and nothing of which another passage has twice as many."""
        lines: dict[int, list[int]] = {}
        for at, place in seeds:
            lines.setdefault(STRIDE * place - at, []).append(at)
        ranked = sorted(lines.items(), key=lambda line: (-len(line[1]), -line[0]))[:_LOOKED_AT]
        most: dict[int, int] = {}
        for line, ours in ranked:
            if self._able(ours) and any(most.setdefault(at, len(ours)) < 2 * len(ours) for at in ours):
                number = locate((line + ours[0]) // STRIDE)
                yield _Line(number, line - STRIDE * texts[number].first, ours[0], ours[-1] + WIDTH)

    def _runs(self, line: _Line, text: Text) -> Iterator[Quote]:
        """The stretches of a line in which our words are those of ``text``, as far as they count."""
        start = max(0, line.start - _AROUND, -line.shift)
        stop = min(line.stop + _AROUND, start + _LONGEST, len(self._words))
        theirs = text.words(start + line.shift, stop + line.shift)
        begun = start
        for at, (word, _) in enumerate((*theirs, ("", 0)), start):
            if at >= stop or self._words[at] != word:
                if at - begun >= WIDTH and self._enough(begun, at):
                    places = [place for _, place in theirs[begun - start : at - start]]
                    yield Quote(begun, at, line.text, (*places[::WIDTH], places[-1]))
                begun = at + 1

    def _able(self, ours: Sequence[int]) -> bool:
        """Whether enough of our words are near the seeds. With one seed a passage has six words; with more the seeds
        between and around them may be missing, as what many texts have is not followed to all of them."""
        around = 1 if len(ours) == 1 else _AROUND
        return self._enough(max(0, ours[0] - around), ours[-1] + WIDTH + around)

    def _enough(self, start: int, stop: int) -> bool:
        return self._weights[min(stop, len(self._words))] - self._weights[start] >= ENOUGH


def _chosen(runs: Iterable[Quote], texts: Sequence[Text]) -> Iterator[Quote]:
    """Of runs, longest first, those that say something which no longer one says; none that the background has."""
    covered: set[int] = set()
    for (start, stop), group in groupby(runs, key=lambda run: (run.start, run.stop)):
        if sum(at not in covered for at in range(start, stop)) < WIDTH:
            continue
        covered.update(range(start, stop))
        same = list(group)
        if all(texts[run.text].cell is not None for run in same):
            yield from same if len(same) <= 2 else same[-1:]
