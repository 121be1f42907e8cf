"""What a data URL tells of its image."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxgc.core.block import Media
from ctxgc.wire.media import data_url_media


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 6, 0, 0, 0)


def url(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@given(st.integers(1, 2**31), st.integers(1, 2**31))
def test_dimensions_are_read_from_the_first_bytes(width: int, height: int) -> None:
    found = data_url_media(url(png(width, height) + bytes(100)), "high")
    assert (found.width, found.height, found.detail) == (width, height, "high")


def test_only_the_beginning_is_looked_at() -> None:
    found = data_url_media(url(png(3, 4) + bytes(3_000_000)))
    assert (found.width, found.height) == (3, 4)
    assert found.size == pytest.approx(3_000_033, abs=3)


@pytest.mark.parametrize(
    ("given_url", "media"),
    [
        ("", Media()),
        ("https://example.com/a,b.png", Media()),
        ("data:image/png;base64", Media()),
        ("data:image/png;base64,", Media()),
        ("data:image/png;base64,????", Media(size=3)),
        ("data:image/svg+xml,%3Csvg/%3E", Media(size=7)),
        (url(b"no image at all!"), Media(size=18)),
    ],
)
def test_what_tells_nothing(given_url: str, media: Media) -> None:
    assert data_url_media(given_url) == media


@given(st.text())
def test_no_url_raises(text: str) -> None:
    for prefix in ("", "data:", "data:image/png;base64,"):
        assert isinstance(data_url_media(prefix + text), Media)


def test_control_swapped_dimensions_are_noticed() -> None:
    found = data_url_media(url(png(3, 4)))
    assert (found.height, found.width) != (3, 4)
