"""Small records, and everything a store says about itself, for comparing."""

from hashlib import sha256
from pathlib import Path
from random import Random

import apsw

from ctxgc.store import Node, Record, Store, Stub
from ctxgc.store.codec import unpack
from ctxgc.store.digests import NO_PARENT, chain
from ctxgc.store.rows import TABLES, blob_row, entry_row

SESSION = b"s" * 32
OTHER = b"o" * 32


def digest(data: bytes) -> bytes:
    return sha256(data).digest()


def noise(seed: int, size: int) -> bytes:
    """What does not compress."""
    return Random(seed).randbytes(size)


def record(number: int, session: bytes = SESSION, **more) -> Record:
    fields = {"kind": "gap", "body": b'{"n":%d}' % number, "idem": number.to_bytes(16, "big")} | more
    return Record(session, **fields)


def path_of_nodes(contents: list[bytes]) -> tuple[Node, ...]:
    """Nodes of a conversation without branches."""
    nodes, parent = [], NO_PARENT
    for number, content in enumerate(contents):
        message = digest(b"canonical " + content)
        parent = chain(parent, message)
        nodes.append(Node(number, number - 1, parent, message, digest(content)))
    return tuple(nodes)


def fill(store: Store, count: int = 6) -> None:
    """A conversation, a second session, stubs, a big blob, and more than one transaction."""
    contents = [b"message %d " % number * 40 for number in range(count)]
    for number, node in enumerate(path_of_nodes(contents)):
        stub = Stub(f"abcdefghijklmn{'abcdefghij'[number // 10]}{'abcdefghij'[number % 10]}", number)
        body = b'{"text":"%s"}' % (b"word " * 30 * number)
        more = {"body": body, "blobs": (contents[number],), "nodes": (node,), "stubs": (stub,)}
        store.append([record(number, **more)]).result()
    store.append([record(0, OTHER), record(1, OTHER, kind="bypass", blobs=(bytes(range(256)),))]).result()


def everything(store: Store) -> list[object]:
    """All rows as they read, contents unpacked."""
    said: list[object] = [store.sessions(), store.tip(), store.secret]
    counts = store.rows().counts()[1]
    for table in TABLES:
        for raw in store.rows().select(table, 0, getattr(counts, table)):
            said.append(_meaning(table, raw))
    return said


def _meaning(table, raw):
    if table == "blob":
        row = blob_row(raw)
        return (row.id, row.digest, unpack(row.encoding, row.kept, row.size))
    if table == "entry":
        row = entry_row(raw)
        return (*row[:6], unpack(row.encoding, row.kept))
    return raw


def tamper(path: Path, *statements: str, unguarded: bool = True) -> None:
    """Change a closed store as someone with access to the file could, putting its guards back after it."""
    db = apsw.Connection(str(path))
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    try:
        for name, _ in guards if unguarded else ():
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, sql in guards if unguarded else ():
            db.execute(sql)
    finally:
        db.close()
