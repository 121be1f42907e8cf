"""What our own connections are allowed to do."""

import apsw
import pytest

from ctxgc.store import StoreVersionError
from ctxgc.store.connection import Place, check_library, connect, library_version, reader, write_ahead, writer

FORBIDDEN = [
    "UPDATE entry SET body = x'00'",
    "DELETE FROM entry",
    "INSERT INTO meta VALUES('key', 1)",
    "DROP TABLE entry",
    "DROP TRIGGER entry_update",
    "DROP INDEX node_chain",
    "ALTER TABLE entry RENAME TO gone",
    "CREATE TABLE more(id)",
    "CREATE TEMP TABLE more(id)",
    "CREATE TEMP TRIGGER t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
    "PRAGMA writable_schema = ON",
    "PRAGMA recursive_triggers = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA user_version = 7",
    "ATTACH ':memory:' AS other",
    "VACUUM",
    "REINDEX",
    "SELECT load_extension('x')",
]
REPLACING = "INSERT OR REPLACE INTO seal SELECT * FROM seal WHERE id = 1"


@pytest.fixture
def rights(closed):
    db = writer(Place(closed))
    yield db
    db.close()


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_writer_may_only_add_rows(rights, statement):
    with pytest.raises((apsw.AuthError, apsw.SQLError), match=r"not authorized|authorization denied"):
        rights.execute(statement)


@pytest.mark.parametrize("statement", [*FORBIDDEN, REPLACING, "INSERT INTO log SELECT * FROM log"])
def test_a_reader_may_only_read(closed, statement):
    db = reader(Place(closed))
    with pytest.raises((apsw.AuthError, apsw.SQLError), match=r"not authorized|authorization denied"):
        db.execute(statement)
    db.close()


def test_a_writer_cannot_replace_a_row(rights):
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        rights.execute(REPLACING)


@pytest.mark.parametrize("statement", ["DROP TRIGGER entry_update", "CREATE TABLE more(id)"])
def test_without_the_authorizer_the_same_connection_may(closed, statement):
    db = connect(Place(closed))
    db.execute(statement)
    db.close()


def test_commits_are_synced_and_triggers_recurse(rights):
    rights.authorizer = None
    wanted = {"journal_mode": "wal", "synchronous": 2, "recursive_triggers": 1, "foreign_keys": 1}
    wanted |= {"trusted_schema": 0, "cell_size_check": 1, "mmap_size": 0}
    assert {name: rights.pragma(name) for name in wanted} == wanted


@pytest.mark.parametrize("version", [(3, 51, 3), (3, 52, 0), (3, 50, 7), (3, 44, 6), (4, 0, 0)])
def test_a_repaired_library_is_accepted(version):
    check_library(version)


@pytest.mark.parametrize("version", [(3, 7, 0), (3, 40, 1), (3, 44, 5), (3, 45, 9), (3, 50, 6), (3, 51, 2)])
def test_a_library_that_can_lose_commits_is_refused(version):
    with pytest.raises(StoreVersionError, match=r"can lose commits in WAL mode.*install apsw"):
        check_library(version)


def test_the_gate_stands_before_writing(closed, monkeypatch):
    monkeypatch.setattr("ctxgc.store.connection.library_version", lambda: (3, 51, 2))
    with pytest.raises(StoreVersionError):
        writer(Place(closed))


def test_the_library_here_is_accepted():
    check_library(library_version())


class Switching:
    """Another process that is just switching to a log, as SQLite shows it: busy at once, so many times."""

    def __init__(self, times):
        self.times = times

    def pragma(self, name, value):
        assert (name, value) == ("journal_mode", "wal")
        self.times -= 1
        if self.times >= 0:
            raise apsw.BusyError("database is locked")
        return "wal"


def test_a_process_that_switches_to_a_log_just_now_is_waited_for(closed):
    assert write_ahead(Switching(3), Place(closed)) == "wal"


def test_one_that_holds_the_file_for_longer_is_an_error(closed):
    with pytest.raises(apsw.BusyError):
        write_ahead(Switching(1_000_000), Place(closed, busy_ms=0))
