"""A ledger made on the command line, and logs as somebody who has the store could write them."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from ctxgc.core import journal
from ctxgc.core.bookings import AnyBooking
from ctxgc.ledger.log import key_of
from ctxgc.store import Record, open_store

from .conftest import Run

REPORT = "# report\n42 passed, 0 failed\nport = 8787\n"
CONFIG = '{"limits": {"max": [1, 2.50]}, "name": "a=b"}'


def kept(run: Run, url: str) -> Path:
    """A ledger with two facts, the first of them critical, and a claim; and the file that the first is about."""
    report = Path("report.md")
    report.write_text(REPORT)
    at = ("--store", url)
    assert (
        run("ledger", "post", "it is written", "--voucher", report, "--verify", "reads_back", "--critical", *at)[0] == 0
    )
    assert run("ledger", "post", "42 pass", "--voucher", report, "--verify", "number=42@passed", *at).code == 0
    assert run("ledger", "claim", "the port is 8787", "--quote", "port = 8787", *at).code == 0
    return report


def asked(run: Run, url: str, *argv: object, code: int = 0) -> dict:
    """What a command of the ledger answers in JSON."""
    ran = run("ledger", *argv, "--store", url, "--json")
    assert (ran.code, ran.err) == (code, "")
    return json.loads(ran.out)


def forged(url: str, *entries: AnyBooking, name: str = "main", blobs: tuple[bytes, ...] = ()) -> None:
    """Write entries into a ledger's log without asking its rules."""
    store = open_store(url)
    for entry in entries:
        record = Record(key_of(name), journal.kind(entry), journal.encode(entry), uuid.uuid4().bytes, blobs)
        store.append([record]).result()
    store.close()
