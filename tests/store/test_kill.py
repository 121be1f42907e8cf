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


def child(url, first, mode="durable"):
    command = [sys.executable, CHILD, url, str(first), mode]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def kill(process, acks):
    """The numbers a child had acknowledged when it was killed, some after it had printed `acks` of them."""
    with process:
        lines = [process.stdout.readline() for _ in range(acks)]
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
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
        acknowledged += kill(child(url, turn * 1_000_000), dice.randint(1, 60))
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
    acknowledged = kill(child(url, 0, "early"), 10)
    assert not set(acknowledged) <= set(stored(url))


def test_two_processes_on_one_file_lose_nothing_when_both_are_killed(url):
    processes = [child(url, 0), child(url, 1_000_000)]
    acknowledged = [number for process in processes for number in kill(process, 40)]
    assert len(acknowledged) >= 80
    assert set(acknowledged) <= set(stored(url))
