"""What a session does when a request has been booked: it marks what is new in it, and plans for the next one.

Rule: it must be done before the next request is decided; nothing else waits for it. It is done in slices, and anyone
may go on where another left off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from ctxgc.session.admission import Pending
from ctxgc.session.booking import Books
from ctxgc.session.cycle import Cycle


class Afterwards:
    """What is still to be done of it, oldest first. ``restored`` says that a process that died may not have come to
    marking all."""

    def __init__(self, cycle: Cycle, books: Books, *, restored: bool) -> None:
        self._cycle, self._books, self._restored = cycle, books, restored
        self._due: deque[Pending | None] = deque()
        self._newest: Pending | None = None
        self._under_way: Generator[None, None, None] | None = None

    def __bool__(self) -> bool:
        """Whether something is to be done."""
        return bool(self._due)

    def add(self, pending: Pending) -> None:
        """Have a request that was booked marked, and the next one planned."""
        self._due.append(pending)
        self._newest = pending

    def again(self) -> None:
        """Plan once more for what would follow the newest request."""
        if self._newest is not None:
            self._due.append(self._newest)

    def doing(self, *, wanted: bool) -> Generator[None, None, None]:
        """Do all that is due. ``wanted`` says whether anything is ever collected in this session."""
        if self._restored and wanted:
            self._due.appendleft(None)
        self._restored = False
        while self._due:
            self._under_way = self._under_way or self._done(self._due[0])
            try:
                next(self._under_way)
            except StopIteration:
                self._due.popleft()
                self._under_way = None
            yield

    def _done(self, pending: Pending | None) -> Generator[None, None, None]:
        """What its cells refer to, and what could go next; None: only what a process that died had not marked."""
        marking = yield from self._cycle.marking(pending)
        if marking is not None:
            self._books.write(self._books.line(marking))
        if pending is not None and marking is not None:  # planned once more, it has nothing new
            self._cycle.took(pending)
        for fault in (yield from self._cycle.planning(pending)) if pending else ():
            self._books.write(self._books.line(fault))
