"""The demo's other session: the same requests as they came, in the store beside the collected one, to be looked at.

Rule: the bodies and the usage are those of the run straight to the model; nothing is changed and nothing is sent.
"""

from __future__ import annotations

import hashlib

from ctxgc.assemble import make_kit
from ctxgc.core.journal import Settlement
from ctxgc.demo.run import Runs
from ctxgc.session import Session
from ctxgc.store import open_store

ORIGIN = "demo, untouched"
"""Where this session's name stands instead of a header's."""


def keep_untouched(runs: Runs) -> bytes:
    """Store the run without ctxgc as a session that collects nothing, and return its key. Raises ``StoreError``."""
    key = hashlib.sha256(b"ctxgc demo\0untouched").digest()
    store = open_store(runs.store)
    try:
        session = Session(key, key, ORIGIN, make_kit(store, ()))
        for body, usage in zip(runs.without.bodies, runs.without.usages, strict=True):
            prepared = session.prepare(body)
            session.admit()
            session.settle(
                Settlement(
                    at=session.kit.clock(),
                    call=prepared.call,
                    outcome="ok",
                    status=200,
                    model=prepared.model,
                    estimated=session.estimated(prepared.call),
                    usage=usage,
                )
            )
        session.flush()
    finally:
        store.close()
    return key
