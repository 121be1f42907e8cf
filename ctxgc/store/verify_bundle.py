"""Verify an exported bundle: `python verify_bundle.py FOLDER` (exit 0: all agrees, 1: not, 2: usage).

Rule: one file, standard library only, sharing no code with the store: a second opinion on what was written.
Keep the last line of seals.jsonl elsewhere, and it proves later that nothing up to there was cut or rewritten.
"""

import hashlib
import json
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FORMAT = "ctxgc bundle 1"
TABLES = ("logs", "blobs", "nodes", "stubs", "entries")
FILES = {"meta.json", "seals.jsonl", "heads.json", "blobs", *(f"{table}.jsonl" for table in TABLES[1:])}

Fact = dict[str, Any]
Say = Callable[[str], None]


def sha256(data: bytes) -> bytes:
    """The digest."""
    return hashlib.sha256(data).digest()


def unhex(text: str) -> bytes:
    """Lower-case hex without spaces; a second spelling of the same bytes is an error."""
    data = bytes.fromhex(text)
    if data.hex() != text:
        raise ValueError(f"{text!r} is not plain hex")
    return data


def numbers(*values: int) -> bytes:
    """Signed 64-bit integers, big end first."""
    return struct.pack(f">{len(values)}q", *values)


def canonical(fact: object) -> str:
    """The one way to write a fact."""
    return json.dumps(fact, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse(data: bytes) -> Any:
    """A fact from its canonical line; any other spelling of it is an error."""
    fact = json.loads(data)
    if canonical(fact).encode() + b"\n" != data:
        raise ValueError("not canonical")
    return fact


def tree_head(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1."""
    if not leaves:
        return sha256(b"")
    level = leaves
    while len(level) > 1:
        pairs = [sha256(b"\x01" + level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) & ~1 :]
    return level[0]


class Bundle:
    """The facts of a bundle, and what is wrong with them."""

    def __init__(self, folder: Path, say: Say) -> None:
        self.folder = folder
        self.say = say
        self.meta: Fact = self._one("meta.json", {})
        self.seals: list[Fact] = self._lines("seals.jsonl")
        self.facts: dict[str, list[Fact]] = {table: self._lines(f"{table}.jsonl") for table in TABLES[1:]}
        self.facts["logs"] = self._one("heads.json", [])

    def verify(self) -> None:
        """Say everything that disagrees."""
        steps = (self.files, self.blobs, self.nodes, self.entries, self.genesis, self.chain)
        for step in steps:
            try:
                step()
            except (KeyError, ValueError, TypeError, AttributeError, IndexError, struct.error) as error:
                self.say(f"{step.__name__}: cannot be followed ({error!r})")

    def files(self) -> None:
        """Nothing missing, nothing more."""
        for name in {path.name for path in self.folder.iterdir()} ^ FILES:
            self.say(f"{name}: missing, or does not belong here")
        found = {path.name for path in (self.folder / "blobs").iterdir()}
        for name in found ^ {blob["sha256"] for blob in self.facts["blobs"]}:
            self.say(f"blobs/{name}: missing, or does not belong here")

    def blobs(self) -> None:
        """Every content hashed."""
        for blob in self.facts["blobs"]:
            path = self.folder / "blobs" / Path(blob["sha256"]).name
            data = path.read_bytes() if path.is_file() else b""
            if (sha256(data).hex(), len(data)) != (blob["sha256"], blob["size"]):
                self.say(f"blobs/{blob['sha256']}: content does not match its hash and size")

    def nodes(self) -> None:
        """Every chain value from its parent's."""
        chains: dict[int, list[str]] = {}
        blobs = {blob["sha256"] for blob in self.facts["blobs"]}
        for node in self.facts["nodes"]:
            known = chains.setdefault(node["log"], [])
            parent = known[node["parent"]] if 0 <= node["parent"] < len(known) else "00" * 32
            chain = sha256(b"n\0" + unhex(parent + node["message"])).hex()
            fits = node["node"] == len(known) and -1 <= node["parent"] < len(known)
            if not fits or chain != node["chain"] or node["blob"] not in blobs:
                self.say(f"nodes.jsonl: node {node['node']} of log {node['log']} does not follow from its parent")
            known.append(node["chain"])

    def entries(self) -> None:
        """Every leaf from its body, every head from its leaves."""
        leaves: dict[int, list[bytes]] = {number + 1: [] for number in range(len(self.facts["logs"]))}
        for entry in self.facts["entries"]:
            known = leaves[entry["log"]]
            if entry["seq"] != len(known) or self._leaf(entry).hex() != entry["leaf"]:
                self.say(f"entries.jsonl: entry {entry['seq']} of log {entry['log']} does not match its leaf")
            known.append(unhex(entry["leaf"]))
        for number, head in enumerate(self.facts["logs"], start=1):
            due = (number, len(leaves[number]), tree_head(leaves[number]).hex())
            if (head["log"], head["size"], head["root"]) != due:
                self.say(f"heads.json: the head of log {head['log']} does not match its entries")

    def genesis(self) -> None:
        """The first seal from the facts about the store."""
        meta = self.meta
        secret = unhex(meta["secret_sha256"])
        first = sha256(b"ctxgc store\0" + numbers(meta["schema"], meta["created"]) + secret)
        if meta["format"] != FORMAT or set(meta) != {"created", "format", "schema", "secret_sha256"}:
            self.say(f"meta.json: not of the format {FORMAT!r}")
        if self.seals[0]["digest"] != first.hex() or self.seals[0]["number"] != 0:
            self.say("seals.jsonl: the first seal does not match meta.json")

    def chain(self) -> None:
        """Every seal from the one before it and the rows between them."""
        before = self.seals[0]
        for number, seal in enumerate(self.seals[1:], start=1):
            rows = b"".join(b"".join(self._rows(table, before[table], seal[table])) for table in TABLES)
            counts = numbers(number, *(seal[table] for table in TABLES))
            digest = sha256(b"ctxgc seal\0" + unhex(before["digest"]) + counts + sha256(rows))
            if (seal["number"], seal["digest"]) != (number, digest.hex()):
                self.say(f"seals.jsonl: seal {number} does not match the rows it was made over")
            before = seal
        for table in TABLES:
            if before[table] != len(self.facts[table]):
                self.say(f"{table}: {len(self.facts[table])} are there, the last seal counts {before[table]}")

    def _rows(self, table: str, after: int, upto: int) -> Iterator[bytes]:
        for fact in self.facts[table][after:upto]:
            yield self._encoded(table, fact)

    def _encoded(self, table: str, fact: Fact) -> bytes:
        if table == "logs":
            return b"L" + unhex(fact["session"]) + numbers(fact["opened"])
        if table == "blobs":
            return b"B" + unhex(fact["sha256"]) + numbers(fact["size"])
        if table == "nodes":
            digests = unhex(fact["chain"] + fact["message"] + fact["blob"])
            return b"N" + numbers(fact["log"], fact["node"], fact["parent"]) + digests
        if table == "stubs":
            return b"".join((b"S", fact["handle"].encode(), numbers(fact["log"], fact["cell"])))
        return b"E" + numbers(fact["log"], fact["seq"]) + unhex(fact["leaf"])

    def _leaf(self, entry: Fact) -> bytes:
        session = unhex(self.facts["logs"][entry["log"] - 1]["session"])
        kind = entry["kind"].encode()
        head = b"".join((b"\0", session, numbers(entry["seq"]), bytes((len(kind),)), kind))
        return sha256(head + unhex(entry["idem"]) + entry["body"].encode())

    def _one(self, name: str, default: Any) -> Any:
        try:
            return parse((self.folder / name).read_bytes())
        except (OSError, ValueError) as error:
            self.say(f"{name}: cannot be read ({error})")
            return default

    def _lines(self, name: str) -> list[Fact]:
        facts: list[Fact] = []
        try:
            with (self.folder / name).open("rb") as file:
                facts.extend(map(parse, file))
        except (OSError, ValueError) as error:
            self.say(f"{name}: line {len(facts) + 1} cannot be read ({error})")
        return facts


def verify_bundle(folder: Path) -> list[str]:
    """Everything that disagrees in a bundle, a line each; empty if all agrees."""
    words: list[str] = []
    Bundle(folder, words.append).verify()
    return words


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: verify_bundle.py FOLDER\n")
        return 2
    words = verify_bundle(Path(arguments[0]))
    sys.stdout.writelines(f"{word}\n" for word in words or ["everything agrees"])
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
