"""The templates behind ``entities`` for code: what is at the head of a file, and what it has for every kind of record.

Rule: text only; ``$name`` and the like are filled in there.
"""

from __future__ import annotations

MODELS_HEAD = '''"""The records, as frozen dataclasses: from a row of the database, to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

Row = Mapping[str, object]


def _int(value: object) -> int:
    return int(str(value))


def _str(value: object) -> str:
    return "" if value is None else str(value)


def _bool(value: object) -> bool:
    return bool(value)


def _money(value: object) -> Decimal:
    return Decimal(str(value))


def _time(value: object) -> datetime:
    return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)


def _plain(value: object) -> object:
    """What JSON can carry: money as a string, times in ISO 8601."""
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    if isinstance(value, datetime):
        return value.isoformat()
    return value


@dataclass(frozen=True)
class OrderLine:
    """One product in an order, at the price it had then."""

    sku: str
    text: str
    quantity: int
    unit_price: Decimal
'''

MODEL = '''

@dataclass(frozen=True)
class $Name:
    """$about"""

    id: int
'''

MODEL_READ = '''
    @classmethod
    def from_row(cls, row: Row) -> "$Name":
        """The $name in a row of the table ``$plural``."""
        return cls(
            id=_int(row["id"]),
'''

MODEL_WRITE = '''        )

    def to_json(self) -> dict[str, object]:
        """What the API shows of it."""
        return {
            "id": self.id,
'''

REPOSITORY_HEAD = '''"""SQL, and nothing but SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import aiosqlite

from parcelhub.models import Address, Customer, Invoice, Order, Product, Shipment


class NotFound(LookupError):
    """No row has that id."""


@dataclass(frozen=True)
class Page:
    """Which part of a list is wanted."""

    limit: int = 50
    offset: int = 0


def where(filters: Mapping[str, object]) -> str:
    """The condition for equality on every filter; the names are checked by the handlers."""
    return " AND ".join(f"{name} = :{name}" for name in filters) or "1 = 1"
'''

REPOSITORY = '''

class $Plural:
    """The table ``$plural``."""

    def __init__(self, db: aiosqlite.Connection) -> None:
        self._db = db

    async def get(self, id: int) -> $Name:
        """The $name with that id. Raises ``NotFound``."""
        cursor = await self._db.execute("SELECT * FROM $plural WHERE id = :id", {"id": id})
        row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"$name {id}")
        return $Name.from_row(row)

    async def list(self, filters: Mapping[str, object], page: Page) -> list[$Name]:
        """The $plural that match every filter, by id."""
        sql = f"SELECT * FROM $plural WHERE {where(filters)} ORDER BY id LIMIT :limit OFFSET :offset"
        cursor = await self._db.execute(sql, {**filters, "limit": page.limit, "offset": page.offset})
        return [$Name.from_row(row) for row in await cursor.fetchall()]

    async def insert(self, values: Mapping[str, object]) -> $Name:
        """A new $name."""
        sql = "INSERT INTO $plural ($columns) VALUES ($marks)"
        cursor = await self._db.execute(sql, dict(values))
        await self._db.commit()
        return await self.get(int(cursor.lastrowid or 0))

    async def update(self, id: int, values: Mapping[str, object]) -> $Name:
        """The $name with other values. Raises ``NotFound``."""
        await self.get(id)
        sql = "UPDATE $plural SET $assignments WHERE id = :id"
        await self._db.execute(sql, {**values, "id": id})
        await self._db.commit()
        return await self.get(id)
'''

HANDLERS_HEAD = '''"""One function per route: parse, call, answer."""

from __future__ import annotations

from aiohttp import web

from parcelhub import repository
from parcelhub.errors import BadRequest
from parcelhub.parse import body_of, filters_of, id_of, page_of
from parcelhub.repository import Addresses, Customers, Invoices, Orders, Products, Shipments


def _db(request: web.Request):
    return request.app["db"]


def _missing(error: repository.NotFound) -> web.Response:
    return web.json_response({"error": "not_found", "what": str(error)}, status=404)


def _invalid(error: BadRequest) -> web.Response:
    return web.json_response({"error": "bad_request", "what": str(error), "field": error.field}, status=400)
'''

HANDLERS = '''

async def list_$plural(request: web.Request) -> web.Response:
    """GET /api/$plural"""
    try:
        filters = filters_of(request, allowed=($filters,))
        page = page_of(request, most=200)
    except BadRequest as error:
        return _invalid(error)
    found = await $Plural(_db(request)).list(filters, page)
    return web.json_response(
        {
            "items": [$name.to_json() for $name in found],
            "limit": page.limit,
            "offset": page.offset,
        }
    )


async def get_$name(request: web.Request) -> web.Response:
    """GET /api/$plural/{id}"""
    try:
        $name = await $Plural(_db(request)).get(id_of(request))
    except repository.NotFound as error:
        return _missing(error)
    return web.json_response($name.to_json())


async def create_$name(request: web.Request) -> web.Response:
    """POST /api/$plural"""
    try:
        values = await body_of(request, "$name")
    except BadRequest as error:
        return _invalid(error)
    $name = await $Plural(_db(request)).insert(values)
    headers = {"Location": f"/api/$plural/{$name.id}"}
    return web.json_response($name.to_json(), status=201, headers=headers)


async def update_$name(request: web.Request) -> web.Response:
    """PUT /api/$plural/{id}"""
    try:
        values = await body_of(request, "$name")
        $name = await $Plural(_db(request)).update(id_of(request), values)
    except BadRequest as error:
        return _invalid(error)
    except repository.NotFound as error:
        return _missing(error)
    return web.json_response($name.to_json())
'''

APP_HEAD = '''"""The application and its routes."""

from __future__ import annotations

import aiosqlite
from aiohttp import web

from parcelhub import handlers
from parcelhub.access import access_log
from parcelhub.settings import Settings


def routes() -> list[web.RouteDef]:
    """Every route of the API."""
    return [
'''

APP_ROUTES = """        web.get("/api/$plural", handlers.list_$plural),
        web.post("/api/$plural", handlers.create_$name),
        web.get("/api/$plural/{id}", handlers.get_$name),
        web.put("/api/$plural/{id}", handlers.update_$name),
"""

APP_TAIL = '''    ]


async def _database(app: web.Application):
    settings: Settings = app["settings"]
    app["db"] = await aiosqlite.connect(settings.database)
    app["db"].row_factory = aiosqlite.Row
    yield
    await app["db"].close()


def make_app(settings: Settings) -> web.Application:
    """The application, ready to be run."""
    app = web.Application(middlewares=[access_log], client_max_size=settings.largest_body)
    app["settings"] = settings
    app.add_routes(routes())
    app.cleanup_ctx.append(_database)
    return app
'''
