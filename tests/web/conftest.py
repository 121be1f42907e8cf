"""The page is tried on the real proxy, with the fixtures that start one."""

from __future__ import annotations

from tests.proxy.conftest import eden, observing, start, upstream

__all__ = ["eden", "observing", "start", "upstream"]
