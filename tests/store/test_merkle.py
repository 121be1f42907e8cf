"""Heads and proofs of RFC 6962, with pymerkle as a second opinion on the heads."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymerkle import InmemoryTree

from ctxgc.store import merkle

ENTRIES = [b"entry %d" % number for number in range(130)]
LEAVES = [merkle.leaf_hash(entry) for entry in ENTRIES]


def heads():
    tree = merkle.CompactRange()
    yield tree.root()
    for leaf in LEAVES:
        tree.append(leaf)
        yield tree.root()


def test_the_empty_tree_has_the_hash_of_nothing():
    assert merkle.root([]) == sha256(b"").digest()


def test_heads_of_all_sizes_equal_those_of_pymerkle():
    other = InmemoryTree(algorithm="sha256")
    for entry, head in zip(ENTRIES, list(heads())[1:], strict=True):
        other.append_entry(entry)
        assert head == other.get_root()


def test_a_tree_without_domain_separation_would_differ():
    def plain(entry):
        return sha256(entry).digest()

    other = InmemoryTree(algorithm="sha256")
    other.append_entry(ENTRIES[0])
    assert plain(ENTRIES[0]) != other.get_root()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 33])
def test_every_leaf_is_proved_in_its_place_and_in_no_other(size):
    leaves, head = LEAVES[:size], merkle.root(LEAVES[:size])
    for index, leaf in enumerate(leaves):
        proof = merkle.inclusion_proof(leaves, index)
        assert merkle.verify_inclusion(leaf, index, size, proof, head)
        assert not merkle.verify_inclusion(leaf, index + 1, size, proof, head)
        assert not merkle.verify_inclusion(LEAVES[-1], index, size, proof, head)
        assert not merkle.verify_inclusion(leaf, index, size, [*proof, head], head)


@pytest.mark.parametrize("new", [1, 2, 3, 7, 8, 9, 33])
def test_every_older_tree_is_proved_a_prefix(new):
    leaves, head = LEAVES[:new], merkle.root(LEAVES[:new])
    for old in range(1, new + 1):
        before = merkle.root(leaves[:old])
        proof = merkle.consistency_proof(leaves, old)
        assert merkle.verify_consistency(old, new, proof, before, head)
        assert not merkle.verify_consistency(old, new, proof, merkle.root(LEAVES[1 : old + 1]), head)
        assert not merkle.verify_consistency(old, new, [*proof, head], before, head)


def test_there_is_no_proof_for_what_is_not_there():
    with pytest.raises(IndexError):
        merkle.inclusion_proof(LEAVES[:3], 3)
    with pytest.raises(IndexError):
        merkle.consistency_proof(LEAVES[:3], 4)
    assert not merkle.verify_consistency(0, 3, [], merkle.EMPTY, merkle.root(LEAVES[:3]))


@given(st.integers(1, 130), st.data())
def test_a_changed_proof_proves_nothing(size, data):
    index = data.draw(st.integers(0, size - 1))
    proof = merkle.inclusion_proof(LEAVES[:size], index)
    if proof:
        place = data.draw(st.integers(0, len(proof) - 1))
        proof[place] = bytes([proof[place][0] ^ 1]) + proof[place][1:]
        assert not merkle.verify_inclusion(LEAVES[index], index, size, proof, merkle.root(LEAVES[:size]))
