"""What the page shows in its other views, as names with texts; and the same from the truth of the store.

See ``shown`` for the heap and the cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ctxgc.core.journal import Allocation, Insertion, Settlement
from ctxgc.lab.profile import profile
from ctxgc.ledger import Ledger
from tests.web.e2e.shown import Shown, flat, numbers
from tests.web.e2e.truth import MODEL, Truth
from tests.web.e2e.visit import Visit
from tests.web.e2e.words import clock, dollars, moment, share, whole

# The diff


async def diff(visit: Visit) -> Shown:
    found = {**await visit.data("[data-diff]")}
    for change in await visit.page.locator("[data-change]").all():
        name = f"c{await change.get_attribute('data-change')}"
        found[name] = (await change.locator(".sizes").inner_text()).removesuffix(" tokens")
        found[f"{name}.policy"] = str(await change.get_attribute("data-policy"))
    return found


def true_diff(truth: Truth, turn: int) -> Shown:
    """Of a turn without a compaction: what was edited is what an edit stands for at that time."""
    state, came = truth.states[turn - 1], truth.came[turn - 1]
    edits = {cell: edit for cell, edit in state.edits.items() if cell in came and cell in truth.left[turn - 1]}
    found = {
        "diff": str(turn), "against": "", "received": str(truth.received[turn - 1]), "changes": str(len(edits)),
        "sent": str(truth.sent[turn - 1]),
    }  # fmt: skip
    for cell, edit in edits.items():
        found[f"c{cell}"] = f"{whole(state.cells[cell].tokens)} → {whole(state.cells[cell].sent)}"
        found[f"c{cell}.policy"] = edit.policy
    return found


async def between(visit: Visit) -> Shown:
    found: Shown = {}
    for name in ("new", "gone", "changed"):
        cells = await visit.all_data(f"[data-list={name}] tr[data-cell]")
        found[name] = " ".join(sorted(one["cell"] for one in cells))
    for row in await visit.page.locator("tr[data-tag]").all():
        texts = await row.locator("td[data-column=before], td[data-column=after]").all_inner_texts()
        found[str(await row.get_attribute("data-tag"))] = " ".join(texts)
    return found


def true_between(truth: Truth, turn: int, against: int) -> Shown:
    old, new = truth.left[against - 1], truth.left[turn - 1]
    before, after = truth.states[against - 1].edits, truth.states[turn - 1].edits
    both = [cell for cell in new if cell in old]
    text = lambda edits, cell: edits[cell].text if cell in edits else None  # noqa: E731
    lists = {
        "new": new.keys() - old.keys(), "gone": old.keys() - new.keys(),
        "changed": [cell for cell in both if text(before, cell) != text(after, cell)],
    }  # fmt: skip
    found = {name: " ".join(sorted(map(str, listed))) for name, listed in lists.items()}
    sums: dict[str, list[int]] = {}
    for at, left in enumerate((old, new)):
        for cell, tokens in left.items():
            sums.setdefault(truth.cells[cell].tag, [0, 0])[at] += tokens
    return {**found, **{tag: f"{whole(one)} {whole(other)}" for tag, (one, other) in sums.items()}}


# The GC log, suspects, tools, sessions, books


async def gc(visit: Visit) -> Shown:
    totals = {f"total.{one['total']}": one["value"] for one in await visit.all_data("[data-total]")}
    return {**flat("gc", await visit.grid("gc", "collection")), **numbers(totals)}


def true_gc(truth: Truth) -> Shown:
    made = truth.collections
    split = lambda one: f"{whole(one.read)} + {whole(one.written)}" if one else "–"  # noqa: E731
    span = lambda one: f"turns {one.first}–{one.last}, {one.by} {one.handle}" if one else "–"  # noqa: E731
    rows = {
        str(at): {
            "turn": str(one.turn), "at": clock(one.at), "generation": "span left out" if one.span else one.generation,
            "trigger": one.trigger or "–", "cells": whole(one.cells),
            "before": f"{whole(one.before)} → {whole(one.after)}",
            "context": f"{whole(one.context_before)} → {whole(one.context_after)}", "rewritten": whole(one.rewritten),
            "rent": dollars(one.rent), "price": dollars(one.price), "saving": dollars(one.saving),
            "predicted": split(one.predicted), "billed": split(one.billed), "span": span(one.span),
        }
        for at, one in enumerate(made)
    }  # fmt: skip
    kinds = Counter("span" if one.span else one.generation for one in made)
    collected, rewritten = sum(one.before - one.after for one in made), sum(one.rewritten for one in made)
    totals: dict[str, float] = {
        "collections": len(made), **{kind: kinds[kind] for kind in ("eden", "minor", "major", "span")},
        "collected": collected, "rewritten": rewritten, "saving": sum(one.saving for one in made),
        "throughput": collected / (collected + rewritten),
    }  # fmt: skip
    return {**flat("gc", rows), **numbers({f"total.{name}": repr(float(value)) for name, value in totals.items()})}


async def suspects(visit: Visit) -> Shown:
    found = await visit.all_data("[data-suspect]")
    return numbers(
        {f"{one['suspect']}.{at}.{what}": one[what] for at, one in enumerate(found) for what in ("figure", "share")}
    )


def true_suspects(truth: Truth) -> Shown:
    """By the profile, whose figures have tests of their own; the schema of a tool that is not called, by adding up."""
    whole_of = sum(truth.sent)
    found: dict[str, float] = {}
    for at, one in enumerate(profile(truth.entries).suspects):
        figure: float = one.figure
        if one.rule == "unused_schema":
            figure = sum(truth.sent_turns[cell] for cells in _uncalled(truth) for cell in cells)
        found |= {f"{one.rule}.{at}.figure": figure, f"{one.rule}.{at}.share": figure / whole_of}
    return numbers({name: repr(float(value)) for name, value in found.items()})


def _uncalled(truth: Truth) -> list[list[int]]:
    """The cells of the schemas of tools that nobody has called, but for ctxgc's own."""
    called = {cell.tag.partition(":")[2] for cell in truth.cells if cell.kind == "tool_call"}
    return [cells for name, cells in truth.schemas().items() if name not in called and not name.startswith("ctxgc_")]


async def tools(visit: Visit) -> Shown:
    return {**flat("tool", await visit.grid("tools", "tool")), **await visit.data("[data-tools]")}


def true_tools(truth: Truth) -> Shown:
    called: dict[str, list[int]] = {}
    for cell in truth.cells:
        if cell.kind == "tool_call" and cell.tag != "recall":
            called.setdefault(cell.tag.partition(":")[2], []).append(truth.arrived[cell.id])
    asked = [entry for entry in truth.entries if isinstance(entry, Allocation) and entry.again]
    rows, never = {}, 0
    for name, schema in truth.schemas().items():
        ours = name.startswith("ctxgc_")
        requests = sum(any(cell in left for cell in schema) for left in truth.left)
        calls, last = len(called.get(name, ())), max(called.get(name, (0,)))
        if ours:
            places = [at for at, entry in enumerate(truth.entries) if isinstance(entry, Insertion)]
            calls = len(asked)
            last = max(sum(isinstance(one, Allocation) for one in truth.entries[:at]) for at in places)
        never += not calls and not ours
        newest = truth.cells[schema[-1]]
        rows[name] = {
            "name": name + (" of ctxgc" if ours else ""), "tokens": whole(newest.tokens or newest.sent),
            "requests": whole(requests), "token_turns": whole(sum(truth.sent_turns[cell] for cell in schema)),
            "calls": whole(calls) if calls else "not needed yet" if ours else "never called",
            "last_call": str(last) if last else "–",
        }  # fmt: skip
    return {**flat("tool", rows), "tools": str(len(rows)), "never": str(never)}


async def sessions(visit: Visit) -> Shown:
    rows = await visit.grid("sessions", "session")
    return {**flat("session", rows), **await visit.data("[data-sessions]")}


def true_sessions(truths: Mapping[str, Truth]) -> Shown:
    rows = {}
    for key, truth in truths.items():
        newest, window = truth.newest, truth.price.max_input_tokens or 1
        head = truth.moments[newest].entry
        came = sum(truth.cells[cell].tokens for cell in _came(truth, head))
        rows[key] = {
            "id": key[:12], "live": "in memory", "model": MODEL, "requests": whole(len(truth.moments)),
            "received": whole(came), "sent": whole(truth.sent[newest]), "window": share(truth.sent[newest] / window),
            "net": dollars(truth.net[-1]), "suspects": whole(len(profile(truth.entries).suspects)),
            "last": moment(_last(truth)), "origin": "session id from: x-ctxgc-session",
        }  # fmt: skip
    return {**flat("session", rows), "sessions": str(len(rows))}


def _last(truth: Truth) -> float:
    """When the newest request began or ended, whichever was written last."""
    return next(one.at for one in reversed(truth.entries) if isinstance(one, Allocation | Settlement))


def _came(truth: Truth, entry: Any) -> set[int]:
    """The history of a request, even of one that no client made."""
    nodes = {cell for node in truth.state.path(entry.head) for cell in node.cells}
    return nodes | set(truth.state.toolset(entry.toolset).cells)


async def books(visit: Visit) -> Shown:
    """All facts by their status, vouchers and periods."""
    found = {f"count.{one['facts']}": one["value"] for one in await visit.all_data("[data-facts]")}
    for status in ("current", "superseded", "withdrawn", "claim"):
        await visit.page.check(f'input[name=status][value="{status}"]')
        found |= flat(status, await visit.grid(f"facts-{status}", "fact"))
    for kind in ("voucher", "period"):
        for row in await visit.page.locator(f"tr[data-{kind}]").all():
            texts = await row.locator("th, td").all_inner_texts()
            found[f"{kind}.{texts[0]}"] = " | ".join(texts[1:])
    return found


def true_books(ledger: Ledger) -> Shown:
    rows: dict[str, dict[str, dict[str, str]]] = {"current": {}, "superseded": {}, "withdrawn": {}, "claim": {}}
    closed = [(period.window_to, period.id) for period in ledger.books.periods]
    replaced = ledger.books.superseded_by
    for fact in ledger.books.facts.values():
        gone = "superseded" if replaced.get(fact.id) else "withdrawn" if fact.id in replaced else "current"
        period = next((name for upto, name in closed if ledger.books.posted_at[fact.id] < upto), "")
        rows["claim" if fact.type == "claim" else gone][fact.id] = {
            "id": fact.id, "statement": fact.statement, "type": fact.type or "–",
            "criticality": fact.criticality or "–", "author": fact.author or "–", "at": moment(fact.at),
            "period": period or "–", "superseded_by": replaced.get(fact.id) or "–",
            "source": ", ".join(one.artifact for one in fact.source) or "–",
        }  # fmt: skip
    found = {f"count.{status}": str(len(listed)) for status, listed in rows.items()}
    for status, listed in rows.items():
        found |= flat(status, listed)
    return {**found, **_vouchers(ledger), **_periods(ledger)}


def _vouchers(ledger: Ledger) -> Shown:
    resting = Counter(name for fact in ledger.books.facts.values() for name in {one.artifact for one in fact.source})
    return {
        f"voucher.{one.id}": " | ".join(
            (
                one.ref,
                one.type or "–",
                whole(one.size),
                whole(resting[one.id]),
                moment(one.at),
                one.hash.removeprefix("sha256:"),
            )
        )
        for one in ledger.books.artifacts.values()
    }


_opening = {True: "some facts did not fit", False: "whole"}


def _periods(ledger: Ledger) -> Shown:
    return {
        f"period.{one.id}": f"{one.milestone} | {moment(one.at)} | {whole(len(one.balance))} | {_opening[one.lossy]}"
        for one in ledger.books.periods
    }


async def trace(visit: Visit, fact: str) -> Shown:
    await visit.page.check('input[name=status][value="current"]')
    await visit.page.click(f'tr[data-fact="{fact}"]')
    await visit.page.wait_for_selector("[data-source]")
    source = visit.page.locator("[data-source]")
    place = (await source.locator("p").first.inner_text()).partition(" ·")[0]
    return {
        "place": place,
        "agree": str(await source.get_attribute("data-agree")),
        "slice": await source.locator("[data-text=slice]").inner_text(),
        "hashes": " ".join(await source.locator("dd code").all_inner_texts()),
    }  # fmt: skip


def true_trace(voucher: str, statement: str) -> Shown:
    """The verifier saw it where it stands first in what was stored."""
    digest, at = sha256(statement.encode()).hexdigest(), voucher.encode().index(statement.encode())
    lines = voucher[:at].count("\n") + 1
    place = f"Lines {lines} to {lines} (bytes {at} to {at + len(statement.encode())})"
    return {"place": place, "agree": "true", "slice": statement, "hashes": f"{digest} {digest}"}
