"""Documents of the page, made by hand: the least of them that a terminal shows."""

from __future__ import annotations

HOSTILE = "[bold]a[/bold]\x1b[31m\n\u202e宽字\x07 [@click=app.quit]x[/]"


def row(number: int, **more: object) -> dict[str, object]:
    return {
        "id": f"{number:02x}" * 32, "origin": "header", "first": 1.7e9, "last": 1.7e9 + number, "model": "gpt-5",
        "requests": 10, "received": 20_000 * number, "sent": 10_000 * number, "window": 272_000, "live": False,
        "net": 0.01, "usd": True, "suspects": 1, **more,
    }  # fmt: skip


def session(number: int, **more: object) -> dict[str, object]:
    series = {"received": {"tool_result": [100, 300], "user_turn": [50, 100]},
              "sent": {"tool_result": [100, 100], "user_turn": [50, 100]}}  # fmt: skip
    turns = {"count": 2, **series, "received_total": [150, 400], "sent_total": [150, 200], "net": [0.0, -0.5]}
    tiles = [{"id": "net", "value": -0.5, "unit": "usd"}, {"id": "turns_left", "value": 39, "unit": "turns"}]
    made = {
        "turn": 2, "at": 1.7e9, "generation": "major", "trigger": "rent", "cells": 3, "before": 200, "after": 10,
        "context_before": 390, "context_after": 200, "span": None,
    }  # fmt: skip
    suspect = {
        "sentence": "read is sent again and again (60% of all tokens sent).",
        "action": "Turn on dedup.",
        "setting": 'policy = "eden"\n',
    }
    return {
        "id": f"{number:02x}" * 32, "live": False, "models": ["gpt-5"], "plain": False, "window": 272_000,
        "families": ["user_turn", "tool_result"], "turns": turns, "tiles": tiles, "collections": [made],
        "by_site": [{"name": "read(a)", "sent_turns": 200, "resident": 100}], "suspects": [suspect], **more,
    }  # fmt: skip
