"""Errands in process: run in threads of their own, beside the application.

Rule: nobody waits for them but the end of a conversation, and that not for long; what is not done by then is not done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from ctxgc.session import Session
from ctxgc.session.errands import NOBODY, Access, Errand

PATIENCE = 5.0
"""Seconds that the end of a conversation waits for what is under way."""


class Background:
    """Runs the errands of sessions; ``lock`` is held while what came of one is booked."""

    def __init__(self, lock: AbstractContextManager[object], access: Access = NOBODY) -> None:
        self._lock, self._access = lock, access
        self._threads: set[threading.Thread] = set()

    def run(self, session: Session, current: Callable[[], bool] = lambda: True) -> None:
        """Run what a session has to be run. ``current`` says whether the session is still the one to be told."""
        for errand in session.errands():
            thread = threading.Thread(target=self._one, args=(session, errand, current), daemon=True)
            self._threads.add(thread)
            thread.start()

    def wait(self, seconds: float = PATIENCE) -> None:
        """Wait until all has been run, or so long."""
        for thread in tuple(self._threads):
            thread.join(seconds)

    def _one(self, session: Session, errand: Errand, current: Callable[[], bool]) -> None:
        try:
            ran = errand.run(self._access)
            with self._lock:
                if current() and not session.broken:
                    session.ran(ran)
                    session.admit()
                    self.run(session, current)
        except Exception:  # fail open: a record, or a period, does without
            pass
        finally:
            self._threads.discard(threading.current_thread())
