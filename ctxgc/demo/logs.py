"""The log of the scripted service: a morning's requests, and the errors among them.

Rule: every figure follows from the line's number, so the log is the same every time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

_LINES = 300
_PATHS = (
    "GET /api/orders?status=paid&limit=50",
    "GET /api/customers/{n}",
    "GET /api/products?active=1&limit=100",
    "POST /api/orders",
    "GET /api/orders/{n}",
    "PUT /api/customers/{n}",
    "GET /api/shipments?carrier=dhl&status=in_transit",
    "GET /api/invoices?order_id={n}",
    "GET /api/addresses?customer_id={n}",
)
_BROKEN = "GET /api/shipments?status=label_printed"
_TRACEBACK = """Traceback (most recent call last):
  File "/app/.venv/lib/python3.12/site-packages/aiohttp/web_protocol.py", line 480, in _handle_request
    resp = await request_handler(request)
  File "/app/.venv/lib/python3.12/site-packages/aiohttp/web_app.py", line 569, in _handle
    return await handler(request)
  File "/app/parcelhub/access.py", line 31, in access_log
    response = await handler(request)
  File "/app/parcelhub/handlers.py", line 277, in list_shipments
    found = await Shipments(_db(request)).list(filters, page)
  File "/app/parcelhub/repository.py", line 228, in list
    return [Shipment.from_row(row) for row in await cursor.fetchall()]
  File "/app/parcelhub/models.py", line 265, in from_row
    handed_over_at=_time(row["handed_over_at"]),
  File "/app/parcelhub/models.py", line 30, in _time
    return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
ValueError: Invalid isoformat string: 'None'
"""


def log() -> str:
    """``logs/app.log``."""
    return "".join(_entries())


def noise(*parts: object) -> int:
    """A number that looks arbitrary and is always the same for the same parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6])


def _entries() -> Iterator[str]:
    for number in range(_LINES):
        seconds = 8 * 3600 + number * 31 + noise("second", number) % 23
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{noise('ms', number) % 1000:03}"
        yield _entry(number, f"2025-03-11 {clock}", f"{noise('request', number):012x}")


def _entry(number: int, at: str, request: str) -> str:
    client = f"10.20.{number % 3}.{11 + noise('client', number) % 40}"
    if number % 84 == 61:
        return (
            f"{at} ERROR parcelhub.access  unhandled req={request}\n{_TRACEBACK}"
            f'{at} INFO  parcelhub.access  {client} "{_BROKEN}" 500 57 {_seconds(number)} req={request}\n'
        )
    if number % 29 == 17:
        return f"{at} WARN  parcelhub.db      slow query {0.4 + number % 7 / 10:.3f}s table=orders req={request}\n"
    path = _PATHS[noise("path", number) % len(_PATHS)].format(n=1000 + noise("id", number) % 4000)
    status, size = (201 if path.startswith("POST") else 200), 180 + noise("size", number) % 9000
    return f'{at} INFO  parcelhub.access  {client} "{path}" {status} {size} {_seconds(number)} req={request}\n'


def _seconds(number: int) -> str:
    return f"{0.004 + noise('time', number) % 90 / 1000:.3f}s"
