"""Where sequences of words stand: a hash table of 17 to 30 bytes per sequence, and the chain of its repeats.

Rule: an answer is only ever a candidate: two sequences may have the same hash. Who asks compares the words. That hashes
of strings differ from process to process must not show: nothing is lost, whatever the hashes are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

WIDTH = 4
"""Words in a shingle."""
STRIDE = 2
"""Every second shingle of a text is kept: any five words in a row hold one."""
_PLACE = (1 << 32) - 1
_HIGH = (1 << 63) - (1 << 32)  # of a hash the sign is left out
_FIRST_BITS = 12
_SLICE = 10_000


def shingles(words: Sequence[str], stride: int) -> Iterator[int]:
    """The hashes of every ``stride``-th sequence of ``WIDTH`` words."""
    return map(hash, zip(*(words[at::stride] for at in range(WIDTH)), strict=False))


class Shingles:
    """Places (counted from 1) of shingles by their hashes.

    An entry is the upper half of a hash above a place. It lies in the slot that the top of the hash gives, or the next
    free one, so that a larger table can be filled from a smaller one.
    """

    __slots__ = ("_bits", "_earlier", "_table")

    def __init__(self) -> None:
        self._bits = _FIRST_BITS
        self._table = array("Q", bytes(8 << _FIRST_BITS))
        self._earlier = array("I", (0,))

    def __len__(self) -> int:
        """How many places there are; the next one is ``len + 1``."""
        return len(self._earlier) - 1

    def add(self, hashes: Iterable[int]) -> None:
        """Give each hash the next place. ``grow`` must have made room."""
        table, shift, last, note = self._table, 63 - self._bits, (1 << self._bits) - 1, self._earlier.append
        for place, found in enumerate(hashes, len(self._earlier)):
            high = found & _HIGH
            slot = high >> shift
            while (old := table[slot]) and (old ^ high) & _HIGH:
                slot = (slot + 1) & last
            note(old & _PLACE)
            table[slot] = high | place

    def grow(self, more: int) -> Iterator[None]:
        """Make room for ``more`` places; yields between slices of the work."""
        bits = self._bits
        while (len(self) + more) * 8 > 5 << bits:
            bits += 1
        if bits == self._bits:
            return
        table, shift, last = array("Q", bytes(8 << bits)), 63 - bits, (1 << bits) - 1
        for start in range(0, len(self._table), _SLICE):
            for entry in filter(None, self._table[start : start + _SLICE]):
                slot = entry >> shift
                while table[slot]:
                    slot = (slot + 1) & last
                table[slot] = entry
            yield
        self._bits, self._table = bits, table

    def places(self, hashes: Iterable[int], depth: int) -> list[tuple[int, int]]:
        """For each hash its number in the sequence and the latest places that it may have, at most ``depth`` each."""
        table, shift, last = self._table, 63 - self._bits, (1 << self._bits) - 1
        entries = []
        for number, found in enumerate(hashes):
            slot = (found & _HIGH) >> shift
            while entry := table[slot]:
                if not (entry ^ found) & _HIGH:
                    entries.append((number, entry & _PLACE))
                    break
                slot = (slot + 1) & last
        return [(number, place) for number, latest in entries for place in self._chain(latest, depth)]

    def _chain(self, place: int, depth: int) -> Iterator[int]:
        while place and depth:
            yield place
            place, depth = self._earlier[place], depth - 1
