"""The HTTP server's protocol: uvicorn's, with its fast parser, and its slow one for requests that offer an upgrade.

Rule: no body is lost. The fast parser drops that of a request which offers to go on in HTTP/2, as Java's client does.
"""

from __future__ import annotations

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class Http(HttpToolsProtocol):
    """See the module."""

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            self._hand_over(data[offer.args[0] :])
        except HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def _should_upgrade(self) -> bool:
        """Whether the fast parser is to leave a request that offers an upgrade alone."""
        return True

    def _hand_over(self, rest: bytes) -> None:
        """Have the slow parser read the request from its beginning, and all that follows on its connection."""
        lines = [name + b": " + value for name, value in self.headers]
        line = b"%b %b HTTP/%b" % (self.scope["method"].encode(), self.url, self.scope["http_version"].encode())
        self.connections.discard(self)
        slow = H11Protocol(config=self.config, server_state=self.server_state, app_state=self.app_state)
        slow.connection_made(self.transport)
        self.transport.set_protocol(slow)
        slow.data_received(b"\r\n".join([line, *lines, b"", rest]))
