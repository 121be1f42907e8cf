"""The templates behind ``entities``: what is at the head of each file, and what it has for every kind of record.

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

HANDLER_TESTS_HEAD = '''"""Tests of parcelhub.handlers, through a real application on an empty database."""

import pytest

from tests.factories import sample
'''

HANDLER_TESTS = """

async def test_list_$plural_is_empty_at_first(client):
    response = await client.get("/api/$plural")
    assert response.status == 200
    assert (await response.json())["items"] == []


async def test_created_${name}_is_shown(client):
    created = await client.post("/api/$plural", json=sample("$name"))
    assert created.status == 201
    shown = await client.get(created.headers["Location"])
    assert await shown.json() == await created.json()


async def test_unknown_${name}_is_404(client):
    response = await client.get("/api/$plural/999")
    assert response.status == 404
    assert (await response.json())["error"] == "not_found"


async def test_${name}_filter_that_is_not_allowed_is_400(client):
    response = await client.get("/api/$plural?colour=red")
    assert response.status == 400
    assert (await response.json())["field"] == "colour"


async def test_${name}_update_replaces_values(client):
    created = await (await client.post("/api/$plural", json=sample("$name"))).json()
    response = await client.put(f"/api/$plural/{created['id']}", json=sample("$name", number=2))
    assert response.status == 200
    assert (await response.json())["$first"] == sample("$name", number=2)["$first"]
"""

REPOSITORY_TESTS_HEAD = '''"""Tests of parcelhub.repository, on a database in memory."""

import pytest

from parcelhub import repository
from parcelhub.repository import NotFound, Page
from tests.factories import sample
'''

REPOSITORY_TESTS = """

async def test_$plural_come_back_as_inserted(db):
    table = repository.$Plural(db)
    $name = await table.insert(sample("$name"))
    assert await table.get($name.id) == $name


async def test_${plural}_are_paged(db):
    table = repository.$Plural(db)
    for number in range(5):
        await table.insert(sample("$name", number=number))
    assert [found.id for found in await table.list({}, Page(limit=2, offset=2))] == [3, 4]


async def test_missing_${name}_raises(db):
    with pytest.raises(NotFound):
        await repository.$Plural(db).get(1)
"""

API_HEAD = """# The API

All answers are JSON in UTF-8. Money is a string with two places, times are ISO 8601 in UTC. Lists take `limit` (at most
200, 50 if left out) and `offset`. An error is `{"error": CODE, "what": TEXT}`, with `field` where one is to blame.

| status | when |
|---|---|
| 400 | a parameter or field is unknown, missing or of the wrong kind |
| 404 | there is no such record |
| 409 | the record was changed meanwhile |

"""

API = """## $Plural

$about

- `GET /api/$plural?$query` lists them, by id.
- `POST /api/$plural` makes one and answers 201 with its `Location`.
- `GET /api/$plural/{id}` shows one.
- `PUT /api/$plural/{id}` replaces all of its values.

| field | type |
|---|---|
| `id` | int |
"""
