from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxgc.ledger import Ledger, open_ledger


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'books.db'}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def ledger(url: str, root: Path) -> Iterator[Ledger]:
    with open_ledger(url, clock=lambda: 1_000.0, root=root) as opened:
        yield opened
