"""ctxgc's own paths: health, metrics, a list of sessions, and the profiler page. Off the hot path, so with starlette.

Rule: only what holds no content is shown here: counts, hashes and times (the page has a token for the rest). What
changes anything is no simple request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp

from ctxgc.session import Session, Sessions
from ctxgc.telemetry import Figures
from ctxgc.telemetry.prometheus import render
from ctxgc.web.bodies import read_json

Milestone = Callable[[Session, str], Awaitable[str]]
"""Ends a period of a session under a name; says why not (empty: it is done)."""


def make_own(sessions: Sessions, figures: Figures, milestone: Milestone, page: ASGIApp) -> Starlette:
    """The application that answers ctxgc's own paths; ``page`` answers all that is left below ``/ctxgc``."""

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def metrics(request: Request) -> Response:
        body, media = render(figures, request.headers.get("accept", ""))
        return Response(body, headers={"content-type": media})

    async def live(request: Request) -> Response:
        rows = [
            {"session": session.key.hex(), "origin": session.origin, "calls": session.state.calls}
            for session in sessions
        ]
        return JSONResponse({"schema": "ctxgc.live/1", "sessions": rows})

    async def reached(request: Request) -> Response:
        name = await _name(request)
        session = _session(sessions, request.path_params["session"])
        fault = await milestone(session, name)
        if fault:
            return JSONResponse({"error": {"message": fault, "type": "ctxgc_period_open"}}, 409)
        return JSONResponse({"schema": "ctxgc.milestone/1", "session": session.key.hex(), "milestone": name})

    app = Starlette(
        exception_handlers={HTTPException: _refused},
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Route("/ctxgc/sessions", live),
            Route("/ctxgc/sessions/{session}/milestone", reached, methods=["POST"]),
        ],
    )
    app.router.default = Router([Mount("/ctxgc", page)])  # a route like the others would take their refusals
    return app


async def _name(request: Request) -> str:
    """The name of a milestone in a request's body; no page sends one here."""
    if "origin" in request.headers:
        raise HTTPException(403, "a page of another origin may not do this")
    return (await read_json(request, _Milestone, '{"name": "what is done"}')).name


class _Milestone(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


def _session(sessions: Sessions, wanted: str) -> Session:
    """The live session whose key begins so, if there is only one."""
    found = [session for session in sessions if session.key.hex().startswith(wanted)] if len(wanted) >= 8 else []
    if len(found) != 1:
        raise HTTPException(404, "no live session has that id: see /ctxgc/sessions")
    return found[0]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": {"message": error.detail, "type": "ctxgc_refused"}}, error.status_code)
