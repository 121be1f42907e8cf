"""Live files: what is read of them, and what nobody waits for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxgc.ledger import files


def test_a_file_is_read_through_a_link(root: Path):
    (root / "a.txt").write_text("text")
    (root / "link").symlink_to("a.txt")
    assert files.read("link", str(root)).content == b"text"


@pytest.mark.parametrize("ref", ["/dev/zero", "pipe", "folder", "link"])
def test_what_is_no_regular_file_is_not_opened(root: Path, ref: str):
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "link").symlink_to("/dev/zero")
    assert files.read(ref, str(root)).fault == "is no regular file"
    assert not files.exists(ref, str(root))


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch):
    file = root / "a.txt"
    file.write_text("text")
    looked = Path.stat

    def swapped(path: Path) -> os.stat_result:
        found = looked(path)
        file.unlink()
        os.mkfifo(file)
        return found

    monkeypatch.setattr(Path, "stat", swapped)
    assert files.read("a.txt", str(root)).fault == "is no regular file"
