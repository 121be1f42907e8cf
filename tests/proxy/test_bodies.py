"""Large and compressed request bodies: opened within a limit, and in doubt passed on as they came."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard

from ctxgc.core.journal import Allocation, Bypass, Collection
from tests.proxy.bodies import body, tooled, user
from tests.proxy.client import KEY, Answer, request
from tests.proxy.upstream import completion

PACK = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "br": brotli.compress,
    "GZIP": gzip.compress,
}
LIMIT = 64 * 1024 * 1024


def packed(text: bytes, encoding: str) -> bytes:
    return request(text, [KEY, ("Content-Encoding", encoding)])


@pytest.mark.parametrize("encoding", PACK)
async def test_a_compressed_body_is_read_and_sent_as_it_came(observing, upstream, encoding):
    sent = PACK[encoding](body(user("hello " * 50)))
    await observing.ask(packed(sent, encoding))
    assert upstream.calls[0].body == sent
    assert upstream.calls[0].header("content-encoding") == encoding.encode()
    assert observing.store.of(Allocation)
    observing.check()


async def test_a_compressed_body_is_edited_like_any_other(eden, upstream):
    await eden.ask(packed(PACK["zstd"](tooled()), "zstd"))
    assert eden.store.of(Collection)
    assert len(upstream.calls[0].body) < len(tooled()) / 10
    assert upstream.calls[0].header("content-encoding") is None
    eden.check()


async def test_an_encoding_that_says_nothing_is_none(observing, upstream):
    await observing.ask(packed(body(user()), "identity"))
    assert upstream.calls[0].body == body(user())
    assert observing.store.of(Allocation)


PLAIN = body(user("hello " * 50))
BAD = {
    "not gzip": ("gzip", PLAIN),
    "cut gzip": ("gzip", gzip.compress(PLAIN)[:-4]),
    "two gzips": ("gzip", gzip.compress(PLAIN[:9]) + gzip.compress(PLAIN[9:])),
    "more behind gzip": ("gzip", gzip.compress(PLAIN) + b"x"),
    "not zstd": ("zstd", PLAIN),
    "cut zstd": ("zstd", PACK["zstd"](PLAIN)[:-3]),
    "two zstds": ("zstd", PACK["zstd"](PLAIN[:9]) + PACK["zstd"](PLAIN[9:])),
    "a window too wide": ("zstd", zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=27)).compressobj().compress(PLAIN)),
    "not brotli": ("br", PLAIN),
    "cut brotli": ("br", brotli.compress(PLAIN)[:-3]),
    "more behind brotli": ("br", brotli.compress(PLAIN) + b"more"),
    "raw deflate": ("deflate", zlib.compress(PLAIN)[2:-4]),
    "an encoding of tomorrow": ("zstd2", PLAIN),
    "two encodings": ("gzip, zstd", PACK["zstd"](gzip.compress(PLAIN))),
    "an empty name": ("", PLAIN),
    "nothing": ("gzip", b""),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
async def test_a_body_that_cannot_be_opened_goes_as_it_came(observing, upstream, name):
    encoding, sent = BAD[name]
    assert (await observing.ask(packed(sent, encoding))).status == 200
    assert upstream.calls[0].body == sent
    assert upstream.calls[0].header("content-encoding") == encoding.encode()
    (bypass,) = observing.store.of(Bypass)
    assert bypass.reason.startswith("malformed")


MEMORY = 16 * 1024 * 1024


def bomb(encoding: str) -> bytes:
    """100 MB of zeros."""
    makers = {
        "gzip": lambda: zlib.compressobj(wbits=31),
        "deflate": zlib.compressobj,
        "zstd": lambda: zstandard.ZstdCompressor().compressobj(),
        "br": lambda: brotli.Compressor(quality=3),
    }
    packer = makers[encoding]()
    pack = getattr(packer, "compress", None) or packer.process
    end = packer.finish if encoding == "br" else packer.flush
    return b"".join([*(pack(bytes(1_000_000)) for _ in range(100)), end()])


async def stays_small(running, sent: bytes) -> Answer:
    """The answer to a request that must not take more memory than a few times the limit on bodies."""
    tracemalloc.start()
    try:
        answer = await running.ask(sent)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    return answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br"])
async def test_a_bomb_is_answered_413_and_goes_off_nowhere(start, upstream, encoding):
    sent = packed(bomb(encoding), encoding)
    async with start(body_limit=1_000_000) as running:
        answer = await stays_small(running, sent)
    assert (answer.status, answer.error["code"]) == (413, "too_large")
    assert not upstream.calls


async def test_the_check_finds_a_bomb_that_goes_off(start, monkeypatch):
    monkeypatch.setattr("ctxgc.proxy.chat.decode", lambda body, encoding, limit: zlib.decompress(body))
    async with start(body_limit=1_000_000) as running:
        with pytest.raises(AssertionError):
            await stays_small(running, packed(bomb("deflate"), "deflate"))


async def test_an_encoded_body_that_just_fits_is_taken(start, upstream):
    sent = body(user("x" * 900))
    async with start(body_limit=len(sent)) as running:
        for encoding in ("gzip", "zstd", "br", "deflate"):
            assert (await running.ask(packed(PACK[encoding](sent), encoding))).status == 200
            assert (await running.ask(packed(PACK[encoding](sent + b" "), encoding))).status == 413


async def test_64_mb_pass(observing, upstream):
    sent = b'{"messages":[{"role":"user","content":"' + b"x" * (LIMIT - 50) + b'"}]}'
    assert LIMIT - 50 < len(sent) <= LIMIT
    answer = await observing.ask(request(sent, [KEY], target="/v1/embeddings"))
    assert answer.status == 200
    assert upstream.calls[0].body == sent


async def test_a_large_completion_passes(observing, upstream):
    sent = body(user("word " * 600_000))
    assert (await observing.chat(sent)).body == completion()
    assert upstream.calls[0].body == sent
    observing.check()


async def test_what_is_larger_gets_a_413_by_its_length_alone(observing, upstream):
    head = request(b"", [KEY, ("Content-Length", str(LIMIT + 1))], length=False)
    assert (await observing.ask(head)).status == 413
    assert not upstream.calls


@pytest.mark.parametrize("target", ["/v1/chat/completions", "/v1/files"])
async def test_what_is_larger_gets_a_413_without_a_length_too(start, upstream, target):
    async with start(body_limit=10_000) as running, running.client() as client:
        await client.send(request(b"", [KEY, ("Transfer-Encoding", "chunked")], target=target, length=False))
        for _ in range(11):
            await client.send(b"3e8\r\n%b\r\n" % (b"x" * 1000))
        assert await client.head() == 413
        assert (await client.rest()).error["type"] == "ctxgc_too_large"
    assert not upstream.calls
