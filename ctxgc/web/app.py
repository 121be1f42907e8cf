"""The page's server, to be mounted at ``/ctxgc``: files, documents behind the token, events, and what may be done.

Rule: nothing of a session is given, or done, without the token; whatever is answered tells browsers to load nothing
else, and to show nothing as what it is not.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ctxgc.web.actions import Actions, Refused
from ctxgc.web.bodies import read_json
from ctxgc.web.desk import Desk
from ctxgc.web.events import Events
from ctxgc.web.files import INDEX, File, static
from ctxgc.web.frames import GROWN, Answer, Asked, encoded, refusal
from ctxgc.web.token import bears

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
}
READS_ONLY = "this page only reads: nothing runs here that could be acted on"

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]


class _Pin(msgspec.Struct, forbid_unknown_fields=True):
    cell: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    pinned: bool


class _Recall(msgspec.Struct, forbid_unknown_fields=True):
    handle: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class _Milestone(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class Page:
    """The page over what a ``desk`` reads. ``actions`` are what may be done; None where no session runs here.

    ``app`` answers the paths below ``/ctxgc`` (its prefix taken off); ``end_streams`` must be called for the server to
    end, and ``close`` after it has.
    """

    def __init__(self, desk: Desk, token: str, actions: Actions | None = None) -> None:
        self._desk, self._actions = desk, actions
        self._token = token or secrets.token_urlsafe()  # an empty one would be known to everybody
        self._files = static()
        self._ending = asyncio.Event()
        self._events = Events(self._grown)
        app = Starlette(routes=self._routes(), exception_handlers={HTTPException: _refused})
        app.router.redirect_slashes = False
        self.app: ASGIApp = _Guarded(app)

    def end_streams(self) -> None:
        """End what would go on for as long as anybody listens, or as the reader takes."""
        self._ending.set()
        self._events.close()

    async def close(self) -> None:
        """End the reader."""
        self.end_streams()
        await self._desk.close()

    def _routes(self) -> list[Route]:
        acts = "/api/sessions/{session}"
        return [
            Route("/", self._index),
            Route("/static/{name:path}", self._static),
            Route("/api/events", self._behind_token(self._listen)),
            Route(f"{acts}/pin", self._behind_token(self._pin), methods=["POST"]),
            Route(f"{acts}/recall", self._behind_token(self._recall), methods=["POST"]),
            Route(f"{acts}/milestone", self._behind_token(self._milestone), methods=["POST"]),
            Route("/api/{path:path}", self._behind_token(self._document)),
        ]

    def _behind_token(self, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            if not bears(request.headers.get("authorization", ""), self._token):
                raise HTTPException(401, "give the page's token: ctxgc prints its link", {"www-authenticate": "Bearer"})
            return await handler(request)

        return guarded

    async def _index(self, request: Request) -> Response:
        self._desk.begin()  # what the page will ask, as soon as it is shown
        return _served(request, self._files[INDEX])

    async def _static(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404, "the page has no such file")
        return _served(request, file)

    async def _document(self, request: Request) -> Response:
        asked = Asked(
            path=request.path_params["path"],
            query=dict(request.query_params),
            live=self._actions.live() if self._actions else (),
            acts=self._actions is not None,
            gzip="gzip" in request.headers.get("accept-encoding", ""),
        )
        found = await self._answer(asked) if asked.path != GROWN else refusal(404, "there is no such document")
        return _json(found)

    async def _answer(self, asked: Asked) -> Answer:
        """The reader's answer; at the end of the server, whatever the reader is at, that there is none."""
        asking, ending = asyncio.ensure_future(self._desk.ask(asked)), asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((asking, ending), return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else _CLOSING  # what it is at ends with it
        finally:
            ending.cancel()

    async def _grown(self, calm: bool) -> dict[str, int]:
        answer = await self._answer(Asked(path=GROWN, query={"calm": ""} if calm else {}))
        return msgspec.json.decode(answer.body, type=_Grown).sessions if answer.status == 200 else {}

    async def _listen(self, request: Request) -> Response:
        return StreamingResponse(await self._events.listening(), media_type="text/event-stream", headers=_FRESH)

    async def _pin(self, request: Request) -> Response:
        wanted = await _read(request, _Pin, '{"cell": 3, "pinned": true}')
        return await self._done(lambda acts: acts.pin(request.path_params["session"], wanted.cell, wanted.pinned))

    async def _milestone(self, request: Request) -> Response:
        wanted = await _read(request, _Milestone, '{"name": "what is done"}')
        return await self._done(lambda acts: acts.done(request.path_params["session"], wanted.name))

    async def _recall(self, request: Request) -> Response:
        wanted = await _read(request, _Recall, '{"handle": "the 16 characters of a stub"}')
        session = request.path_params["session"]
        text = await self._act(lambda acts: acts.recall(session, wanted.handle))
        return _json(Answer(200, encoded({"schema": "ctxgc.page.recalled/1", "handle": wanted.handle, "text": text})))

    async def _done(self, act: Callable[[Actions], Awaitable[str]]) -> Response:
        return _json(Answer(200, encoded({"schema": "ctxgc.page.done/1", "said": await self._act(act)})))

    async def _act(self, act: Callable[[Actions], Awaitable[str]]) -> str:
        if self._actions is None:
            raise HTTPException(409, READS_ONLY)
        try:
            return await act(self._actions)
        except Refused as error:
            raise HTTPException(error.status, str(error)) from None


class _Grown(msgspec.Struct):
    sessions: dict[str, int]


class _Guarded:
    """An application whose every answer has the page's headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_PAIRS]
            await send(message)

        await self._app(scope, receive, guarded)


async def _read(request: Request, kind: type[T], example: str) -> T:
    """A request's body; a page of another origin may send none."""
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != request.headers.get("host", "").lower():
        raise HTTPException(403, "a page of another origin may not do this")
    return await read_json(request, kind, example)


def _served(request: Request, file: File) -> Response:
    headers = {"etag": file.tag, "cache-control": "no-cache", "content-type": file.media}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers)


def _json(answer: Answer, headers: Mapping[str, str] | None = None) -> Response:
    packed = {"content-encoding": "gzip"} if answer.gzip else {}
    given = {"content-type": "application/json", **_FRESH, **packed, **(headers or {})}
    return Response(answer.body, answer.status, given)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = "ctxgc_unauthorized" if error.status_code == 401 else "ctxgc_refused"
    return _json(refusal(error.status_code, error.detail, kind), error.headers)


def turned_off(why: str) -> ASGIApp:
    """What answers where there is no page: with a line that says why."""

    async def off(request: Request) -> Response:
        return _json(refusal(404, why))

    return _Guarded(Starlette(routes=[Route("/{path:path}", off, methods=["GET", "POST"])]))


_FRESH: Mapping[str, str] = {"cache-control": "no-store", "vary": "accept-encoding"}
_CLOSING = refusal(503, "the page is being closed", "ctxgc_reader")
_PAIRS = tuple((name.encode(), value.encode()) for name, value in HEADERS.items())
