"""A short script, for tests that need a session and not the whole one."""

from __future__ import annotations

import json

from ctxgc.demo.script import Call, Scenario, Turn
from ctxgc.demo.toolset import tools

LOG = "".join(f"{number:05} INFO request {number * 7919 % 10007} served\n" for number in range(400))
PAGE = json.dumps({"items": [{"id": number, "name": f"n{number}", "open": True} for number in range(60)]}, indent=2)


def short_session() -> Scenario:
    """Three tasks' worth in five turns: a file read twice, a page of JSON, and a question of the user's."""
    turns = (
        Turn("I'll read the log.", (read("call_0", "app.log"), Call("call_1", "http_get", '{"url": "/x"}', PAGE))),
        Turn("", (read("call_2", "app.log"),)),
        Turn("Nothing in it – naïve as I was.", user="Look again."),
        Turn("Once more.", (read("call_3", "app.log"),)),
        Turn("Still nothing."),
    )
    return Scenario("You are brief.", "What is in app.log?", tools(), turns)


def idle_session() -> Scenario:
    """Six logs that are read and never used again, in a session that goes on: they are worth collecting."""
    logs = tuple(
        Call(f"log_{at}", "read_file", json.dumps({"path": f"{at}.log"}), LOG.replace("request", f"host{at}"))
        for at in range(6)
    )
    looks = (Turn("", (Call(f"look_{at}", "bash", json.dumps({"command": f"uptime {at}"}), "up"),)) for at in range(20))
    return Scenario("You are brief. " * 500, "What do the logs say?", tools(), (Turn("", logs), *looks, Turn("Done.")))


def read(call: str, path: str) -> Call:
    return Call(call, "read_file", json.dumps({"path": path}), LOG)
