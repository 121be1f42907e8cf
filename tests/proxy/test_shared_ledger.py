"""A ledger that the sessions of a proxy share: what is posted in it is told once, at a request's end."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from ctxgc.core.compaction import Compaction
from ctxgc.core.journal import Bypass
from ctxgc.ledger import Ledger, open_ledger
from tests.proxy.bodies import user
from tests.proxy.client import KEY
from tests.proxy.compactions import LAST, OFF, Model, grow, texts
from tests.proxy.recalls import request
from tests.proxy.upstream import HANG

POST = """
import sys
from ctxgc import open_ledger
with open_ledger(sys.argv[1], "team") as ledger:
    voucher = ledger.vault.store(ref="q1", content="orders_9 has 71 rows", kind="query")
    ledger.post("orders_9 has 71 rows", [ledger.verify(voucher, "orders_9 has 71 rows")])
"""


async def test_what_another_process_posts_is_told_once_in_each_session(start, upstream, tmp_path):
    model = Model(upstream)
    ones = [[KEY, ("x-ctxgc-session", name)] for name in ("one", "two")]
    async with start(**OFF, ledger="team") as running:
        for headers in ones:
            await grow(running, 1, 3, headers)
        url = f"sqlite:///{tmp_path / 'audit.db'}"
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", POST, url], check=True, timeout=HANG)
        for headers in ones:
            await grow(running, 4, 6, headers)
            told = [text for text in texts(model.sent) if "F1: orders_9 has 71 rows" in text]
            assert len(told) == 1
            assert "what has changed" in told[0] or "opening balance" in told[0]
        running.check()


async def test_nothing_is_told_of_another_ledger(start, upstream, tmp_path):
    model = Model(upstream)
    async with start(**OFF, ledger="others") as running:
        await grow(running, 1, 2)
        url = f"sqlite:///{tmp_path / 'audit.db'}"
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", POST, url], check=True, timeout=HANG)
        await grow(running, 3, 5)
    assert "orders_9" not in model.raw.decode()


async def test_a_helper_call_is_told_nothing(start, upstream):
    """What an agent asks beside its conversation begins anew, and has no window to keep up to date."""
    model = Model(upstream)
    async with start(**OFF, ledger="team") as running:
        headers = [KEY, ("x-ctxgc-session", "one")]
        await grow(running, 1, 2, headers)
        ledger = open_ledger(running.store.inner, "team")
        voucher = ledger.vault.store(ref="q1", content="orders_9 has 71 rows")
        ledger.post("orders_9 has 71 rows", [ledger.verify(voucher, "orders_9 has 71 rows")])
        await running.chat(request(user("Name this conversation.")), headers)
        assert "orders_9" not in model.raw.decode()
        await grow(running, 3, 3, headers)
        assert "orders_9" in model.raw.decode()


async def test_a_store_that_is_damaged_fails_no_request(start, upstream, monkeypatch):
    Model(upstream)
    async with start(**OFF, ledger="team") as running:
        await grow(running, 1, 2)

        def damaged(self: Ledger) -> int:
            raise OSError("the disk")

        monkeypatch.setattr(Ledger, "version", property(damaged))
        await grow(running, 3, LAST)
        assert not [one for one in running.store.of(Compaction) if one.told >= 0]
        assert "not told: OSError" in {one.reason for one in running.store.of(Bypass)}
