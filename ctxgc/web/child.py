"""The reader as a process of its own, so that a long journal never takes the proxy's time.

Rule: standard output carries answers and nothing else; the process ends when its standard input does, that is with the
process that began it, however that ended.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from contextlib import suppress
from select import select
from typing import Protocol

from ctxgc.web.frames import HEAD, Answer, Asked, Terms, frame, refusal, unframe

_NICE = 5


def main() -> None:
    """Answer until nobody asks any more."""
    out = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    with suppress(OSError):
        os.nice(_NICE)  # agents come first
    source = os.fdopen(0, "rb", buffering=0)  # what has been read is known: what waits is in the pipe
    begun = received(source)
    if begun is None:
        return
    answer = _opened(unframe(begun, Terms), lambda: bool(select([source], [], [], 0)[0]))
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # sessions are many small values that stay
    with suppress(BrokenPipeError):
        while (body := received(source)) is not None:
            gc.disable()  # garbage waits, and not who asks
            out.write(frame(answer(unframe(body, Asked))))
            out.flush()
            gc.enable()
    os._exit(0)  # nothing is to be written: what only reads may go at once


class Source(Protocol):
    """A pipe, or what is read like one."""

    def read(self, size: int, /) -> bytes | None:
        """At most so many bytes; none at its end."""


def received(source: Source) -> bytes | None:
    """The body of the next frame; None where the other end is gone."""
    head = _exactly(source, HEAD)
    return None if head is None else _exactly(source, int.from_bytes(head, "big"))


def _exactly(source: Source, size: int) -> bytes | None:
    found = b""
    while len(found) < size:
        more = source.read(size - len(found))
        if not more:
            return None
        found += more
    return found


def _opened(terms: Terms, waiting: Callable[[], bool]) -> Callable[[Asked], Answer]:
    """What answers questions about a store; where it cannot be opened, an answer says why, and the next one tries."""
    from ctxgc.store import StoreError, open_store
    from ctxgc.web.reader import Reader

    reader: Reader | None = None

    def answer(asked: Asked) -> Answer:
        nonlocal reader
        try:
            reader = reader or Reader(open_store(terms.url, create=False, read_only=True), terms, waiting)
        except StoreError as error:
            return refusal(503, str(error), "ctxgc_store")
        return reader.answer(asked)

    return answer


if __name__ == "__main__":
    main()
