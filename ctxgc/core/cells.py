"""Cells as the journal books them.

Rule: ids are not stored; cells are numbered in the order of the log.
"""

from __future__ import annotations

import msgspec


class NewCell(msgspec.Struct, frozen=True, array_like=True):
    """A block becomes a cell. Ids are not stored: cells are numbered in the order of the log.

    ``fixed`` says that its text cannot be sent in another form: it is signed, or there is none.
    """

    block: str
    tag: str
    site: str
    tokens: int
    content: bytes
    pinned: bool = False
    call_id: str = ""
    exact: bool = True
    fixed: bool = False
