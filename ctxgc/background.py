"""Errands in process: run in threads of their own, beside the application.

Rule: nobody waits for them but the end of a conversation, and that not for long; what is not done by then is not done.
Whatever goes wrong in one, or in beginning one, is no fault of the application's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from ctxgc.session import Session
from ctxgc.session.errands import NOBODY, Access, Errand, Ran, done, undone

PATIENCE = 5.0
"""Seconds that the end of a conversation waits for what is under way, all in all."""


class Background:
    """Runs the errands of sessions; ``lock`` is held while they are taken, and while what came of one is booked."""

    def __init__(self, lock: AbstractContextManager[object], access: Access = NOBODY) -> None:
        self._lock, self._access = lock, access
        self._threads: set[threading.Thread] = set()
        self._beginning = threading.Lock()

    def run(self, session: Session, current: Callable[[], bool] = lambda: True) -> None:
        """Run what a session has to be run. ``current`` says whether the session is still the one to be told.

        Must not be called with the lock held. Never raises.
        """
        try:
            with self._lock:
                errands = session.errands() if current() else []
        except Exception:  # fail open: a record, or a period, does without
            return
        for errand in errands:
            self._start(session, errand, current)

    def wait(self, seconds: float = PATIENCE) -> None:
        """Wait until all has been run, with what comes of it, or so long."""
        until = time.monotonic() + seconds
        while (thread := self._under_way()) and (left := until - time.monotonic()) > 0:
            thread.join(left)

    def _under_way(self) -> threading.Thread | None:
        with self._beginning:  # none that is not begun yet can be waited for
            self._threads = {thread for thread in self._threads if thread.is_alive()}
            return next(iter(self._threads), None)

    def _start(self, session: Session, errand: Errand, current: Callable[[], bool]) -> None:
        thread = threading.Thread(target=self._one, args=(session, errand, current), daemon=True, name="ctxgc-errand")
        try:
            self._under_way()  # those that have ended are forgotten
            with self._beginning:
                thread.start()
                self._threads.add(thread)
        except RuntimeError as error:  # there can be no more threads, or the program is about to end
            self._book(session, undone(errand, f"errand not begun: {type(error).__name__}"), current)

    def _one(self, session: Session, errand: Errand, current: Callable[[], bool]) -> None:
        self._book(session, done(errand, self._access), current)
        self.run(session, current)

    def _book(self, session: Session, ran: Ran, current: Callable[[], bool]) -> None:
        try:
            with self._lock:
                if current() and not session.broken:
                    session.ran(ran)
                    session.admit()
        except Exception:  # fail open: as above
            pass
