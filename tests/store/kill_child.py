"""Appends for ever and prints what is acknowledged, until it is killed: `kill_child.py URL FIRST early|durable`."""

import os
import sys
from hashlib import sha256

from ctxgc.store import Record, open_store


def acknowledge(number: int) -> None:
    os.write(1, b"%d\n" % number)


def main(url: str, first: int, early: bool) -> None:
    store = open_store(url)
    futures = []
    for number in range(first, first + 1_000_000):
        content = sha256(b"%d" % number).digest() * 20
        record = Record(b"s" * 32, "gap", b'{"n":%d}' % number, number.to_bytes(16, "big"), (content,))
        if early:  # the defect that the test must notice: an acknowledgement that does not wait for the commit
            acknowledge(number)
            if number == first + 9:
                sys.stdin.read()
        future = store.append([record])
        if not early:
            future.add_done_callback(lambda done, number=number: done.exception() or acknowledge(number))
        futures.append(future)
        if len(futures) == 8:
            futures.pop(0).result()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "early")
