"""The ledger: what a host knows to be so, each statement with the original that bears it out.

Rule: nothing becomes a fact but by a verifier that saw it in a voucher, and nothing that was booked is changed.
"""

from __future__ import annotations

from ctxgc.ledger.closing import Closed
from ctxgc.ledger.ledger import Ledger, open_ledger
from ctxgc.ledger.reconcile import Report, Row
from ctxgc.ledger.trace import Source, Trace
from ctxgc.ledger.vault import Vault
from ctxgc.ledger.verifiers import (
    Check,
    Verifier,
    Voucher,
    exit_status,
    file_exists,
    json_path_equals,
    number_equals,
    quotes,
    reads_back,
    verifier,
)

__all__ = [
    "Check",
    "Closed",
    "Ledger",
    "Report",
    "Row",
    "Source",
    "Trace",
    "Vault",
    "Verifier",
    "Voucher",
    "exit_status",
    "file_exists",
    "json_path_equals",
    "number_equals",
    "open_ledger",
    "quotes",
    "reads_back",
    "verifier",
]
