"""How well references are found, what is found wrongly, and what that costs: 300 results, 100 messages of each kind.

The results are made from a seed: logs, code, listings, JSON, CSV and reports that share their services, paths,
customers and templates, as those of one session do. A message holds a reference of one kind in the middle of an
agent's talk, or none. Found is the result that it was taken from; wrong are results without what was taken. Costs are
of processor time, also given beside a floor: splitting the same text into words.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from benchmarks.workload import spread
from ctxgc.core.references import References


def listed(text: str) -> list[str]:
    return text.split()


NOUNS = listed("""account adapter auction balance barrier beacon binder bishop boiler border bottle bracket bridge broker bucket
bundle cabinet canal candle cargo carrier cartridge catalog ceiling cellar chamber channel chapter charter circuit citizen
clause cluster coast collar copper corner corridor counter courier cradle crane credit crystal curtain custody dealer deposit
dialect drawer engine envelope estate fabric factor ferry filament fleet forest freight furnace garden gateway glacier grain
granite guard hangar harbor harvest hinge horizon hotel invoice island journal junction kernel ladder lantern leaflet ledger
lever license lobby locker magnet mandate margin market meadow meter mirror mortgage motor needle notice orchard organ oven
parcel passport pension petrol pillar planet plaster pocket premium printer profile pulley quarry quota radar ratio receipt
refund rental reservoir ribbon river rocket saddle salary sample satellite scanner schedule sensor shelter shipment shuttle
signal socket spindle station statute steel stock stove sulphur surface switch tariff tenant terminal ticket timber tower
tractor trailer treaty tunnel turbine vault vendor vessel voucher wallet warehouse weight wheel window winter zone""")
VERBS = listed("""absorb adjust allocate anchor approve archive assign attach balance bind borrow capture carry clear collect
combine compress convert copy defer deliver detach divert drain encode escrow estimate exceed expire fold forward freeze
grant hoist inspect invert issue levy lift lock measure migrate mount notify offset order pack patch pledge post process
prune quote rebuild reconcile redeem refuse replay reserve resolve restore reverse route sample scale schedule seal settle
shift sign sort split stamp supply suspend swap taper trace transfer trim unlock vary void weigh withdraw""")
ADJECTIVES = listed("""annual bitter broken brisk calm coarse cold crooked dense dim dormant double dusty eager faint foreign fragile
gentle hollow humid idle inner iron joint late lean loose mild minor narrow native neutral nominal northern oblique odd outer
pale partial plain quiet rapid rigid rough scarce shallow sharp silent slack slim solid sparse steady steep stiff stray sturdy
tame thick tidy vacant vivid warm western worn""")
NAMES = listed(
    "Adler Bancroft Castell Dumont Eriksen Falk Grady Holt Ibarra Jensen Kovacs Lindqvist Moreau Nakata Okafor Petrov Quist Rossi"
)
FIRST = listed("Ada Bruno Carla Dmitri Elena Farid Greta Hugo Irene Jonas Kira Luis Mara Nils Olga Pavel")
TALK = (
    "I have looked at the output and will continue with the next step.",
    "The tests pass now, but one more case has to be checked before I commit this.",
    "Let me read the file again, since the error could come from another place.",
    "There were no errors in the last run, and the status was 200 for all requests.",
    "This looks like a timeout: the server answered 404 or 500 after 30 seconds.",
    "First I will update the configuration, then restart the service and look at the logs.",
    "It is not clear yet why this happens; the most likely reason is a missing value.",
    "Next: find where the function is called and whether the argument can be empty.",
    "In 2024 the format was different, so older files may need another parser.",
)
QUOTES = ("quote", "quote, whitespace", "quote, escaped", "quote, typos")
KINDS = (*QUOTES, "identifier", "number, separators", "number, rounded", "paraphrase", "none")


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    text: str
    source: int
    taken: str


class World:
    """What the results of one session share."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.services = [f"{rng.choice(NOUNS)}-{rng.choice(NOUNS)}" for _ in range(30)]
        self.functions = [f"{rng.choice(VERBS)}_{rng.choice(NOUNS)}" for _ in range(500)]
        self.classes = [
            f"{rng.choice(ADJECTIVES)}{rng.choice(NOUNS)}".title() + rng.choice(NOUNS).title() for _ in range(150)
        ]
        self.paths = [f"src/{rng.choice(NOUNS)}/{rng.choice(NOUNS)}_{rng.choice(NOUNS)}.py" for _ in range(400)]
        self.people = [f"{rng.choice(FIRST)} {rng.choice(NAMES)}" for _ in range(120)]
        self.templates = [self.sentence() for _ in range(60)]

    def sentence(self) -> str:
        pick = self.rng.choice
        return pick(
            (
                f"the {pick(ADJECTIVES)} {pick(NOUNS)} could not {pick(VERBS)} the {pick(NOUNS)} of the {pick(ADJECTIVES)} {pick(NOUNS)}",
                f"{pick(VERBS)} each {pick(NOUNS)} before the {pick(NOUNS)} is given to the {pick(ADJECTIVES)} {pick(NOUNS)}",
                f"no {pick(NOUNS)} in the {pick(NOUNS)} may {pick(VERBS)} a {pick(ADJECTIVES)} {pick(NOUNS)} by itself",
                f"when a {pick(NOUNS)} does {pick(VERBS)}, its {pick(NOUNS)} and {pick(NOUNS)} are {pick(ADJECTIVES)} for a while",
            )
        )

    def result(self) -> str:
        make = self.rng.choice((self.log, self.code, self.listing, self.json, self.csv, self.report))
        size, lines, length = self.rng.randrange(2_000, 20_000), [], 0
        while length < size:
            lines.append(make())
            length += len(lines[-1]) + 1
        return f"[\n{','.join(lines)}]" if make == self.json else "\n".join(lines)

    def log(self) -> str:
        rng = self.rng
        clock = f"2024-0{rng.randrange(1, 10)}-{rng.randrange(10, 29)}T{rng.randrange(10, 24)}:{rng.randrange(10, 60)}:{rng.randrange(10, 60)}"
        level = rng.choice(("INFO", "INFO", "WARN", "ERROR"))
        return f"{clock} {level} [{rng.choice(self.services)}] {rng.choice(self.templates)} request={rng.getrandbits(32):08x} took={rng.randrange(5, 40_000)}ms"

    def code(self) -> str:
        rng, pick = self.rng, self.rng.choice
        return pick(
            (
                f"def {pick(self.functions)}({pick(NOUNS)}: {pick(self.classes)}, limit: int = {rng.randrange(2, 5000)}) -> None:",
                f"    {pick(NOUNS)} = self.{pick(self.functions)}({pick(NOUNS)}, {pick(NOUNS)}.{pick(VERBS)}())",
                f"    # {self.sentence()}",
                f"    if {pick(NOUNS)}.{pick(NOUNS)} is None and not {pick(NOUNS)}:",
                f'        raise ValueError("{self.sentence()}")',
                f"    return {pick(self.classes)}({pick(NOUNS)}_{rng.randrange(100)}, {pick(self.functions)})",
            )
        )

    def listing(self) -> str:
        rng = self.rng
        return f"-rw-r--r-- 1 app app {rng.randrange(90, 9_000_000):>9} May {rng.randrange(10, 29)} {rng.randrange(10, 24)}:{rng.randrange(10, 60)} {rng.choice(self.paths)}"

    def json(self) -> str:
        rng = self.rng
        row = {
            "id": f"cus_{rng.getrandbits(36):09x}",
            "name": rng.choice(self.people),
            "balance": rng.randrange(-9_000_000, 9_000_000) / rng.choice((1, 100)),
            "plan": rng.choice(("basic", "team", "enterprise")),
            "note": self.sentence() if rng.random() < 0.5 else None,
        }
        return json.dumps(row, indent=2)

    def csv(self) -> str:
        rng = self.rng
        return f"{rng.randrange(10_000, 99_999)},{rng.choice(self.people)},{rng.choice(NOUNS)},{rng.randrange(1, 3_000_000)},{rng.randrange(100, 99_999) / 100:.2f},2024-0{rng.randrange(1, 10)}-{rng.randrange(10, 29)}"

    def report(self) -> str:
        rng = self.rng
        return f"{self.sentence().capitalize()}. {self.sentence().capitalize()}; {rng.choice(self.people)} counted {rng.randrange(1_000, 900_000)} of them in {rng.choice(self.paths)}."


def typos(rng: random.Random, text: str) -> str:
    """One character in ten left out, doubled, or replaced."""
    return "".join(
        rng.choice(("", char * 2, rng.choice("abcdefghijklmnopqrstuvwxyz"))) if rng.random() < 0.1 else char
        for char in text
    )


def rounded(taken: str) -> str:
    value = float(taken)
    return f"{value / 1e6:.2f} million" if value >= 1e6 else f"{value / 1e3:.1f}k"


def paraphrase(rng: random.Random, taken: str) -> str:
    """Half of the words in another order, with talk between them."""
    words = [word for word in re.findall(r"[a-z]{4,}", taken) if rng.random() < 0.5]
    rng.shuffle(words)
    return " and then ".join(" ".join(words[at : at + 2]) for at in range(0, len(words), 2))


def passage(rng: random.Random, result: str) -> str:
    lines = [line for line in result.splitlines() if len(line.strip()) > 40] or [result[:200]]
    at = rng.randrange(len(lines))
    return "\n".join(lines[at : at + rng.choice((1, 1, 2, 3))]).strip()[: rng.randrange(60, 300)]


def drawn(rng: random.Random, results: Sequence[str], pattern: str, accept: Callable[[str], bool]) -> tuple[int, str]:
    """A result and something of it that matches, which at most three results have."""
    while True:
        source = rng.randrange(len(results))
        found = [match for match in re.findall(pattern, results[source]) if accept(match)]
        if found and sum((taken := rng.choice(found)) in result for result in results) <= 3:
            return source, taken


def planted(rng: random.Random, kind: str, results: Sequence[str]) -> tuple[int, str, str]:
    """Where something was taken from, what, and how the agent puts it."""
    if kind == "identifier":
        source, taken = drawn(rng, results, r"[\w./-]*\w[_/][\w./-]*\w", lambda found: len(found) > 5)
        return source, taken, f"So {taken} is where it goes wrong."
    if kind.startswith("number"):
        source, taken = drawn(
            rng, results, r"(?<![\w.-])[1-9]\d{3,6}(?![\w.-])", lambda found: found[:2] not in ("19", "20")
        )
        return (
            source,
            taken,
            f"That makes {int(taken):,} in all." if "sep" in kind else f"That makes about {rounded(taken)}.",
        )
    source = rng.randrange(len(results))
    if kind == "none":
        return source, "", ""
    taken = passage(rng, results[source])
    forms: dict[str, Callable[[], str]] = {
        "quote": lambda: f"The output says: {taken}",
        "quote, whitespace": lambda: "The output says: " + taken.replace("\n", " ").replace(" ", "  "),
        "quote, escaped": lambda: json.dumps({"path": "notes.md", "old_string": taken, "count": 1}),
        "quote, typos": lambda: f"The output says: {typos(rng, taken)}",
        "paraphrase": lambda: f"As I understand it, {paraphrase(rng, taken)} matter here.",
    }
    return source, taken, forms[kind]()


def case(rng: random.Random, world: World, kind: str, results: Sequence[str]) -> Case:
    source, taken, said = planted(rng, kind, results)
    talk = [rng.choice(TALK) for _ in range(rng.randrange(12, 45))]
    talk += [
        f"The {rng.choice(world.services)} service and its {rng.choice(NOUNS)} {rng.choice(NOUNS)} look fine to me."
        for _ in range(3)
    ]
    talk += [world.sentence().capitalize() + "." for _ in range(3)]
    talk += [
        f"{rng.choice(world.people)} asked for {rng.randrange(1_000, 99_999)} of them in {rng.choice(world.paths)}."
    ]
    talk += [f"I will call it new_{rng.choice(NOUNS)}_{rng.choice(VERBS)} and give it {rng.randrange(3, 60)} retries."]
    rng.shuffle(talk)
    talk.insert(len(talk) // 2, said)
    return Case(kind, " ".join(talk), source, taken)


def flat(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def measure(seed: int, count: int, each: int) -> dict[str, object]:
    rng = random.Random(seed)
    world = World(rng)
    results = [world.result() for _ in range(count)]
    cases = [case(rng, world, kind, results) for kind in KINDS for _ in range(each)]
    adds, floors, asks, index = [], [], [], References()
    for cell, result in enumerate(results):
        began = time.thread_time()
        index.add(cell, result)
        added = time.thread_time()
        re.findall(r"\w+", result)
        floors.append((time.thread_time() - added) / len(result) * 11_000)
        adds.append((added - began) / len(result) * 11_000)
    flats = [flat(result) for result in results]
    found: dict[str, list[tuple[bool, int]]] = {kind: [] for kind in KINDS}
    for one in cases:
        began = time.thread_time()
        cells = {reference.cell for reference in index.refer(one.text)}
        asks.append(time.thread_time() - began)
        wrong = sum(not one.taken or flat(one.taken) not in flats[cell] for cell in cells - {one.source})
        wrong += not one.taken and one.source in cells
        found[one.kind].append((not cells if one.kind == "none" else one.source in cells, wrong))
    tracemalloc.start()
    again = References()
    for cell, result in enumerate(results):
        again.add(cell, result)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {
        "seed": seed,
        "bytes": sum(map(len, results)),
        "recall": {kind: sum(hit for hit, _ in rows) / len(rows) for kind, rows in found.items()},
        "false_per_message": sum(wrong for rows in found.values() for _, wrong in rows) / len(cases),
        "false_by_kind": {kind: sum(wrong for _, wrong in rows) / len(rows) for kind, rows in found.items()},
        "add_ms": spread(adds, 1e3),
        "add_over_floor": spread(adds)["median"] / spread(floors)["median"],
        "refer_ms": spread(asks, 1e3),
        "refer_over_add": spread(asks)["median"] / spread(adds)["median"],
        "memory_over_text": memory / sum(map(len, results)) + 1,
    }


@click.command()
@click.option("--seed", "seeds", multiple=True, type=int, default=(1, 2, 3), show_default=True, help="May be repeated.")
@click.option("--results", default=300, show_default=True, help="Tool results in the index.")
@click.option("--cases", default=100, show_default=True, help="Messages of each kind.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def main(seeds: tuple[int, ...], results: int, cases: int, as_json: bool) -> None:
    """How well references are found, what is found wrongly, and what that costs."""
    rows = [measure(seed, results, cases) for seed in seeds]
    if as_json:
        json.dump({"schema": "ctxgc.bench.references/1", "results": rows}, sys.stdout, indent=2)
        return
    print(f"{'found, %':<32}" + "".join(f"{f'seed {seed}':>10}" for seed in seeds))
    for kind in KINDS:
        print(f"{kind:<32}" + "".join(f"{row['recall'][kind] * 100:>10.0f}" for row in rows))  # type: ignore[index]
    for key in ("false_per_message", "add_over_floor", "refer_over_add", "memory_over_text"):
        print(f"{key:<32}" + "".join(f"{row[key]:>10.2f}" for row in rows))
    for key in ("add_ms", "refer_ms"):
        for part in ("median", "p10", "p90"):
            print(f"{key} {part:<24}"[:32].ljust(32) + "".join(f"{row[key][part]:>10.2f}" for row in rows))  # type: ignore[index]


if __name__ == "__main__":
    main()
