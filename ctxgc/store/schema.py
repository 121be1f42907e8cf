"""Tables, guards and schema versions of the SQLite store.

Rule: every table only grows, its ids run 1, 2, 3 without gaps, and the database itself refuses the rest.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import apsw

from ctxgc.store import digests
from ctxgc.store.errors import StoreVersionError

APPLICATION_ID = 0x63747867  # "ctxg", in the header of the file
VERSION = 1

# Rowid tables: bodies and blobs would overflow the small cells of WITHOUT ROWID. Nodes name their blob by id,
# which saves 30 bytes a message. The big column comes last, so that the others are read without it.
_TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE log(id INTEGER PRIMARY KEY CHECK(id > 0), session BLOB NOT NULL UNIQUE CHECK(length(session) = 32),"
    " opened INTEGER NOT NULL) STRICT",
    "CREATE TABLE blob(id INTEGER PRIMARY KEY CHECK(id > 0), hash BLOB NOT NULL UNIQUE CHECK(length(hash) = 32),"
    " size INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB NOT NULL) STRICT",
    "CREATE TABLE node(id INTEGER PRIMARY KEY CHECK(id > 0), log INTEGER NOT NULL REFERENCES log,"
    " node INTEGER NOT NULL,"
    " parent INTEGER NOT NULL CHECK(parent BETWEEN -1 AND node - 1),"
    " chain BLOB NOT NULL CHECK(length(chain) = 32), message BLOB NOT NULL CHECK(length(message) = 32),"
    " blob INTEGER NOT NULL REFERENCES blob, UNIQUE(log, node)) STRICT",
    "CREATE INDEX node_chain ON node(chain, log)",
    "CREATE TABLE stub(id INTEGER PRIMARY KEY CHECK(id > 0), handle TEXT NOT NULL UNIQUE CHECK(length(handle) = 16),"
    " log INTEGER NOT NULL REFERENCES log, cell INTEGER NOT NULL) STRICT",
    "CREATE TABLE entry(id INTEGER PRIMARY KEY CHECK(id > 0), log INTEGER NOT NULL REFERENCES log,"
    " seq INTEGER NOT NULL,"
    " kind TEXT NOT NULL, idem BLOB NOT NULL CHECK(length(idem) = 16),"
    " leaf BLOB NOT NULL CHECK(length(leaf) = 32), enc INTEGER NOT NULL, body BLOB NOT NULL,"
    " UNIQUE(log, seq), UNIQUE(log, idem)) STRICT",
    # One row per transaction: the newest id of each table after it, and a digest chained over everything.
    "CREATE TABLE seal(id INTEGER PRIMARY KEY CHECK(id >= 0), logs INTEGER NOT NULL, blobs INTEGER NOT NULL,"
    " nodes INTEGER NOT NULL, stubs INTEGER NOT NULL, entries INTEGER NOT NULL,"
    " digest BLOB NOT NULL CHECK(length(digest) = 32)) STRICT",
)

# What makes a row of a table the same row: INSERT OR REPLACE would silently delete the old one, since it
# fires delete triggers only on connections with recursive_triggers on.
_SAME = MappingProxyType(
    {
        "meta": "key = new.key",
        "log": "id = new.id OR session = new.session",
        "blob": "id = new.id OR hash = new.hash",
        "node": "id = new.id OR (log = new.log AND node = new.node)",
        "stub": "id = new.id OR handle = new.handle",
        "entry": "id = new.id OR (log = new.log AND (seq = new.seq OR idem = new.idem))",
        "seal": "id = new.id",
    }
)

Migration = Callable[[apsw.Connection], None]


def create(db: apsw.Connection) -> None:
    """From nothing to version 1: tables and their guards."""
    for statement in _TABLES:
        db.execute(statement)
    for table, same in _SAME.items():
        for statement in _guards(table, same):
            db.execute(statement)


# Version found -> the step to the next one. A released step never changes; a new version adds one.
MIGRATIONS: Mapping[int, Migration] = MappingProxyType({0: create})


def initialise(db: apsw.Connection, now: int, secret: bytes, secret_hash: bytes) -> None:
    """Make an empty database a store, in the caller's transaction; `now` in ms since the epoch."""
    migrate(db, 0)
    for key, value in (("created", now), ("schema", VERSION), ("secret", secret)):
        db.execute("INSERT INTO meta VALUES(?, ?)", (key, value))
    db.execute("INSERT INTO seal VALUES(0, 0, 0, 0, 0, 0, ?)", (digests.genesis(VERSION, now, secret_hash),))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def migrate(db: apsw.Connection, found: int, steps: Mapping[int, Migration] = MIGRATIONS) -> None:
    """Bring a database of version `found` to VERSION, in the caller's transaction."""
    for version in range(found, VERSION):
        steps[version](db)
    db.execute(f"PRAGMA user_version = {VERSION}")


def check_version(found: int, where: str, steps: Mapping[int, Migration] = MIGRATIONS) -> None:
    """Whether a store of version `found` can be used, after a migration if it is older.

    Raises StoreVersionError.
    """
    if found > VERSION:
        raise StoreVersionError(
            f"{where} was written by a newer ctxgc (schema {found}, this one knows {VERSION}): upgrade ctxgc"
        )
    if found < 1 or any(version not in steps for version in range(found, VERSION)):
        raise StoreVersionError(
            f"{where} has schema {found}, from which there is no migration to {VERSION}:"
            " open it with the ctxgc that wrote it, or start a new store"
        )


def objects(db: apsw.Connection) -> dict[str, object]:
    """All tables, indexes, triggers and views of a database by type and name, with their SQL."""
    rows = db.execute("SELECT type || ' ' || name, sql FROM sqlite_schema").fetchall()
    return {str(name): sql for name, sql in rows}


def expected() -> dict[str, object]:
    """The `objects` of a store of this version."""
    db = apsw.Connection(":memory:")
    try:
        create(db)
        return objects(db)
    finally:
        db.close()


def _guards(table: str, same: str) -> tuple[str, str, str]:
    no = "BEGIN SELECT RAISE(ABORT, 'append-only'); END"
    exists = f"EXISTS(SELECT 1 FROM {table} WHERE {same})"
    return (
        f"CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} {no}",
        f"CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} {no}",
        f"CREATE TRIGGER {table}_replace BEFORE INSERT ON {table} WHEN {exists} {no}",
    )
