"""Who is let in: a page that another name leads to (DNS rebinding) is not answered.

Rule: default deny for whose Host is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxgc.web.token import PREFIX

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
REFUSAL = "this proxy does not answer to that Host; see allowed_hosts"


class Hosts:
    """The names that a server may be called by: the machine's own, and ``hosts``."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._names = frozenset(map(_bracketed, (*LOCAL_NAMES, *hosts)))

    def known(self, host: str) -> bool:
        """Whether a Host header names us; its port is not looked at."""
        name = host.lower()
        if name.rpartition(":")[2].isdigit():
            name = name.rpartition(":")[0]
        return name in self._names


def mounted(page: ASGIApp, hosts: Sequence[str]) -> ASGIApp:
    """The page under its prefix, for those who call us by our name; all else leads to it."""
    known = Hosts(hosts).known

    async def root(request: object) -> Response:
        return RedirectResponse(PREFIX)

    routes = [Mount(PREFIX.rstrip("/"), page), Route("/", root)]
    app = Starlette(routes=routes)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if known(host):
            await app(scope, receive, send)
            return
        refused = JSONResponse({"error": {"message": REFUSAL, "type": "unknown_host"}}, 421)
        await refused(scope, receive, send)

    return guarded


def _bracketed(host: str) -> str:
    """A host as it stands in a Host header."""
    return f"[{host}]".lower() if ":" in host and not host.startswith("[") else host.lower()
