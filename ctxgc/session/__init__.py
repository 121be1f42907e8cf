"""Conversations: finding the one a request belongs to, deciding what is sent, booking what happened.

Rule: what only reads sessions loads no part of what runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxgc.session.kit import Kit as Kit
    from ctxgc.session.kit import Prepared as Prepared
    from ctxgc.session.kit import Resumed as Resumed
    from ctxgc.session.registry import Found as Found
    from ctxgc.session.registry import Sessions as Sessions
    from ctxgc.session.session import Session as Session
    from ctxgc.session.steps import drain as drain

_HOMES = {
    "Found": "ctxgc.session.registry",
    "Kit": "ctxgc.session.kit",
    "Prepared": "ctxgc.session.kit",
    "Resumed": "ctxgc.session.kit",
    "Session": "ctxgc.session.session",
    "Sessions": "ctxgc.session.registry",
    "drain": "ctxgc.session.steps",
}

__all__ = ["Found", "Kit", "Prepared", "Resumed", "Session", "Sessions", "drain"]


def __getattr__(name: str) -> object:
    """Load a part when it is first asked for. Raises ``AttributeError`` for any other name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
