"""The tags of cells that are sent and never came: what was recalled, records of what is left out, news of the ledger.

Rule: names only, so that who reads a journal need load nothing of what wrote it.
"""

from __future__ import annotations

RECALL, RECORD, NEWS = "recall", "summary", "ledger"
