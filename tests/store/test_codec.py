import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.store import StoreCorrupt
from ctxgc.store.codec import RAW, ZSTD, Packer, unpack


@given(st.binary(max_size=500) | st.builds(lambda part, n: part * n, st.binary(), st.integers(0, 300)))
def test_what_is_packed_comes_out_again(data):
    encoding, kept = Packer().pack(data)
    assert unpack(encoding, kept, len(data)) == data
    assert len(kept) <= len(data)


def test_only_what_shrinks_is_compressed():
    assert Packer().pack(b"short")[0] == RAW
    assert Packer().pack(bytes(1000))[0] == ZSTD


@pytest.mark.parametrize(
    ("encoding", "change"),
    [
        (ZSTD, lambda kept: kept[:-1]),
        (ZSTD, lambda kept: kept + b"more"),
        (ZSTD, lambda kept: b"\0" + kept[1:]),
        (ZSTD, lambda kept: b""),
        (7, lambda kept: kept),
        (RAW, lambda kept: kept),
    ],
)
def test_a_damaged_frame_is_corrupt(encoding, change):
    _, kept = Packer().pack(b"word " * 100)
    with pytest.raises(StoreCorrupt):
        unpack(encoding, change(kept), 500)


def test_the_one_shot_call_would_let_bytes_after_the_frame_pass():
    _, kept = Packer().pack(b"word " * 100)
    assert zstandard.ZstdDecompressor().decompress(kept + b"more") == b"word " * 100
