"""A file that somebody named: it is written whole, or what stood there stays."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ctxgc.cli._written import written
from ctxgc.errors import InputError
from ctxgc.store import StoreError
from ctxgc.web import report


def write(path: Path, text: str = "new") -> None:
    with written(path) as out:
        out.write(text)


def fail(path: Path, error: BaseException) -> None:
    with written(path) as out:
        out.write("half of ")
        out.flush()
        raise error


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_new_file_and_one_in_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    write(path, "one é")
    write(path, "two")
    assert path.read_text() == "two"
    assert names(tmp_path) == ["a.html"]


def test_bytes_go_into_its_buffer(tmp_path: Path) -> None:
    with written(tmp_path / "a.gz") as out:
        out.buffer.write(b"\x1f\x8b")  # type: ignore[attr-defined]
    assert (tmp_path / "a.gz").read_bytes() == b"\x1f\x8b"


@pytest.mark.parametrize("error", [StoreError("an entry is damaged"), KeyboardInterrupt(), ValueError("x")])
@pytest.mark.parametrize("before", ["old", None])
def test_what_fails_halfway_leaves_what_there_was(tmp_path: Path, error: BaseException, before: str | None) -> None:
    path = tmp_path / "a.html"
    if before is not None:
        path.write_text(before)
    with pytest.raises(type(error)):
        fail(path, error)
    assert names(tmp_path) == (["a.html"] if before else [])
    assert before is None or path.read_text() == before


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("old")
    (tmp_path / "link").symlink_to("a.html")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.html").read_text() == "new"


def test_who_may_read_it_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("old")
    path.chmod(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe)
        assert os.read(reader, 100) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", ["folder", "none/a.html", "dangling", "x" * 300])
def test_where_nothing_can_be_written_it_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "none" / "b")
    with pytest.raises(InputError, match=r"^cannot write .*: [^\n]+$"):
        write(tmp_path / name)
    assert names(tmp_path) == ["dangling", "folder"]


def test_a_folder_that_is_not_ours_may_hold_a_file_that_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.html"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("nothing can be put there"))
    write(path)
    assert path.read_text() == "new"


def test_a_report_that_cannot_be_finished_does_not_take_the_place_of_one(
    run: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    argv = ("profile", "--session", "aa", "--store", url, "--html", path)
    assert run(*argv).code == 0
    before = path.read_text()

    def damaged(*_: object, **__: object) -> Any:
        raise StoreError("an entry is damaged")

    monkeypatch.setattr(report, "books_document", damaged)
    assert run(*argv).code == 4
    assert path.read_text() == before
