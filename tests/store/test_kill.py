"""kill -9 at any moment: what was acknowledged is there, without gaps."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ctxgc.store import open_store

from .helpers import SESSION

CHILD = Path(__file__).with_name("kill_child.py")
ROOT = Path(__file__).parents[2]


def killed_after(url, first, acks, mode="durable"):
    """The numbers a child had acknowledged when it was killed, some after it had printed `acks` of them."""
    command = [sys.executable, CHILD, url, str(first), mode]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as child:
        lines = [child.stdout.readline() for _ in range(acks)]
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    return [int(line) for line in lines if line.endswith(b"\n")]


def stored(url):
    store = open_store(url)
    try:
        assert list(store.verify()) == []
        entries = list(store.entries(SESSION))
        assert [entry.seq for entry in entries] == list(range(len(entries)))
        return [int.from_bytes(entry.idem, "big") for entry in entries]
    finally:
        store.close()


def lost_in(url, kills, dice):
    acknowledged = []
    for turn in range(kills):
        acknowledged += killed_after(url, turn * 1_000_000, dice.randint(1, 60))
        there = stored(url)
        assert there == sorted(there)
        assert set(acknowledged) <= set(there), turn
    assert len(acknowledged) >= kills


def test_nothing_acknowledged_is_lost(url):
    lost_in(url, 10, random.Random(1))


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_many_kills(url):
    lost_in(url, 500, random.Random(2))


def test_an_acknowledgement_before_the_commit_would_be_noticed(url):
    acknowledged = killed_after(url, 0, 10, "early")
    assert not set(acknowledged) <= set(stored(url))
