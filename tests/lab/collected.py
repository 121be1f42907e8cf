"""A session whose residents are collected: an agent that looks at many long listings and comes back to one.

The provider bills by the bytes it got: prefixes of at least ``LEAST`` tokens are cached, in steps of ``STEP``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ctxgc.core.block import Kind
from ctxgc.core.heap import Heap
from ctxgc.core.journal import AnyEntry, Collection, Settlement, Usage, decode
from ctxgc.core.pacer import Pacer
from ctxgc.core.policy import Policy, Verdict
from ctxgc.lab.moments import Moment, moment
from ctxgc.policies import from_config
from ctxgc.session import Kit, Prepared, Session
from ctxgc.store import Store
from tests.session.scripts import Dict, agent, body, call, history, kit, result, system, user

KEY = b"\xcc" * 32
POLICY = "dedup,tests.lab.collected:Idle"
STEP, LEAST = 128, 1024
SOON = Pacer(regret=0.5)
NAMES = ("parse_config", "load_session", "render_page", "merge_branch", "close_ledger", "open_socket", "trim_history")


@dataclass(frozen=True, slots=True)
class Idle:
    """Shorten results that nothing referred to for some turns."""

    idle: int = 3
    keep: float = 0.2
    name: str = "idle"

    def propose(self, heap: Heap) -> Iterable[Verdict]:
        for one in heap.residents:
            if one.kind is Kind.TOOL_RESULT and one.idle(heap.turn) >= self.idle and not one.edited:
                since = one.referenced + self.idle
                yield Verdict(one.id, self.name, "excerpt", "unused for long", excerpt=self.keep, since=since)


def listing(number: int, lines: int = 150) -> str:
    """A long listing whose lines hold names of their own."""
    name = NAMES[number % len(NAMES)]
    return "".join(f"{at}: def {name}_{number}_{at}(request): return {at * number}\n" for at in range(lines))


def turn(number: int, *, says: str | None = None) -> list[Dict]:
    """The agent searches, and its result; the fourth search is made again right after."""
    again = 4 if number == 5 else number
    query = f'{{"q": "module_{again}"}}'
    return [agent(says, call(f"c{number}", "search", query)), result(f"c{number}", listing(again))]


def bodies(length: int = 16) -> list[bytes]:
    """The requests of the session; in the ninth, the agent comes back to what it read second."""
    messages: list[Dict] = [system(listing(0)), user("find the bug")]
    made = [body(messages)]
    for number in range(1, length):
        says = f"look at {NAMES[1]}_1_17 again" if number == 8 else None
        messages = [*messages, *turn(number, says=says)]
        made.append(body(messages))
    return made


def collecting_kit(store: Store, policies: Sequence[Policy] | None = None, **changes: object) -> Kit:
    """A kit that collects residents soon; a request a second."""
    ticks = itertools.count(1_700_000_000)
    chosen = from_config(POLICY) if policies is None else policies
    return kit(store, chosen, **{"clock": lambda: float(next(ticks)), "pacer": SOON, **changes})


def run(used: Kit, texts: Sequence[bytes], key: bytes = KEY) -> Session:
    """Send bodies through one session, and bill each for what of its messages was sent before in the same bytes."""
    session, before = Session(key, b"s" * 32, "test", used), list[bytes]()
    for text in texts:
        prepared = session.prepare(text)
        messages = history(prepared.body)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, messages, strict=False)))
        usage = billed(session, prepared, shared)
        entry = Settlement(at=used.clock(), call=prepared.call, outcome="ok", status=200, usage=usage)
        session.settle(entry)
        before = messages
    session.flush()
    return session


def billed(session: Session, prepared: Prepared, shared: int) -> Usage:
    """The usage of a request whose first ``shared`` messages are in the cache, with the tool list before them."""
    total, state = session.estimated(prepared.call), session.state
    entry = state.unsettled[prepared.call]
    read = state.tokens(state.path(entry.head)[shared - 1].id, entry.toolset, sent=True) if shared else 0
    read = read // STEP * STEP if read >= LEAST else 0
    return Usage(uncached=total - read, cached=read, output=10)


def entries(store: Store, key: bytes = KEY) -> list[AnyEntry]:
    return [decode(stored.body) for stored in store.entries(key)]


def collecting(log: Sequence[AnyEntry]) -> list[int]:
    """The numbers of the requests with which residents went."""
    return [one.number for one in (moment(log, at) for at in range(1, moment(log, -1).requests + 1)) if _went(one)]


def _went(one: Moment) -> bool:
    return any(isinstance(entry, Collection) and entry.generation != "eden" for entry in one.own)
