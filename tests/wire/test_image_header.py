from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.wire.image_header import image_size


def png(width: int, height: int) -> bytes:
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00\x00\x00"


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    frame = segment(0xC2, struct.pack(">BHHB", 8, height, width, 3) + b"\x01\x11\x00" * 3)
    return b"\xff\xd8" + segment(0xE0, b"JFIF\x00" + bytes(9)) + before + frame


def riff(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(body) + 12) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


def webp_lossy(width: int, height: int) -> bytes:
    return riff(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height))


def webp_lossless(width: int, height: int) -> bytes:
    return riff(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(8))


def webp_extended(width: int, height: int) -> bytes:
    return riff(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


MAKERS = [png, gif, jpeg, webp_lossy, webp_lossless, webp_extended]


@pytest.mark.parametrize("make", MAKERS)
@given(width=st.integers(1, 16_383), height=st.integers(1, 16_383))
def test_the_size_is_the_one_in_the_header(make, width, height):
    assert image_size(make(width, height)) == (width, height)


def test_the_frame_of_a_jpeg_is_found_behind_other_segments():
    tables = segment(0xC4, bytes(40)) + segment(0xE1, b"\xff\xc0" * 900) + b"\xff\xff\xff" + segment(0xDB, bytes(65))
    assert image_size(jpeg(640, 480, tables)) == (640, 480)


def test_a_jpeg_whose_frame_is_too_far_in_is_unknown():
    assert image_size(jpeg(640, 480, segment(0xE1, bytes(65_000)) * 2)) is None


@pytest.mark.parametrize("make", [png, gif, jpeg, webp_lossy])
def test_an_empty_image_is_unknown(make):
    assert image_size(make(0, 10)) is None


@given(st.sampled_from(MAKERS), st.data())
def test_a_damaged_header_raises_nothing(make, data):
    image = bytearray(make(640, 480))
    for _ in range(data.draw(st.integers(0, 4))):
        image[data.draw(st.integers(0, len(image) - 1))] = data.draw(st.integers(0, 255))
    size = image_size(bytes(image[: data.draw(st.integers(0, len(image)))]))
    assert size is None or min(size) > 0


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8", b"\xff\xd8\xff", b"GIF89a", b"RIFF0000WEBPVP8L"]))
def test_garbage_raises_nothing(garbage, start):
    size = image_size(start + garbage)
    assert size is None or min(size) > 0
