"""Following random facts of random balances to the bytes that they rest on.

Rule: what the ledger says of itself is not enough; every hash is computed once more from the bytes of the voucher.
"""

from __future__ import annotations

import random
from hashlib import sha256

from ctxgc.ledger import Ledger, Source
from ctxgc.store import StoreCorrupt, StoreMissing


def disagreeing(ledger: Ledger, picks: int, dice: random.Random) -> int:
    """How many of so many random facts of random balances do not agree with their vouchers.

    A ledger without a balance has nothing that agrees.
    """
    balances = [period.balance for period in ledger.books.periods if period.balance]
    if not balances:
        return picks
    return sum(not agrees(ledger, dice.choice(dice.choice(balances))) for _ in range(picks))


def agrees(ledger: Ledger, name: str) -> bool:
    """Whether a fact leads to a voucher whose hash, and whose slice's hash, are those that were booked."""
    trace = ledger.trace(name)
    return trace.agree and bool(trace.period) and all(_recomputed(ledger, one) for one in trace.sources)


def _recomputed(ledger: Ledger, source: Source) -> bool:
    evidence = source.evidence
    try:
        content = ledger.vault.read(source.artifact.id)
    except (StoreCorrupt, StoreMissing):
        return False
    part = sha256(content[evidence.first : evidence.last]).hexdigest()
    return f"sha256:{sha256(content).hexdigest()}" == source.artifact.hash and f"sha256:{part}" == evidence.slice
