import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import apsw
import pytest

from ctxgc.store import StoreUnavailable, StoreVersionError, open_store
from ctxgc.store.connection import Place
from ctxgc.store.opening import _initialise_or_migrate, _make_file, place_of

from .helpers import record


def test_a_url_names_a_file_or_memory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert place_of("sqlite:///relative.db").path == tmp_path / "relative.db"
    assert place_of("sqlite:////absolute/it.db").path == Path("/absolute/it.db")
    assert place_of("sqlite://").path is None
    assert place_of("sqlite:///:memory:").path is None
    assert place_of("sqlite://").uri() != place_of("sqlite://").uri()


@pytest.mark.parametrize("url", ["postgres://me:password@host/db", "audit.db", "sqlite://host/x.db", ""])
def test_another_url_is_refused_without_repeating_its_password(url):
    with pytest.raises(StoreUnavailable, match="use sqlite:///path") as caught:
        open_store(url)
    assert "password" not in str(caught.value)


def test_a_new_store_is_private(tmp_path):
    path = tmp_path / "folder" / "audit?%20#.db"
    store = open_store(f"sqlite:///{path}")
    store.append([record(1)]).result()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == 3
    store.close()


def test_what_is_not_there_is_only_made_on_request(url, path):
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreUnavailable, match="there is no store at"):
            open_store(url, **options)
    assert not path.exists()


def test_an_empty_file_becomes_a_store(url, path):
    path.touch()
    open_store(url).close()
    assert path.stat().st_size


def foreign_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs(id)")
    db.commit()
    db.close()


@pytest.mark.parametrize(
    "make", [foreign_database, lambda path: path.write_text("notes"), lambda path: path.write_bytes(bytes(5000))]
)
def test_a_file_that_is_not_ours_is_refused_and_left_untouched(url, path, make):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="is not a ctxgc store and was left untouched"):
        open_store(url)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(("version", "words"), [(2, "newer ctxgc.*upgrade"), (0, "no migration")])
def test_another_version_is_refused(url, closed, version, words):
    db = apsw.Connection(str(closed))
    db.pragma("user_version", version)
    db.close()
    for read_only in (True, False):
        with pytest.raises(StoreVersionError, match=words):
            open_store(url, read_only=read_only)


def test_another_version_is_noticed_while_it_is_only_in_the_log(url, store, path):
    db = apsw.Connection(str(path))
    db.pragma("user_version", 2)
    for read_only in (True, False):
        with pytest.raises(StoreVersionError, match="newer ctxgc"):
            open_store(url, read_only=read_only)
    db.close()


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        open_store(f"sqlite:///{tmp_path}")


@pytest.fixture
def locked_away(closed):
    """The store in a folder where nothing may be written, seen by a user without privileges."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "audit.db"
    shutil.copy(closed, path)
    path.chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield f"sqlite:///{path}"
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_file_without_write_permission_says_so(locked_away):
    with pytest.raises(StoreUnavailable, match="cannot be written: check the rights"):
        open_store(locked_away).append([record(1)]).result()


def test_it_can_still_be_read(locked_away):
    store = open_store(locked_away, read_only=True)
    assert list(store.verify()) == []
    store.close()


def test_two_that_make_one_store_make_it_once(path):
    _make_file(path)
    _initialise_or_migrate(Place(path), 1)
    first = path.read_bytes()
    _initialise_or_migrate(Place(path), 2)
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM seal").get == 1
    assert len(first) == path.stat().st_size


def crash_while_making(path, tmp_path):
    """A file with all pages of a new store, whose transaction was not committed."""
    made, making = tmp_path / "made.db", tmp_path / "making.db"
    open_store(f"sqlite:///{made}").close()
    db = apsw.Connection(str(making))
    db.execute("PRAGMA cache_size = 1; BEGIN; CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))")
    path.write_bytes(made.read_bytes()[:18] + b"\1\1" + made.read_bytes()[20:])
    shutil.copy(f"{making}-journal", f"{path}-journal")
    db.close()


def test_a_crash_while_the_store_was_made_is_taken_back(url, path, tmp_path):
    crash_while_making(path, tmp_path)
    assert path.stat().st_size > 4096
    copy = tmp_path / "copy.db"
    for end in ("", "-journal"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    assert apsw.Connection(str(copy)).execute("SELECT count(*) FROM sqlite_schema").get == 0
    store = open_store(url)
    store.append([record(1)]).result()
    assert list(store.verify()) == []
    store.close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs /proc/locks")
def test_opening_a_store_again_keeps_the_locks_that_reading_the_file_would_lose(url, path):
    store = open_store(url)
    store.append([record(1)]).result()
    before = held_locks(path)
    open_store(url).close()
    assert held_locks(path) == before
    path.read_bytes()
    assert held_locks(path) != before
    store.close()


def held_locks(path):
    inode = f":{path.stat().st_ino} "
    return [line.split(maxsplit=1)[1] for line in Path("/proc/locks").read_text().splitlines() if inode in line]
