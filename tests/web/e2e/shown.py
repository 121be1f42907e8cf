"""What the page shows, view by view, as names with texts; and the same from the truth of the store.

Of each view there are two functions: one reads the page, the other says what must be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from tests.web.e2e.truth import HIGH, LOW, Truth
from tests.web.e2e.visit import Visit
from tests.web.e2e.words import clock, dollars, whole

LEGEND = """(rows) => rows.map((row) => [row.dataset.family,
  ["received", "sent"].map((half) => row.querySelector(`[data-column=${half}]`).textContent).join(" ")])"""

Shown = dict[str, str]
ROWS = ("cells", "tokens", "resent", "token_turns", "sent_turns", "resident")
CELLS = (
    *("id", "turn", "tag", "site", "kind", "tokens", "sent", "retained", "token_turns", "sent_turns", "cost"),
    *("references", "referenced", "resident", "handle"),
)


def flat(prefix: str, rows: Mapping[str, Mapping[str, str]], only: Iterable[str] = ()) -> Shown:
    """Rows as names with texts."""
    wanted = tuple(only)
    return {
        f"{prefix}.{row}.{column}": text
        for row, columns in rows.items()
        for column, text in columns.items()
        if not wanted or column in wanted
    }


def numbers(given: Mapping[str, str]) -> Shown:
    """Raw figures, to ten digits: sums of floats may be made in any order."""
    return {name: f"{float(value):.10g}" if value else "" for name, value in given.items()}


# The heap


async def tiles(visit: Visit) -> Shown:
    return numbers({one["tile"]: one["value"] for one in await visit.all_data("[data-tile]")})


def true_tiles(truth: Truth) -> Shown:
    usages = [entry.usage for entry in truth.ends.values() if entry.usage is not None]
    told, cached = sum(usage.input for usage in usages), sum(usage.cached for usage in usages)
    estimated = sum(entry.estimated for entry in truth.ends.values() if entry.usage is not None)
    price, window = truth.price, truth.price.max_input_tokens or 0
    main = [truth.sent[at] for at, one in enumerate(truth.moments) if one.entry.continues][-11:]
    growth = sum(max(after - before, 0) for before, after in pairwise(main)) / (len(main) - 1)
    spent = sum(
        usage.uncached * price.input + usage.cached * price.cached_read + usage.output * price.output
        for usage in usages
    )
    found: dict[str, float] = {
        "context_now": main[-1], "window_left": window - main[-1], "turns_left": (HIGH * window - main[-1]) / growth,
        "received": sum(truth.received), "sent": sum(truth.sent),
        "reduction": 1 - sum(truth.sent) / sum(truth.received), "net": truth.net[-1],
        "rewritten": sum(one.rewritten for one in truth.collections), "recalled": len(truth.recalled()),
        "billed": spent, "estimate_error": (estimated - told) / told, "cache_hits": cached / told,
    }  # fmt: skip
    return numbers({name: repr(float(value)) for name, value in found.items()})


async def turns(visit: Visit) -> Shown:
    return flat("turn", await visit.grid("turns", "turn"))


def true_turns(truth: Truth) -> Shown:
    rows: dict[str, dict[str, str]] = {}
    for at, one in enumerate(truth.moments):
        entry, end = one.entry, truth.ends[one.entry.call]
        before = {cell for earlier in truth.came[:at] for cell in earlier}
        new = truth.came[at] - before
        rows[str(one.number)] = {
            "turn": str(one.number), "at": clock(entry.at), "received": whole(truth.received[at]),
            "sent": whole(truth.sent[at]), "fresh": whole(sum(truth.cells[cell].tokens for cell in new)),
            "billed": whole(end.usage.input if end.usage else None),
            "cached": whole(end.usage.cached if end.usage else None),
            "output": whole(end.usage.output if end.usage else None), "net": dollars(truth.net[at]),
            "outcome": end.outcome + (", again" if entry.again else ""), "model": entry.model,
        }  # fmt: skip
    return flat("turn", rows)


async def slider(visit: Visit, places: Iterable[int]) -> Shown:
    """What the chart's slider says of turns, in their order: it is moved there with the keyboard."""
    found, now = {}, 1
    chart = visit.page.locator('[data-chart="heap"]')
    await chart.press("Home")
    for turn in places:
        for _ in range(turn - now):
            await visit.page.keyboard.press("ArrowRight")
        now = turn
        await visit.until("(turn) => document.querySelector('[data-chart=heap]').ariaValueNow === String(turn)", turn)
        said = str(await chart.get_attribute("aria-valuetext"))
        found[str(turn)] = said.partition(" tokens")[0]
        rows = await visit.page.eval_on_selector_all("tr[data-family]", LEGEND)
        found |= {f"{turn}.{family}": texts for family, texts in rows}
    return found


def true_slider(truth: Truth, places: Iterable[int]) -> Shown:
    found, count = {}, len(truth.moments)
    families = {cell.tag.partition(":")[0] for left in truth.left for cell in (truth.cells[one] for one in left)}
    for turn in places:
        at = truth.moments[turn - 1].entry.at
        received, sent = truth.received[turn - 1], truth.sent[turn - 1]
        found[str(turn)] = f"turn {turn} of {count}, {clock(at)}: received {whole(received)}, forwarded {whole(sent)}"
        came, left = Counter[str](), Counter[str]()
        for cell in truth.came[turn - 1]:
            came[truth.cells[cell].tag.partition(":")[0]] += truth.cells[cell].tokens
        for cell, tokens in truth.left[turn - 1].items():
            left[truth.cells[cell].tag.partition(":")[0]] += tokens
        for family in families:
            found[f"{turn}.{family}"] = f"{whole(came[family])} {whole(left[family])}"
    return found


async def profiled(visit: Visit) -> Shown:
    tags, sites = await visit.grid("by-tag", "tag"), await visit.grid("by-site", "site")
    return {**flat("tag", tags, ROWS), **flat("site", sites, ROWS)}


def true_profiled(truth: Truth) -> Shown:
    found: Shown = {}
    for kind, names in (("tag", [cell.tag for cell in truth.cells]), ("site", truth.sites)):
        rows = {name: dict(zip(ROWS, map(whole, figures), strict=True)) for name, figures in truth.rows(names).items()}
        found |= flat(kind, rows)
    return found


def true_limits(truth: Truth) -> dict[str, int]:
    window = truth.price.max_input_tokens or 0
    return {"window": window, "high": int(window * HIGH), "low": int(window * LOW)}


# The cells


async def cells(visit: Visit) -> Shown:
    rows = {row: {**columns, "resident": columns["resident"].partition(",")[0]}
            for row, columns in (await visit.grid("cells", "cell")).items()}  # fmt: skip
    return {**flat("cell", rows, CELLS), **await visit.data("[data-found]")}


def true_cells(truth: Truth) -> Shown:
    here = truth.left[truth.newest]
    rows = {
        str(cell.id): {
            "id": f"c{cell.id}", "turn": str(truth.arrived[cell.id]), "tag": cell.tag, "site": truth.sites[cell.id],
            "kind": cell.kind.value, "tokens": whole(cell.tokens), "sent": whole(cell.sent),
            "retained": whole(truth.retained[cell.id]), "token_turns": whole(truth.token_turns[cell.id]),
            "sent_turns": whole(truth.sent_turns[cell.id]), "cost": dollars(truth.cost[cell.id]),
            "references": whole(len(truth.references.get(cell.id, ()))),
            "referenced": str(max(truth.references.get(cell.id, {0}))) if cell.id in truth.references else "–",
            "resident": "yes" if cell.id in here else "no", "handle": truth.handles.get(cell.id, "") or "–",
        }
        for cell in truth.cells
    }  # fmt: skip
    sums = {
        "found": len(truth.cells),
        "tokens": sum(cell.tokens for cell in truth.cells),
        "resident": sum(here.values()),
    }
    return {**flat("cell", rows), **{name: str(value) for name, value in sums.items()}}
