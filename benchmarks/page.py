"""How soon the profiler page shows a session of 5,000 requests and 20,000 cells, and whether its table scrolls smoothly.

A real Chromium, a tab without a cache, the page's own server. ``cold`` begins with no reader: the first question starts
its process, which reads the journal. ``warm`` asks the same reader again. Milliseconds are the browser's own, from the
navigation to the frame in which the chart (or the table's first row) is there; medians over the rounds, then all of
them. Frames are those of ``STEPS`` scrolls of the table of cells; "late" ones took longer than two frames at 60 a second.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click
from playwright.async_api import Browser, Page, async_playwright

from ctxgc.core.pacer import Pacer
from ctxgc.store import open_store
from ctxgc.web import app
from ctxgc.web.desk import InChild
from ctxgc.web.frames import Terms
from ctxgc.web.serving import base_of, listen, page_server, serving
from tests.web.e2e.large import KEY, write_long_session

TOKEN = "benchmark"
BAR = 1_000.0
"""Milliseconds in which the heap must be there when nothing was read before."""
STEPS = 120
LATE = 2 * 1000 / 60
THERE = """(selector) => new Promise((done) => {
  const look = () => (document.querySelector(selector) ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
  look();
})"""
SWITCH = """([hash, selector]) => new Promise((done) => {
  const from = performance.now();
  location.hash = hash;
  const look = () => (document.querySelector(selector) ? requestAnimationFrame(() => done(performance.now() - from)) : requestAnimationFrame(look));
  look();
})"""
SCROLL = """async ([selector, steps]) => {
  const grid = document.querySelector(selector);
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let step = 1; step <= steps; step += 1) {
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * step / steps;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}"""


@asynccontextmanager
async def served(url: str) -> AsyncIterator[str]:
    """The page over a store, with a reader of its own that has not been started."""
    listener = listen("127.0.0.1", 0)
    page = app.Page(InChild(Terms(url=url, pacer=Pacer())), TOKEN)
    async with serving(page_server(page, "127.0.0.1", ()), listener):
        yield base_of("127.0.0.1", listener)
    await page.close()
    listener.close()


@asynccontextmanager
async def tab(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    yield await context.new_page()
    await context.close()


async def heap(page: Page, base: str) -> float:
    """Milliseconds until the chart is there."""
    await page.goto(f"{base}/ctxgc/#token={TOKEN}&/session/{KEY.hex()}/heap", wait_until="commit")
    return float(await page.evaluate(THERE, "[data-chart=heap]"))


async def cells(page: Page) -> float:
    """Milliseconds from the heap to the table of cells."""
    return float(await page.evaluate(SWITCH, [f"#/session/{KEY.hex()}/cells", "tr[data-cell]"]))


async def one_round(browser: Browser, url: str) -> tuple[float, float, float, list[float]]:
    """Cold, warm, the table of cells, and the frames of its scrolling."""
    async with served(url) as base:
        async with tab(browser) as page:
            cold = await heap(page, base)
        async with tab(browser) as page:
            warm = await heap(page, base)
            table = await cells(page)
            frames = await page.evaluate(SCROLL, ["[data-grid=cells]", STEPS])
    return cold, warm, table, frames


async def measured(url: str, rounds: int, chromium: str) -> list[tuple[float, float, float, list[float]]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        async with served(url) as base, tab(browser) as page:  # the browser's own first time is not the page's
            await heap(page, base)
        found = [await one_round(browser, url) for _ in range(rounds)]
        await browser.close()
    return found


def told(name: str, values: Sequence[float]) -> str:
    each = " ".join(f"{value:.0f}" for value in values)
    return f"{name:<28}{statistics.median(values):7.0f} ms   ({each})"


@click.command()
@click.option("--rounds", default=5, show_default=True)
def main(rounds: int) -> None:
    """Measure, and exit with 1 where the heap of a session that nothing has read yet takes a second or more."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise click.ClickException("there is no chromium on this machine")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'audit.db'}"
        store = open_store(url)
        write_long_session(store)
        store.close()
        found = asyncio.run(measured(url, rounds, chromium))
    frames = sorted(frame for *_, times in found for frame in times)
    print(f"5,000 requests, 20,000 cells; {rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, at in (("heap, cold", 0), ("heap, warm", 1), ("cells, from the heap", 2)):
        print(told(name, [one[at] for one in found]))
    late = sum(frame > LATE for frame in frames)
    print(
        f"{'a frame while scrolling':<28}{statistics.median(frames):7.1f} ms   (99th of a hundred: "
        f"{frames[len(frames) * 99 // 100]:.1f} ms; late: {late} of {len(frames)})"
    )
    if statistics.median(one[0] for one in found) >= BAR:
        sys.exit(1)


if __name__ == "__main__":
    main()
