"""The page's token: whoever knows it may read what is stored, and act on running sessions.

Rule: it follows from the store's secret, so that a link stays good when the proxy starts anew; it is never in a path or
a query, which others log.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode

PREFIX = "/ctxgc/"
"""Where the page is."""

_BYTES = 18


def token_of(secret: bytes) -> str:
    """The token for the store with this secret: 144 bits that nobody can guess, in letters that a URL may hold."""
    digest = hmac.digest(secret, b"ctxgc page", "sha256")
    return urlsafe_b64encode(digest[:_BYTES]).decode()


def bears(authorization: str, token: str) -> bool:
    """Whether an ``Authorization`` header brings the token; takes the same time wherever it differs."""
    scheme, _, given = authorization.partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    return scheme.lower() == "bearer" and same


def link(base: str, token: str, session: str = "", view: str = "") -> str:
    """The page's address for a browser, with the token in its fragment, which is not sent anywhere.

    ``base`` is the server's, such as http://127.0.0.1:8787. It opens on a ``view`` of a ``session`` (an id in hex).
    """
    route = "/".join(filter(None, ("&/session", session, view))) if session else ""
    return f"{base}{PREFIX}#token={token}{route}"
