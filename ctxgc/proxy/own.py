"""ctxgc's own paths: health, metrics, and a list of sessions. Off the hot path, so with starlette.

Rule: only what holds no content is shown here: counts, hashes and times.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ctxgc.session import Sessions
from ctxgc.telemetry import Figures
from ctxgc.telemetry.prometheus import render


def make_own(sessions: Sessions, figures: Figures) -> Starlette:
    """The application that answers ctxgc's own paths."""

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

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Route("/ctxgc/sessions", live),
        ]
    )
