"""What users, models and tools write is only ever text: shown, and never run, followed or hidden."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from ctxgc.core.journal import decode
from ctxgc.core.state import fold
from ctxgc.ledger import open_ledger
from ctxgc.web.token import token_of
from tests.proxy.client import KEY
from tests.proxy.harness import Running, proxy
from tests.proxy.upstream import Upstream
from tests.web.e2e.hostile import MARK, PAYLOADS, shown
from tests.web.e2e.load import Model
from tests.web.e2e.places import each, places, report
from tests.web.e2e.visit import Visit, visiting

KNOWN = {
    *("A", "ARTICLE", "B", "BUTTON", "CAPTION", "CODE", "DD", "DEL", "DETAILS", "DIV", "DL", "DT", "FIELDSET", "FORM"),
    *("H1", "H2", "H3", "HEADER", "INPUT", "INS", "LABEL", "LEGEND", "LI", "MAIN", "NAV", "OL", "OPTION", "P"),
    *("PRE", "Q", "SECTION", "SELECT", "SPAN", "SUMMARY", "TABLE", "TBODY", "TD", "TEXTAREA", "TH", "THEAD", "TR"),
    *("UL", "svg", "g", "path", "rect", "text", "pattern", "defs"),
}  # fmt: skip
"""The elements that the page makes."""
STRANGE = """(known) => Array.from(document.querySelectorAll("#app *")).filter((one) => !known.includes(one.tagName)
  || one.getAttributeNames().some((name) => name.startsWith("on") || name === "srcdoc" || name === "src")
  || /^\\s*(javascript|data|https?):/i.test(one.getAttribute("href") || ""))
  .map((one) => one.outerHTML.slice(0, 200))"""


@dataclass(frozen=True)
class Haunted:
    """A proxy with a session in which every text is a payload. ``cells`` are cells by the payload in them."""

    running: Running
    session: str
    cells: dict[str, int]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.running.port}"


def conversation() -> list[dict[str, Any]]:
    """Each payload as what the user says, a tool's name, an argument, and a result: five by five."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": PAYLOADS[0]}]
    for number, (user, name, argument, result, said) in enumerate(zip(*[iter(PAYLOADS)] * 5, strict=True)):
        function = {"name": name, "arguments": json.dumps({"path": argument})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": user}, {"role": "assistant", "content": said, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result + "\n" + result * 40},
        ]  # fmt: skip
    return messages


async def talk(running: Running) -> None:
    """The conversation in four requests, with a list of tools whose names and descriptions are payloads."""
    messages = conversation()
    tools = [
        {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
        for name in PAYLOADS[:40]
    ]
    for upto in (len(messages) // 4, len(messages) // 2, len(messages) - 3, len(messages)):
        body = json.dumps({"model": "gpt-5", "messages": messages[:upto], "tools": tools}).encode()
        assert (await running.chat(body, (KEY,))).status == 200
    await asyncio.to_thread(running.store.inner.flush)


def book(running: Running, session: str) -> None:
    """Claims and facts that are payloads, with vouchers that live at payloads."""
    with open_ledger(running.store.inner, f"session {session}") as ledger:
        for number, payload in enumerate(PAYLOADS[:40]):
            clean = payload.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            ledger.claim(clean)
            voucher = ledger.vault.store(ref=f"{clean} {number}", content=f"{clean}\nfact {number} {clean}")
            ledger.post(f"fact {number} {clean}", [ledger.verify(voucher, f"fact {number} {clean}")])
        ledger.close(PAYLOADS[1])


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def haunted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Haunted]:
    async with Upstream() as upstream:
        Model(upstream)
        settings = {"policies": ({"name": "dedup"}, {"name": "truncate", "budget": 64}), "summariser": "off"}
        async with proxy(upstream.base, tmp_path_factory.mktemp("hostile") / "audit.db", **settings) as running:
            await talk(running)
            (row,) = running.store.inner.sessions()
            book(running, row.key.hex())
            yield Haunted(running, row.key.hex(), _cells(running, row.key))


def _cells(running: Running, key: bytes) -> dict[str, int]:
    """The cells of what users said, in their order."""
    state = fold(decode(found.body) for found in running.store.inner.entries(key))
    cells = [cell.id for cell in state.cells if cell.tag == "user_turn"]
    return dict(zip(PAYLOADS[::5], cells, strict=True))


@pytest_asyncio.fixture(loop_scope="session")
async def tab(browser: Browser, haunted: Haunted) -> AsyncIterator[Visit]:
    async with visiting(browser, haunted.base, token_of(haunted.running.store.inner.secret)) as visit:
        yield visit


async def harm(visit: Visit) -> list[object]:
    """What a payload has achieved."""
    strange = await visit.page.evaluate(STRANGE, sorted(KNOWN))
    ran = await visit.page.evaluate(f"{MARK} === undefined ? [] : [{MARK}]")
    return [*strange, *ran, *visit.errors, *visit.dialogs, *visit.elsewhere, *await visit.violations()]


async def test_in_every_view_payloads_are_shown_and_do_nothing(tab: Visit, haunted: Haunted) -> None:
    await tab.open()
    async for route in each(tab, places(haunted.session, 4, 2, next(iter(haunted.cells.values())))):
        assert await harm(tab) == [], route
        assert not route or await tab.text("h1")


async def test_a_cell_shows_its_payload_sign_by_sign(tab: Visit, haunted: Haunted) -> None:
    await tab.open(f"session/{haunted.session}/cells")
    for payload, cell in haunted.cells.items():
        await tab.go(f"session/{haunted.session}/cells/{cell}")
        await tab.page.wait_for_selector(f'[data-pane="{cell}"] [data-text=received]')
        assert await tab.text("[data-text=received]") == shown(payload)
    assert await harm(tab) == []


async def test_names_of_tools_are_shown_sign_by_sign(tab: Visit, haunted: Haunted) -> None:
    await tab.open(f"session/{haunted.session}/tools")
    rows = await tab.grid("tools", "tool")
    names = {one["name"] for one in rows.values()}
    for payload in PAYLOADS[:40]:
        booked = payload.replace("\ud800", "?").replace("\udfff", "?")  # names are booked as UTF-8 has them
        assert shown(booked).replace("\n", "␊").replace("\t", "␉").strip() in names
    assert await harm(tab) == []


async def test_facts_and_what_proves_them_are_shown(tab: Visit, haunted: Haunted) -> None:
    await tab.open(f"session/{haunted.session}/books")
    for fact in (await tab.page.locator("tr[data-fact]").all())[:12]:
        await fact.click()
        await tab.page.wait_for_selector("[data-source] [data-text=slice]")
    assert (await tab.text("[data-text=slice]")).startswith("fact ")
    assert await harm(tab) == []


async def test_in_a_report_with_content_payloads_do_nothing(tab: Visit, haunted: Haunted, tmp_path: Path) -> None:
    await tab.page.goto(report(haunted.running.store.inner, [haunted.session], tmp_path / "report.html"))
    async for route in each(tab, places(haunted.session, 4, 2, next(iter(haunted.cells.values())))):
        assert await harm(tab) == [], route
    for payload, cell in haunted.cells.items():
        await tab.go(f"session/{haunted.session}/cells/{cell}")
        assert await tab.text("[data-text=received]") == shown(payload)
    assert await harm(tab) == []
    assert len(tab.asked) == 1


async def test_the_same_payloads_as_html_do_run(browser: Browser) -> None:
    """The control: a page that takes texts for HTML is taken over, and what it asks for is noticed. (The seventeenth
    would lead it away.)"""
    async with visiting(browser) as visit:
        await visit.page.goto("about:blank")
        for payload in PAYLOADS[:16]:
            html = payload.replace("\ud800", "").replace("\udfff", "")
            await visit.page.evaluate(
                "(html) => document.body.appendChild(document.createElement('div')).innerHTML = html", html
            )
        await visit.until(f"() => {MARK} !== undefined")
        assert visit.elsewhere != []


async def test_an_element_that_the_page_does_not_make_is_noticed(tab: Visit) -> None:
    """The control of what is looked at."""
    await tab.open()
    await tab.page.evaluate(
        "() => { document.querySelector('#app').appendChild(document.createElement('img')).alt = 'x'; }"
    )
    assert await harm(tab) == ['<img alt="x">']
