"""Eight processes post to one ledger: nothing is lost, and nothing is there twice. Its control is in `test_log`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ctxgc.ledger import open_ledger

CHILD = Path(__file__).with_name("writer_child.py")
ROOT = Path(__file__).parents[2]
WRITERS, FACTS = 8, 50


def writer(url: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), url, str(number), str(FACTS)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)


def test_eight_processes_lose_and_double_nothing(url: str):
    open_ledger(url).leave()
    writers = [writer(url, number) for number in range(WRITERS)]
    for process in writers:
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0].split() for process in writers]
    assert [process.returncode for process in writers] == [0] * WRITERS
    with open_ledger(url) as ledger:
        facts = ledger.books.current()
        ids = [fact.id for fact in facts]
        assert sorted(name for each in told for name in each) == sorted(ids)
        assert ids == [f"F{number}" for number in range(1, WRITERS * FACTS + 1)]
        expected = {f"writer {number} has done {count}" for number in range(WRITERS) for count in range(FACTS)}
        assert Counter(fact.statement for fact in facts) == Counter(expected)
        assert len(ledger.books.claims()) == FACTS  # the same ones from all of them
        assert len(ledger.books.artifacts) == WRITERS * FACTS + FACTS
        entries = list(ledger._log.store.entries(ledger.key))
        assert [entry.seq for entry in entries] == list(range(WRITERS * FACTS * 2 + FACTS * 2))
        assert ledger.reconcile(record=False).ok
        assert list(ledger._log.store.verify()) == []
