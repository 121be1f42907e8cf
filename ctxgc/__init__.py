"""A garbage collector for the context of LLM agents: measure, collect and audit every token.

``open_session`` wraps a messages list, ``wrap`` an OpenAI client; ``ctxgc proxy`` does the same over HTTP.
``open_ledger`` keeps the books: vouchers, facts that a host has verified, periods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxgc.client import wrap as wrap
    from ctxgc.core.heap import Heap as Heap
    from ctxgc.core.policy import Policy as Policy
    from ctxgc.core.policy import Verdict as Verdict
    from ctxgc.errors import ConfigError as ConfigError
    from ctxgc.errors import CtxgcError as CtxgcError
    from ctxgc.errors import InputError as InputError
    from ctxgc.errors import LedgerError as LedgerError
    from ctxgc.errors import UnknownHandle as UnknownHandle
    from ctxgc.ledger import open_ledger as open_ledger
    from ctxgc.library import Conversation as Conversation
    from ctxgc.library import open_session as open_session
    from ctxgc.policies import PolicyError as PolicyError
    from ctxgc.store import StoreError as StoreError
    from ctxgc.store import open_store as open_store

_HOMES = {
    "Conversation": "ctxgc.library",
    "ConfigError": "ctxgc.errors",
    "CtxgcError": "ctxgc.errors",
    "Heap": "ctxgc.core.heap",
    "InputError": "ctxgc.errors",
    "LedgerError": "ctxgc.errors",
    "Policy": "ctxgc.core.policy",
    "PolicyError": "ctxgc.policies",
    "StoreError": "ctxgc.store",
    "UnknownHandle": "ctxgc.errors",
    "Verdict": "ctxgc.core.policy",
    "open_ledger": "ctxgc.ledger",
    "open_session": "ctxgc.library",
    "open_store": "ctxgc.store",
    "wrap": "ctxgc.client",
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a public name from its home when it is first used (PEP 562), so that ``import ctxgc`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ctxgc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, whether they are imported yet or not."""
    return [*globals(), *_HOMES]
