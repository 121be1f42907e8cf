"""Errands in process: in threads that hold nothing up, fail nothing, and end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ctxgc.background import Background
from ctxgc.session.errands import Access, Ran

HANG = 30
"""Seconds after which a test that waits is taken to hang."""


@dataclass
class Errand:
    """Runs what it is given, and says which access it had."""

    work: Callable[[], Ran] = lambda: Ran(milestone="done")
    access: list[Access] = field(default_factory=list)

    def run(self, access: Access) -> Ran:
        self.access.append(access)
        return self.work()


@dataclass
class Session:
    """As much of a session as errands see. ``rounds`` are the errands that it has, each time it is asked."""

    rounds: list[list[Errand]]
    broken: bool = False
    booked: list[Ran] = field(default_factory=list)
    admitted: int = 0
    threads: set[str] = field(default_factory=set)

    def errands(self) -> list[Errand]:
        return self.rounds.pop(0) if self.rounds else []

    def ran(self, ran: Ran) -> None:
        self.threads.add(threading.current_thread().name)
        self.booked.append(ran)

    def admit(self) -> None:
        self.admitted += 1


def run(session: Session, **more: Any) -> Background:
    background = Background(threading.Lock(), Access("base", "key"))
    background.run(session, **more)  # type: ignore[arg-type]
    return background


def raising() -> Ran:
    raise ValueError("what an errand must not do")


def left() -> list[str]:
    """The threads of errands that still run."""
    return [one.name for one in threading.enumerate() if one.name == "ctxgc-errand"]


def joined() -> None:
    """Wait for them to end."""
    for thread in threading.enumerate():
        if thread.name == "ctxgc-errand":
            thread.join(HANG)


def test_an_errand_is_run_in_another_thread_and_what_came_of_it_is_booked() -> None:
    errand = Errand()
    session = Session([[errand]])
    run(session).wait(HANG)
    assert session.booked == [Ran(milestone="done")]
    assert session.threads == {"ctxgc-errand"}
    assert session.admitted == 1
    assert errand.access == [Access("base", "key")]
    assert not left()


def test_what_an_errand_leads_to_is_run_and_waited_for_as_well() -> None:
    session = Session([[Errand(), Errand()], [Errand(lambda: Ran(milestone="then"))]])
    run(session).wait(HANG)
    assert sorted(one.milestone for one in session.booked) == ["done", "done", "then"]
    assert not left()


def test_nobody_waits_for_an_errand_that_hangs() -> None:
    let_go = threading.Event()
    session = Session([[Errand(lambda: Ran(milestone=str(let_go.wait(HANG))))]])
    background = run(session)
    background.wait(0)
    assert session.booked == []
    assert left()
    let_go.set()
    background.wait(HANG)
    assert session.booked == [Ran(milestone="True")]
    assert not left()


def test_the_lock_is_free_while_an_errand_runs_and_held_while_it_is_booked() -> None:
    lock, seen = threading.Lock(), []

    def work() -> Ran:
        seen.append(lock.locked())
        return Ran()

    class Watched(Session):
        def ran(self, ran: Ran) -> None:
            seen.append(lock.locked())

        def errands(self) -> list[Errand]:
            seen.append(lock.locked())
            return super().errands()

    background = Background(lock)
    background.run(Watched([[Errand(work)]]))  # type: ignore[arg-type]
    background.wait(HANG)
    assert seen == [True, False, True, True]


def test_an_errand_that_raises_is_answered_for() -> None:
    session = Session([[Errand(raising)], [Errand()]])
    run(session).wait(HANG)
    assert session.booked == [Ran(fault="errand failed: ValueError"), Ran(milestone="done")]


@pytest.mark.parametrize("where", ["errands", "ran", "admit"])
def test_a_session_that_fails_ends_no_program(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session([[Errand()]])
    monkeypatch.setattr(session, where, lambda *_: raising())
    background = run(session)
    background.wait(HANG)
    assert not left()


def test_a_session_that_is_not_current_any_more_is_told_nothing() -> None:
    begun, let_go, current = threading.Event(), threading.Event(), [True]

    def work() -> Ran:
        begun.set()
        let_go.wait(HANG)
        return Ran(milestone="late")

    session = Session([[Errand(work)], [Errand()]])
    background = run(session, current=lambda: current[0])
    assert begun.wait(HANG)
    current[0] = False
    let_go.set()
    background.wait(HANG)
    assert session.booked == []
    assert len(session.rounds) == 1  # nor is it asked for more


def test_a_session_that_is_broken_is_told_nothing() -> None:
    session = Session([[Errand()]], broken=True)
    run(session).wait(HANG)
    assert session.booked == []


def test_where_no_thread_can_be_begun_the_session_goes_on_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    session = Session([[Errand(), Errand()]])
    monkeypatch.setattr(threading.Thread, "start", full)
    background = run(session)
    monkeypatch.undo()
    background.wait(HANG)
    assert session.booked == [Ran(fault="errand not begun: RuntimeError")] * 2


def test_many_threads_that_ask_at_once_run_each_errand_once() -> None:
    ran: list[int] = []
    errands = [Errand(lambda number=number: ran.append(number) or Ran()) for number in range(200)]  # type: ignore[misc,func-returns-value]
    session = Session([[one] for one in errands])
    background = Background(threading.Lock())
    asking = [threading.Thread(target=background.run, args=(session,)) for _ in range(20)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(HANG)
    while session.rounds:
        background.run(session)  # type: ignore[arg-type]
    background.wait(HANG)
    assert sorted(ran) == list(range(200))
    assert len(session.booked) == 200
