"""The calls in a session's newest reply, which no request carries yet.

Rule: what cannot be read counts as no call: the figures of the journal are shown all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxgc.errors import InputError
from ctxgc.lab.replies import called_in
from ctxgc.store import Store

if TYPE_CHECKING:
    from ctxgc.web.views.session import SessionView


def listen(view: SessionView, store: Store, named: Callable[[str], str] = str) -> None:
    """Give a view the tools that its newest reply calls; ``named`` is what stands for a name, if it is not to be
    shown."""
    try:
        calls = called_in(view.reply[1], store, view.codec())
    except InputError:  # it has no format yet, or one that this version cannot read
        calls = ()
    view.replied([named(call) for call in calls])
