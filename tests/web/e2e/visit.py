"""Somebody at the page in a real browser, and what the browser did and said meanwhile.

Rule: nothing is waited for by the clock: a condition in the page ends each wait.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Dialog, Error, Page, Request, Route, ViewportSize

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATIENCE = 20_000
"""Milliseconds after which something that does not come is taken to never come."""
VIEWS = ("heap", "cells", "diff", "gc", "suspects", "tools", "books")
DESKTOP, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)

WATCH = """addEventListener("securitypolicyviolation", (event) => (window.__violations = window.__violations || [])
  .push(event.violatedDirective + " " + event.blockedURI));"""
SETTLED = (
    """() => !document.querySelector("[data-waiting], [aria-busy=true]") && document.querySelector("[data-view]")"""
)
GRID = """async ([name, key]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const grid = document.querySelector(`[data-grid="${name}"]`);
  const found = {};
  let most = 0;
  for (let top = 0; ; top += Math.max(100, grid.clientHeight - 60)) {
    grid.scrollTop = top;
    await frame();
    const rows = grid.querySelectorAll("tbody tr:not([aria-hidden])");
    most = Math.max(most, rows.length);
    for (const row of rows) {
      const cells = Array.from(row.querySelectorAll("td"), (cell) => [cell.dataset.column, cell.textContent.trim()]);
      found[row.dataset[key]] = Object.fromEntries(cells);
    }
    if (top + grid.clientHeight >= grid.scrollHeight) break;
  }
  grid.scrollTop = 0;
  await frame();
  return { rows: found, count: Number(grid.dataset.count), most };
}"""


@dataclass
class Visit:
    """A tab. ``asked`` are the addresses of all requests that left it, ``errors`` what was said on its console,
    ``dialogs`` what was put before its reader."""

    page: Page
    base: str
    token: str
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def elsewhere(self) -> list[str]:
        """The requests to anything but this machine."""
        return [url for url in self.asked if not url.startswith("file:") and urlsplit(url).hostname not in LOOPBACK]

    async def violations(self) -> list[str]:
        return list(await self.page.evaluate("window.__violations || []"))

    async def open(self, route: str = "", *, token: str | None = None) -> None:
        """Open the page by its link."""
        given = self.token if token is None else token
        await self.page.goto(f"{self.base}/ctxgc/#token={given}&/{route}")
        await self.settled()

    async def go(self, route: str) -> None:
        """Go to another place on the page."""
        view = "sessions" if not route else route.split("/")[2]
        await self.page.evaluate("(route) => { location.hash = '#/' + route; }", route)
        await self.page.wait_for_selector(f'[data-view="{view}"]', state="attached", timeout=PATIENCE)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing is being loaded."""
        await self.page.wait_for_function(SETTLED, timeout=PATIENCE)

    async def until(self, condition: str, given: Any = None) -> None:
        """Wait until a function in JavaScript gives something true."""
        await self.page.wait_for_function(condition, arg=given, timeout=PATIENCE)

    async def grid(self, name: str, key: str) -> dict[str, dict[str, str]]:
        """All rows of a table, by an attribute of theirs: for each column the text that is shown."""
        found = await self.page.evaluate(GRID, [name, key])
        assert len(found["rows"]) == found["count"]
        return dict(found["rows"])

    async def data(self, selector: str) -> dict[str, str]:
        """The ``data-*`` attributes of an element."""
        return dict(await self.page.eval_on_selector(selector, "(element) => ({...element.dataset})"))

    async def all_data(self, selector: str) -> list[dict[str, str]]:
        return list(await self.page.eval_on_selector_all(selector, "(all) => all.map((one) => ({...one.dataset}))"))

    async def text(self, selector: str = "body") -> str:
        """What a reader sees of an element."""
        return str(await self.page.eval_on_selector(selector, "(element) => element.textContent"))

    def _asks(self, request: Request) -> None:
        self.asked.append(request.url)

    def _says(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    async def _tells(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        await dialog.dismiss()


@asynccontextmanager
async def visiting(browser: Browser, base: str = "", token: str = "", **options: Any) -> AsyncIterator[Visit]:
    """A tab of its own, with no memory. Whatever it asks of another machine is refused, and noted."""
    context = await browser.new_context(**{"viewport": DESKTOP, "timezone_id": "UTC", **options})
    try:
        await context.add_init_script(WATCH)
        page = await context.new_page()
        visit = Visit(page, base, token)

        async def guard(route: Route) -> None:
            here = urlsplit(route.request.url).hostname in LOOPBACK
            with suppress(Error):  # the page has gone meanwhile
                await (route.continue_() if here else route.abort())

        await context.route(lambda url: url.startswith(("http:", "https:", "ws:", "wss:")), guard)
        page.on("request", visit._asks)
        page.on("console", visit._says)
        page.on("pageerror", lambda error: visit.errors.append(f"uncaught: {error}"))
        page.on("dialog", visit._tells)
        yield visit
    finally:
        await page.unroute_all(behavior="ignoreErrors")  # what is still under way when the page goes
        await context.close()


async def falsified(visit: Visit, path: str, change: Any) -> None:
    """Have the document at an API path (its end) arrive with a change: the control of a comparison."""

    async def altered(route: Route) -> None:
        with suppress(Error):  # the page has gone meanwhile
            answer = await route.fetch()
            document = await answer.json()
            change(document)
            await route.fulfill(status=200, content_type="application/json", body=json.dumps(document))

    await visit.page.route(lambda url: url.endswith(f"/ctxgc/api/{path}"), altered)


def differing(shown: Mapping[str, str], true: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What is shown otherwise than it is, by name: shown, and true."""
    names = shown.keys() | true.keys()
    pairs = {name: (shown.get(name, "(missing)"), true.get(name, "(missing)")) for name in names}
    return {name: pair for name, pair in sorted(pairs.items()) if pair[0] != pair[1]}
