"""Opening compressed bodies, where sockets are not needed to see it."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.proxy.encoding import TooLarge, Undecodable, decode

PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
names = st.sampled_from(sorted(PACK))


@given(names, st.binary(max_size=5000))
def test_what_was_packed_is_opened(name, plain):
    assert decode(PACK[name](plain), name, len(plain)) == plain


@given(names, st.binary(min_size=1, max_size=5000))
def test_one_byte_more_than_the_limit_is_too_large(name, plain):
    with pytest.raises(TooLarge):
        decode(PACK[name](plain), name, len(plain) - 1)


@given(names, st.binary(max_size=2000), st.data())
def test_what_was_cut_is_never_opened_in_part(name, plain, data):
    whole = PACK[name](plain)
    with pytest.raises(Undecodable):
        decode(whole[: data.draw(st.integers(0, len(whole) - 1))], name, 10_000)


@given(names, st.binary(max_size=2000))
def test_noise_is_refused_in_one_way(name, noise):
    try:
        assert isinstance(decode(noise, name, 10_000), bytes)
    except (Undecodable, TooLarge):
        pass


@given(st.binary(max_size=100), st.integers(1000, 5000))
def test_long_bodies_are_opened_over_many_steps(part, times):
    plain = part.join(b"%d" % number for number in range(times))
    assert decode(PACK["zstd"](plain), "zstd", 1 << 20) == plain
