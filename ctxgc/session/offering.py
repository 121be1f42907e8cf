"""The recall tool: which histories offer it, and what of it goes into a request.

Rule: a history offers the tool from its first request to its last, or never, since the list of tools heads what a
provider caches; it was decided when the history began, and the journal says how.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxgc.core.heap import content_digest
from ctxgc.core.journal import NewCell, Offer
from ctxgc.core.state import State
from ctxgc.session.reading import DESCRIPTION, SCHEMA, TOOL_NAME
from ctxgc.session.recognise import Recognised
from ctxgc.wire.codec import Body, Codec


@dataclass(frozen=True, slots=True)
class Offering:
    """The tool that a history offers (empty: none), whether it ``begins`` to with this request, whether this request
    leaves with it (only one that has tools of its own does), and whether calls of it can be answered."""

    tool: bytes = b""
    begins: bool = False
    spliced: bool = False
    answered: bool = False


NOTHING = Offering()
_OTHER = f"{TOOL_NAME} "
"""A name that no tool has."""


def offering(state: State, codec: Codec, found: Recognised, body: Body, *, wanted: bool, begun: bool) -> Offering:
    """What the request of a recognised history offers. ``begun`` says that the history was there before.

    A history that begins in a session which has sent tools before is a helper call, or that of a sub-agent.
    """
    number = state.node(found.parent).offer
    if number >= 0:
        spliced = codec.room(body, TOOL_NAME)
        if not spliced and codec.room(body, _OTHER):  # the client has a tool of that name: its calls are the client's
            return NOTHING
        return Offering(state.own.offers[number].tool, False, spliced, spliced and codec.single(body))
    begins = wanted and not (begun or state.plain or state.toolsets) and bool(found.drafts)
    if not (begins and codec.room(body, TOOL_NAME) and codec.single(body)):
        return NOTHING
    return Offering(codec.tool(TOOL_NAME, DESCRIPTION, SCHEMA), True, True, True)


def offer(found: Offering, count: int, *, exact: bool) -> Offer | None:
    """What the journal keeps of a tool whose ``count`` tokens a history begins to send."""
    if not found.begins:
        return None
    content = content_digest(found.tool.decode())
    cell = NewCell("tool_schema", f"tool_schema:{TOOL_NAME}", TOOL_NAME, count, content, True, exact=exact)
    return Offer(found.tool, cell)
