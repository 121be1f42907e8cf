"""A session that is compacted twice, told news of its ledger and asked for milestones, in small figures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from ctxgc.assemble import ledgers
from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import AnyEntry
from ctxgc.core.pacer import Pacer, Tariff
from ctxgc.policies.compact import Compact
from ctxgc.policies.dedup import Dedup
from ctxgc.session import Kit
from ctxgc.store import Store
from tests.lab.collected import Idle
from tests.session.recalls import Reading
from tests.session.scripts import Dict, Known, agent, body, call, kit, memory, result, schema, system, user

QUALITY = 3000
TERMS = Compact(tail=600, record=800, saving=500)
WARM = Tariff(least=0)
POLICIES = (Dedup(min_tokens=16), TERMS)
SHORTENING = (Dedup(min_tokens=16), Idle(idle=2, keep=0.2), TERMS)
TOOLS = {"tools": [schema("lookup")]}


@contextmanager
def known() -> Iterator[Store]:
    """A store in memory whose handles, and with them tokens, are always the same."""
    with memory() as store:
        yield cast("Store", Known(store))


def compacting(store: Store, policies: Any = POLICIES, **changes: Any) -> Kit:
    """A kit that compacts what comes to more than ``QUALITY`` tokens, whatever that costs."""
    given = {"pacer": Pacer(quality=QUALITY), "tariff": lambda _: WARM, "recall": True, "ledger": ledgers(store)}
    return kit(store, policies, **{**given, **changes})


def row(number: int) -> str:
    """A result that is named in what the agent says next."""
    return f"row {number} says value_{number * 31}\n"


def thought(number: int) -> str:
    """What the agent says: it takes most of a turn."""
    return f"thing number {number} matters because the earlier one named item_{number * 7}, and so on for a while, " * 2


class Story(Reading):
    """A conversation in parts of ten turns each, every one with a question of the user's at its end."""

    def part(self, number: int, turns: int = 10) -> None:
        """So many turns, and the user's next question."""
        for at in range(number * turns, (number + 1) * turns):
            self.say(row(at), text=thought(at))
        self.answer(f"done with part {number}", f"now part {number + 1}")

    def post(self, statement: str) -> None:
        """The host posts a fact."""
        ledger = self.used.ledger
        assert ledger is not None
        book = ledger(self.session.key)
        book.post(statement, [book.verify(book.vault.store(ref=statement, content=statement), statement)])

    def compactions(self) -> list[Compaction]:
        return [one for one in self.entries() if isinstance(one, Compaction)]


def story(used: Kit, parts: int = 7) -> Story:
    """Seven parts: news in the second and the sixth, a milestone after the fourth, a recall after the fifth, and a
    restart."""
    told = Story(used, fields=dict(TOOLS))
    for number in range(parts):
        if number in (1, 5):
            told.post(f"fact {number} holds")
        told.part(number)
        if number == 3:
            told.session.milestone("part four written")
        if number == 4 and told.compactions():
            told.recall(told.compactions()[0].handle)
            told.restart()
    return told


def log(told: Story) -> list[AnyEntry]:
    return list(told.entries())


def winding(seed: int, length: int = 40) -> list[bytes]:
    """The requests of an agent that looks things up, is asked more, is led back to an earlier point and asked for a
    title in between, always in the same bytes."""
    rng, made = random.Random(seed), list[bytes]()
    messages: list[Dict] = [system(), user("the task is to do it")]
    for number in range(length):
        kind = rng.choice(["turn"] * 6 + ["answer", "branch", "retry", "helper"])
        if kind == "turn":
            content = "again and again\n" * 30 if rng.random() < 0.3 else row(number)
            messages = [*messages, agent(thought(number), call(f"c{number}", "lookup", f'{{"n":{number}}}'))]
            messages = [*messages, result(f"c{number}", content)]
        elif kind == "answer":
            messages = [*messages, agent(thought(number)), user(f"go on with {number}")]
        elif kind == "branch":
            messages = [*messages[: rng.randrange(2, len(messages) + 1)], agent("otherwise"), user(f"no, {number}")]
        elif kind == "helper":
            made.append(body([user(f"a title for {number}")], **TOOLS))
        made.append(body(messages, **TOOLS))
    return made
