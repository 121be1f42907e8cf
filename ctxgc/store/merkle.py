"""RFC 6962 Merkle trees over leaf hashes: heads, inclusion proofs, consistency proofs.

Rule: the hashing of RFC 6962 section 2.1, verbatim; no structure of our own.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf: the prefix keeps leaves and interior nodes apart."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an interior node."""
    return sha256(b"\x01" + left + right).digest()


class CompactRange:
    """The few subtree hashes (one per set bit of the size) that a growing tree needs to go on."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        self._peaks.append(leaf)
        size = self.size
        while size & 1:
            right = self._peaks.pop()
            self._peaks[-1] = node_hash(self._peaks[-1], right)
            size >>= 1
        self.size += 1

    def root(self) -> bytes:
        """The tree head over everything added so far."""
        if not self._peaks:
            return EMPTY
        *rest, head = self._peaks
        for peak in reversed(rest):
            head = node_hash(peak, head)
        return head


def root(leaves: Iterable[bytes]) -> bytes:
    """The tree head over leaf hashes."""
    tree = CompactRange()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of leaf `index` (RFC 6962 section 2.1.1), nearest sibling first."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} of {len(leaves)}")
    if len(leaves) == 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*inclusion_proof(leaves[:split], index), root(leaves[split:])]
    return [*inclusion_proof(leaves[split:], index - split), root(leaves[:split])]


def consistency_proof(leaves: Sequence[bytes], old: int) -> list[bytes]:
    """Proof that the tree over the first `old` leaves is a prefix of this one (RFC 6962 section 2.1.2)."""
    if not 0 < old <= len(leaves):
        raise IndexError(f"tree of {old} in a tree of {len(leaves)}")
    return _subproof(leaves, old, whole=True)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], head: bytes) -> bool:
    """Whether `leaf` is number `index` in the tree of `size` leaves with this head (RFC 9162 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, hashed = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            hashed = node_hash(sibling, hashed)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            hashed = node_hash(hashed, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and hashed == head


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_head: bytes, new_head: bytes) -> bool:
    """Whether the tree of `old` leaves is a prefix of the tree of `new` leaves (RFC 9162 2.1.4.2)."""
    if old == new:
        return not proof and old_head == new_head
    if not 0 < old < new or not proof:
        return False
    path = list(proof) if old & (old - 1) else [old_head, *proof]
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first = second = path[0]
    for step in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            first, second = node_hash(step, first), node_hash(step, second)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            second = node_hash(second, step)
        place, last = place >> 1, last >> 1
    return last == 0 and first == old_head and second == new_head


def _subproof(leaves: Sequence[bytes], old: int, *, whole: bool) -> list[bytes]:
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    split = _split(len(leaves))
    if old <= split:
        return [*_subproof(leaves[:split], old, whole=whole), root(leaves[split:])]
    return [*_subproof(leaves[split:], old - split, whole=False), root(leaves[:split])]


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)
