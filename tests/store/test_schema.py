"""What the database refuses to anyone, also to a connection that is not ours."""

import apsw
import pytest

from ctxgc.store import StoreVersionError, schema

TABLES = ("meta", "log", "blob", "node", "stub", "entry", "seal")


@pytest.fixture
def foreign(closed):
    """A plain connection, with SQLite's own settings."""
    db = apsw.Connection(str(closed))
    yield db
    db.close()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {}",
        "UPDATE {} SET rowid = rowid + 100",
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}",
        "REPLACE INTO {0} SELECT * FROM {0}",
        "INSERT OR IGNORE INTO {0} SELECT * FROM {0}",
        "INSERT INTO {0} SELECT * FROM {0} WHERE true ON CONFLICT DO UPDATE SET rowid = 99",
    ],
)
def test_a_foreign_connection_cannot_change_a_row(foreign, table, statement):
    if table == "meta":  # has no rowid
        statement = statement.replace("rowid + 100", "1").replace("rowid = 99", "value = 1").replace("rowid", "value")
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        foreign.execute(statement.format(table))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE INTO blob SELECT 99, hash, 0, 0, x'' FROM blob",
        "INSERT OR REPLACE INTO log SELECT 99, session, 0 FROM log",
        "INSERT OR REPLACE INTO stub SELECT 99, handle, 2, 0 FROM stub",
        "INSERT OR REPLACE INTO node SELECT 99, log, node, -1, chain, chain, blob FROM node",
        "INSERT OR REPLACE INTO entry SELECT 99, log, seq, '', zeroblob(16), leaf, 0, x'' FROM entry",
        "INSERT OR REPLACE INTO entry SELECT 99, log, 99, '', idem, leaf, 0, x'' FROM entry",
    ],
)
def test_a_row_cannot_be_replaced_through_any_unique_column(foreign, statement):
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        foreign.execute(statement)


def test_without_the_guard_replace_silently_changes_a_row(foreign):
    foreign.execute("DROP TRIGGER blob_replace")
    foreign.execute("INSERT OR REPLACE INTO blob SELECT id, hash, 0, 0, x'' FROM blob WHERE id = 1")
    assert foreign.execute("SELECT size FROM blob WHERE id = 1").get == 0


def test_expected_is_what_a_new_store_has(foreign):
    assert schema.objects(foreign) == schema.expected()


def test_a_step_for_every_older_version_brings_a_store_up_to_date(monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 3)
    taken = []
    steps = {1: lambda db: taken.append(1), 2: lambda db: taken.append(2)}
    db = apsw.Connection(":memory:")
    schema.check_version(1, "it", steps)
    schema.migrate(db, 1, steps)
    assert taken == [1, 2]
    assert db.pragma("user_version") == 3
    db.close()


def test_an_older_version_without_a_step_is_refused(monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 3)
    with pytest.raises(StoreVersionError, match=r"no migration to 3.*ctxgc that wrote it"):
        schema.check_version(1, "it", {2: lambda db: None})
