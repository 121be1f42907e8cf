"""Results of many alike units, of the kinds that tools give, each with one unit that is unlike the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from uuid import UUID

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "omega",
    "north",
    "south",
    "cargo",
    "pixel",
    "orbit",
    "maple",
    "river",
    "stone",
    "amber",
    "cloud",
]
PATHS = ("/api/users", "/api/orders", "/health", "/static/app.js")
NAMES = ("auth", "billing", "search", "mail")


@dataclass(frozen=True, slots=True)
class Alike:
    """How unit ``number`` of a result reads, and the one that is unlike: made with the same chance, at any place."""

    unit: Callable[[int, Random], str]
    odd: Callable[[int, Random], str]


def clock(number: int) -> str:
    return f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"


def words(chance: Random, least: int = 2, most: int = 5) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))


def uuid(chance: Random) -> str:
    return str(UUID(int=chance.getrandbits(128)))


def record(number: int, chance: Random, **more: object) -> dict[str, object]:
    return {
        "id": number,
        "name": words(chance),
        "status": "ok",
        "score": round(chance.uniform(0.2, 0.9), 3),
        "tags": chance.sample(WORDS, 2),
        "active": True,
        "owner": {"team": chance.choice(NAMES), "email": f"{chance.choice(WORDS)}@example.com"},
        **more,
    }


def _json(**more: object) -> Alike:
    return Alike(lambda n, c: json.dumps(record(n, c)), lambda n, c: json.dumps(record(n, c, **more)))


def _line(unit: Callable[[int, Random], str], old: str, new: str) -> Alike:
    """Lines with one in which ``old`` reads ``new``."""

    def odd(number: int, chance: Random) -> str:
        found = unit(number, chance)
        assert old in found
        return found.replace(old, new, 1)

    return Alike(unit, odd)


def app_log(n: int, c: Random) -> str:
    head = f"2024-05-01 {clock(n)},{c.randrange(999):03} INFO  worker-{c.randrange(8)}"
    return f"{head} handled {words(c)} in {c.randint(10, 99)}ms"


def mixed_log(n: int, c: Random) -> str:
    return f"{clock(n)} {c.choice(('INFO', 'DEBUG', 'INFO'))} [{c.choice(NAMES)}] {words(c, 1, 9)}"


def syslog(n: int, c: Random) -> str:
    return f"May  1 {clock(n)} host{c.randrange(3)} sshd[{c.randint(1000, 9999)}]: session opened for {c.choice(WORDS)}"


def access_log(n: int, c: Random) -> str:
    address = f"10.0.{c.randrange(255)}.{c.randrange(255)}"
    head = f"{address} - - [01/May/2024:{clock(n)} +0000]"
    return f'{head} "GET {c.choice(PATHS)} HTTP/1.1" 200 {c.randint(500, 2500)} "-" "curl/8.0"'


def logfmt(n: int, c: Random) -> str:
    head = f"ts={clock(n)} level=info svc={c.choice(NAMES)} status=200"
    return f"{head} dur={c.randint(10, 90)}ms id={uuid(c)} msg={c.choice(WORDS)}"


def json_log(n: int, c: Random) -> str:
    return json.dumps({"ts": clock(n), "level": "info", "msg": words(c), "trace": uuid(c), "ms": c.randint(10, 99)})


def ls(n: int, c: Random) -> str:
    return f"-rw-r--r--  1 root root {c.randint(1000, 9000):>8} May  1 10:{n % 60:02} {c.choice(WORDS)}_{n}.txt"


def find(n: int, c: Random) -> str:
    return f"./src/{c.choice(NAMES)}/{c.choice(WORDS)}_{n}.py"


def bare_names(n: int, c: Random) -> str:
    return f"{c.choice(WORDS)}_{n}.json"


def status(n: int, c: Random) -> str:
    return f" M src/{c.choice(NAMES)}/{c.choice(WORDS)}{n}.ts"


def csv(n: int, c: Random) -> str:
    return f"{n},{c.choice(WORDS)} {c.choice(WORDS)},{c.randint(100, 999)},paid,2024-05-{1 + n % 28:02}"


def tsv(n: int, c: Random) -> str:
    return f"{n}\t{words(c)}\t{c.uniform(1, 9):.2f}\tEUR"


def pytest_v(n: int, c: Random) -> str:
    return f"tests/test_{c.choice(NAMES)}.py::test_{c.choice(WORDS)}_error_{n} PASSED [{n // 5:3}%]"


def go_test(n: int, c: Random) -> str:
    return f"--- PASS: Test{c.choice(WORDS).title()}{n} (0.{c.randint(10, 99)}s)"


def tap(n: int, c: Random) -> str:
    return f"ok {n} - {words(c)}"


def pods(n: int, c: Random) -> str:
    name = f"{c.choice(NAMES)}-{c.getrandbits(32):08x}-{n:05}"
    return f"{name}   1/1     Running   {c.randrange(3)}          {c.randint(1, 30)}d"


def processes(n: int, c: Random) -> str:
    load = f"{c.uniform(0, 3):.1f}  {c.uniform(0, 3):.1f} {c.randint(20000, 90000)}"
    return f"www      {1000 + n:>6}  {load} ?  S  10:{n % 60:02}  0:0{n % 9} php-fpm: pool www"


def table(n: int, c: Random) -> str:
    return f" {n} | {words(c)} | {c.choice(NAMES)} | active | {c.randint(10, 99)}"


def yaml(n: int, c: Random) -> str:
    return f"- {{name: {c.choice(WORDS)}{n}, enabled: true, retries: {c.randint(1, 5)}}}"


def xml(n: int, c: Random) -> str:
    return f'  <item id="{n}" state="done" owner="{c.choice(WORDS)}"/>'


def grep(n: int, c: Random) -> str:
    return f"src/{c.choice(NAMES)}/{c.choice(WORDS)}.py:{n}:    logger.info({c.choice(WORDS)!r})"


def pip(n: int, c: Random) -> str:
    return f"{c.choice(WORDS)}-{c.choice(WORDS)}{n}=={c.randrange(9)}.{c.randrange(20)}.{c.randrange(9)}"


def checksums(n: int, c: Random) -> str:
    return f"data/{c.choice(WORDS)}_{n}.bin: OK"


def ping(n: int, c: Random) -> str:
    return f"64 bytes from 10.0.0.7: icmp_seq={n} ttl=64 time={c.uniform(10, 40):.1f} ms"


def numbers(n: int, c: Random) -> str:
    return f"{c.uniform(10, 90):.2f}"


LINES: Mapping[str, Alike] = {
    "application log, level": _line(app_log, "INFO ", "ERROR"),
    "application log, another message": Alike(
        app_log, lambda n, c: f"2024-05-01 {clock(n)},000 INFO  main shutting down: disk full"
    ),
    "application log, slow": Alike(
        app_log, lambda n, c: f"2024-05-01 {clock(n)},007 INFO  worker-3 handled amber in 48213ms"
    ),
    "log of free words, level": Alike(mixed_log, lambda n, c: f"{clock(n)} FATAL [mail] {words(c)}"),
    "log of free words, lower case failure": Alike(
        mixed_log, lambda n, c: f"{clock(n)} INFO [mail] connection refused by stone"
    ),
    "syslog, message": _line(syslog, "session opened", "authentication failure"),
    "syslog, program": _line(syslog, "sshd[", "kernel["),
    "access log, status": _line(access_log, '" 200 ', '" 500 '),
    "access log, method": _line(access_log, '"GET ', '"DELETE '),
    "access log, size": Alike(access_log, lambda n, c: access_log(n, c).replace(' "-"', '99999 "-"')),
    "logfmt, status": _line(logfmt, "status=200", "status=503"),
    "logfmt, a key more": Alike(logfmt, lambda n, c: logfmt(n, c) + " retry=3"),
    "JSON lines, level": _line(json_log, '"info"', '"error"'),
    "ls -l, permissions": _line(ls, "-rw-r--r--", "-rwsr-xr-x"),
    "ls -l, folder": _line(ls, "-rw-r--r--", "drwxr-xr-x"),
    "ls -l, owner": _line(ls, "root root", "eve  root"),
    "ls -l, size": Alike(ls, lambda n, c: f"-rw-r--r--  1 root root 73400320 May  1 10:00 amber_{n}.txt"),
    "ls -l, ending": _line(ls, ".txt", ".pem"),
    "find, ending": _line(find, ".py", ".env"),
    "find, folder": Alike(find, lambda n, c: "./secrets/orbit_9.py"),
    "names, ending": _line(bare_names, ".json", ".key"),
    "names, marker": _line(bare_names, ".json", ".json*"),
    "git status, kind": _line(status, " M ", "UU "),
    "csv, state": _line(csv, ",paid,", ",refunded,"),
    "csv, amount": Alike(csv, lambda n, c: f"{n},amber stone,987654,paid,2024-05-09"),
    "csv, negative": Alike(csv, lambda n, c: f"{n},amber stone,-350,paid,2024-05-09"),
    "csv, a field too few": Alike(csv, lambda n, c: f"{n},amber stone,350,paid"),
    "tsv, currency": _line(tsv, "EUR", "USD"),
    "pytest -v": _line(pytest_v, "PASSED", "FAILED"),
    "go test -v": _line(go_test, "PASS", "FAIL"),
    "tap": _line(tap, "ok ", "not ok "),
    "kubectl get pods": _line(pods, "Running", "CrashLoopBackOff"),
    "kubectl get pods, not ready": _line(pods, "1/1", "0/1"),
    "ps, user": _line(processes, "www      ", "root     "),
    "table with bars": _line(table, "| active |", "| locked |"),
    "YAML, boolean": _line(yaml, "enabled: true", "enabled: false"),
    "XML, attribute": _line(xml, 'state="done"', 'state="stuck"'),
    "grep": _line(grep, ".py:", ".sql:"),
    "pip freeze": Alike(pip, lambda n, c: "-e git+https://example.com/amber.git@main#egg=amber"),
    "checksums": _line(checksums, ": OK", ": FAILED"),
    "ping": Alike(ping, lambda n, c: "Request timeout for icmp_seq 91"),
    "ping, slow": Alike(ping, lambda n, c: f"64 bytes from 10.0.0.7: icmp_seq={n} ttl=64 time=2310.4 ms"),
    "numbers": Alike(numbers, lambda n, c: "99812.45"),
    "a stack trace in a log": Alike(app_log, lambda n, c: "Traceback (most recent call last):"),
}  # fmt: skip
ELEMENTS: Mapping[str, Alike] = {
    "a value": _json(status="failed"),
    "a boolean": _json(active=False),
    "null": _json(score=None),
    "another type": _json(score="n/a"),
    "a number far out": _json(score=973.2),
    "a negative number": _json(score=-0.4),
    "a key more": _json(error="disk full"),
    "a key less": Alike(
        lambda n, c: json.dumps(record(n, c)),
        lambda n, c: json.dumps({key: value for key, value in record(n, c).items() if key != "tags"}),
    ),
    "a value deeper": _json(owner={"team": "root", "email": "amber@example.com"}),
    "an empty list": _json(tags=[]),
    "a long text": _json(name="amber " * 200),
    "a text about a failure": _json(name="payment refused"),
    "rows": Alike(
        lambda n, c: json.dumps([n, words(c), "open", c.randint(1, 9)]),
        lambda n, c: json.dumps([n, words(c), "closed", c.randint(1, 9)]),
    ),
    "numbers": Alike(lambda n, c: str(c.randint(100, 999)), lambda n, c: "40000"),
    "texts": Alike(lambda n, c: json.dumps(f"src/{n}.py"), lambda n, c: json.dumps(f"src/{n}.pem")),
    "one that is null": Alike(lambda n, c: json.dumps({"n": n}), lambda n, c: "null"),
}


def units(one: Alike, total: int, at: int | None, seed: int) -> list[str]:
    """``total`` units, with the unlike one at ``at``, or without it."""
    chance = Random(seed)
    return [(one.odd if number == at else one.unit)(number, chance) for number in range(total)]


def array(elements: list[str], between: str = ", ") -> list[str]:
    """Elements as an array's text is cut: each with the comma behind it, the brackets at the ends."""
    last = len(elements) - 1
    return [f"{'' if at else '['}{one}{between if at < last else ']'}" for at, one in enumerate(elements)]
