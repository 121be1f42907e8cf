"""What SQLite and its schema say about the health of a file.

Rule: an error while looking is a finding, not a crash.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxgc.store.errors import StoreError
from ctxgc.store.readers import Readers
from ctxgc.store.records import Finding
from ctxgc.store.schema import expected, objects


def inspect(readers: Readers) -> Iterator[Finding]:
    """Findings of SQLite's own check, and of a schema that is not exactly ours."""
    for part in (_integrity, _schema):
        try:
            yield from part(readers)
        except StoreError as error:
            yield Finding("sqlite", None, None, "", str(error))


def _integrity(readers: Readers) -> list[Finding]:
    answers = [str(row[0]) for row in readers.fetch("PRAGMA integrity_check")]
    return [Finding("sqlite", None, None, "", f"SQLite finds: {answer}") for answer in answers if answer != "ok"]


def _schema(readers: Readers) -> list[Finding]:
    ours = expected()
    with readers.connection() as db:
        found = objects(db)
    words = [(name, "is missing") for name in ours.keys() - found.keys()]
    words += [(name, "does not belong here") for name in found.keys() - ours.keys()]
    words += [(name, "is not as it was made") for name in ours.keys() & found.keys() if ours[name] != found[name]]
    return [Finding("schema", None, None, name, f"The {name} {what}.") for name, what in sorted(words)]
