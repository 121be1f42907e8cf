"""The templates behind ``entities`` for tests and documentation.

Rule: text only; ``$name`` and the like are filled in there.
"""

from __future__ import annotations

HANDLER_TESTS_HEAD = '''"""Tests of parcelhub.handlers, through a real application on an empty database."""

import pytest

from tests.factories import sample
'''

HANDLER_TESTS = """

async def test_list_${plural}_is_empty_at_first(client):
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

async def test_${plural}_come_back_as_inserted(db):
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
