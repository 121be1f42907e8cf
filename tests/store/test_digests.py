from hashlib import sha256

from ctxgc.store import digests
from ctxgc.store.digests import Counts

S, IDEM = b"s" * 32, b"i" * 16


def test_a_leaf_is_hashed_as_rfc_6962_says():
    entry = S + (7).to_bytes(8, "big") + b"\x03gap" + IDEM + b"{}"
    assert digests.leaf(S, 7, "gap", IDEM, b"{}") == sha256(b"\x00" + entry).digest()


def test_every_part_of_an_entry_changes_its_leaf():
    base = digests.leaf(S, 1, "gap", IDEM, b"{}")
    others = {
        digests.leaf(b"t" * 32, 1, "gap", IDEM, b"{}"),
        digests.leaf(S, 2, "gap", IDEM, b"{}"),
        digests.leaf(S, 1, "open", IDEM, b"{}"),
        digests.leaf(S, 1, "gap", b"j" * 16, b"{}"),
        digests.leaf(S, 1, "gap", IDEM, b"[]"),
    }
    assert len(others - {base}) == 5


def test_bytes_cannot_move_from_one_part_to_the_next():
    assert digests.leaf(S, 1, "gap", b"x" * 16, b"y") != digests.leaf(S, 1, "gapx", b"x" * 15 + b"y", b"")


def test_a_chain_value_depends_on_the_whole_path():
    one = digests.chain(digests.NO_PARENT, b"m" * 32)
    assert one == sha256(b"n\0" + bytes(32) + b"m" * 32).digest()
    assert digests.chain(one, b"m" * 32) != one


def test_a_seal_depends_on_its_number_its_past_its_counts_and_its_rows():
    seals = {
        digests.seal(1, b"p" * 32, Counts(1), b"r" * 32),
        digests.seal(2, b"p" * 32, Counts(1), b"r" * 32),
        digests.seal(1, b"q" * 32, Counts(1), b"r" * 32),
        digests.seal(1, b"p" * 32, Counts(0, 1), b"r" * 32),
        digests.seal(1, b"p" * 32, Counts(1), b"t" * 32),
    }
    assert len(seals) == 5
