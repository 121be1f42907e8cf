"""The sub-tasks, five a round: settings, a module, other settings, the old ones again, and a client of both.

Rule: a sub-task says what is to be done and never what was done before; it is done when a verifier finds so, and not
when the model says so.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ctxgc.core.books import Books
from ctxgc.errors import CtxgcError, NotVerified
from ctxgc.examples.host import Host
from ctxgc.ledger import Verifier, exit_status, json_path_equals, quotes

SETTINGS = "settings.json"
KINDS = 5
_REGIONS = ("eu-north-1", "eu-west-3", "us-east-2", "ap-south-1", "sa-east-1", "af-south-1")


class NotDone(CtxgcError):
    """A sub-task is not done, whatever the model says."""


@dataclass(frozen=True, slots=True)
class Task:
    """One sub-task: what the model is told, what it is called when it is done, and the proof that it is: a file or
    command, and what the newest voucher of it has to bear out."""

    milestone: str
    text: str
    proof: tuple[tuple[str, Verifier], ...]

    def check(self, host: Host) -> None:
        """Raises ``NotDone``."""
        for ref, verifier in self.proof:
            fact = host.standing(ref)
            if fact is None:
                raise NotDone(f"{self.milestone}: the host has no fact about {ref}")
            try:
                host.ledger.verify(fact.source[0].artifact, verifier)
            except NotVerified as error:
                raise NotDone(f"{self.milestone}: {error}") from error


@dataclass(frozen=True, slots=True)
class Round:
    """What the five sub-tasks of one round are about, by seed and number."""

    number: int
    port: int
    other: int
    workers: int
    region: str
    values: tuple[int, ...]

    @property
    def part(self) -> str:
        """The module's name, without its ending."""
        return f"part_{self.number:02}"

    @property
    def client(self) -> str:
        """The client's name, without its ending."""
        return f"use_{self.number:02}"


def round_of(seed: int, number: int) -> Round:
    """The round of that number."""
    dice = random.Random(f"settling {seed} {number}")
    port, other = dice.sample(range(1_100, 60_000), 2)
    values = tuple(dice.sample(range(1_000, 100_000), dice.randint(8, 20)))
    return Round(number, port, other, dice.randint(100, 999), dice.choice(_REGIONS), values)


def task(seed: int, number: int, books: Books) -> Task:
    """Sub-task ``number``, from 0. The one that puts something back names its voucher."""
    made = round_of(seed, number // KINDS)
    match number % KINDS:
        case 0:
            return _settings(made)
        case 1:
            return _part(made)
        case 2:
            return _other(made)
        case 3:
            return _back(made, books)
    return _client(made)


def _settings(made: Round) -> Task:
    text = (
        f"Write {SETTINGS}: one JSON object, each key on a line of its own, with port = {made.port},"
        f' workers = {made.workers} and region = "{made.region}".'
    )
    return Task(f"settings {made.number} written", text, (_port(made.port), _workers(made)))


def _part(made: Round) -> Task:
    lines = "\n".join(f"V{at} = {value}" for at, value in enumerate(made.values, 1))
    test = f"test_{made.part}.py"
    text = (
        f"Write {made.part}.py, with exactly these lines:\n{lines}\n"
        f"Write {test}: it imports {made.part} and has a function test_v1, test_v2, ... for each constant, which"
        " asserts its value. Then run these tests."
    )
    return Task(f"{made.part} tested", text, (_tested(test), (f"{made.part}.py", quotes(lines))))


def _other(made: Round) -> Task:
    text = f"Write {SETTINGS} anew with port = {made.other}. Whatever else is in it stays as it is."
    return Task(f"settings {made.number} changed", text, (_port(made.other), _workers(made)))


def _back(made: Round, books: Books) -> Task:
    text = (
        f"The new port is taken. Put {SETTINGS} back as it was before the change, byte for byte: it is voucher"
        f" [{_overturned(books)}]."
    )
    return Task(f"settings {made.number} put back", text, (_port(made.port), _workers(made)))


def _client(made: Round) -> Task:
    name, test = f"{made.client}.py", f"test_{made.client}.py"
    text = (
        f"Write {name} with two lines: PORT = the port that {SETTINGS} has now, and TOTAL = the sum of all constants in"
        f" {made.part}.py, both as plain numbers. Write {test} with two functions, test_port and test_total, which"
        f" compare {made.client}.PORT with the file {SETTINGS}, and {made.client}.TOTAL with the constants of"
        f" {made.part}. Then run these tests."
    )
    said = quotes(f"PORT = {made.port}\nTOTAL = {sum(made.values)}")
    return Task(f"{made.client} tested", text, (_tested(test), (name, said)))


def _overturned(books: Books) -> str:
    """The voucher of the newest settings that were overturned; empty where there are none."""
    gone: Sequence[str] = [name for name in books.superseded_by if _of_settings(books, name)]
    return books.facts[gone[-1]].source[0].artifact if gone else ""


def _of_settings(books: Books, name: str) -> bool:
    return books.artifacts[books.facts[name].source[0].artifact].ref == SETTINGS


def _port(port: int) -> tuple[str, Verifier]:
    return SETTINGS, json_path_equals("port", port)


def _workers(made: Round) -> tuple[str, Verifier]:
    return SETTINGS, json_path_equals("workers", made.workers)


def _tested(test: str) -> tuple[str, Verifier]:
    return f"run_tests {test}", exit_status(0)
