"""The protocol side of the MCP server: its tools and their schemas, over stdin and stdout, with the official package.

Rule: nothing but the protocol goes to stdout, and whatever a tool meets becomes one line that the agent can act on.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ctxgc.errors import CtxgcError
from ctxgc.mcp_server.answers import HITS, Answers, Arguments
from ctxgc.session.reading import DESCRIPTION, LONGEST_TERM, SCHEMA
from ctxgc.store import StoreError

Context = ServerRequestContext[Any]

_SEARCH = (
    "Search everything that this conversation ever held, what was taken out of it included: a term, in any case, over "
    f"all messages and tool results, newest first, at most {HITS} lines. A line that begins with a handle is of a "
    "text that was taken out, which recall gives back; one that begins with 'shown' is of a text that was not."
)
_SESSIONS = "List the recorded conversations; the one that recall and search read is marked."
_TERM = {"type": "string", "minLength": 1, "maxLength": LONGEST_TERM, "description": "The text to look for."}


async def serve(answers: Answers) -> None:
    """Serve one client until it closes stdin."""
    called = {"recall": answers.recall, "search": answers.search, "sessions": answers.sessions}

    async def listing(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_tools())

    async def calling(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await to_thread.run_sync(_answer, called.get(params.name), params.arguments or {})

    server: Server[Any] = Server("ctxgc", version=_version(), on_list_tools=listing, on_call_tool=calling)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _tools() -> list[types.Tool]:
    search = {"type": "object", "properties": {"term": _TERM}, "required": ["term"], "additionalProperties": False}
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    named = (("recall", DESCRIPTION, SCHEMA), ("search", _SEARCH, search), ("sessions", _SESSIONS, nothing))
    only_reads = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return [
        types.Tool(name=name, description=text, input_schema=schema, annotations=only_reads)
        for name, text, schema in named
    ]


def _answer(tool: Callable[[Arguments], str] | None, arguments: Arguments) -> types.CallToolResult:
    try:
        if tool is None:
            raise ValueError("there is no such tool: there are recall, search and sessions")
        return _result(tool(arguments))
    except (CtxgcError, StoreError, ValueError) as error:
        return _result(str(error), failed=True)


def _result(text: str, *, failed: bool = False) -> types.CallToolResult:
    # UTF-8 cannot carry lone surrogates: they become U+FFFD.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return types.CallToolResult(content=[types.TextContent(type="text", text=whole)], is_error=failed)


def _version() -> str:
    try:
        return version("ctxgc")
    except PackageNotFoundError:  # run from a source tree
        return ""
