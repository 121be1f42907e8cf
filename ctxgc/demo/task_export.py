"""The third task of the script: orders as a CSV file.

Rule: as in the others, a test that fails does so for a reason that is in the files.
"""

from __future__ import annotations

from ctxgc.demo import outputs
from ctxgc.demo.script import Step
from ctxgc.demo.task_cents import ALL
from ctxgc.demo.use import bash, edit_file, grep, http_get, list_files, read_file

APP = "parcelhub/app.py"
EXPORT = "parcelhub/export.py"
HANDLERS = "parcelhub/handlers.py"
REPOSITORY = "parcelhub/repository.py"
TESTS = "tests/test_handlers.py"

DONE = """Done. `GET /api/orders/export` answers with all orders that match the filters, as CSV:

- `parcelhub/export.py` writes the rows. A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an
  apostrophe in front, so that no spreadsheet takes it for a formula.
- `Orders.iterate` reads row by row and the handler streams, so the size of the table does not matter.
- The route stands before `/api/orders/{id}`; behind it, "export" was taken for an id. A test holds that.
- `docs/api.md` has the new route.

All tests pass. The export takes the same filters as the list and refuses others with 400.
"""

_CSV = '''"""Orders as CSV, safe to be opened in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator

from parcelhub.models import Order

COLUMNS = ("id", "customer_id", "status", "currency", "note", "placed_at")
FORMULA = ("=", "+", "-", "@", "\\t", "\\r")


def cell(value: object) -> str:
    """A value as a cell; what a spreadsheet would run as a formula is quoted."""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def row(values: tuple[object, ...]) -> bytes:
    """One line of the file."""
    out = io.StringIO()
    csv.writer(out).writerow([cell(value) for value in values])
    return out.getvalue().encode()


async def as_csv(orders: AsyncIterator[Order]) -> AsyncIterator[bytes]:
    """The file, line by line, with its header."""
    yield row(COLUMNS)
    async for order in orders:
        shown = order.to_json()
        yield row(tuple(shown[name] for name in COLUMNS))
'''
_OLD_LIST = "    async def list(self, filters: Mapping[str, object], page: Page) -> list[Order]:\n"
_NEW_LIST = f'''    async def iterate(self, filters: Mapping[str, object]) -> AsyncIterator[Order]:
        """The orders that match every filter, by id, without holding them all."""
        sql = f"SELECT * FROM orders WHERE {{where(filters)}} ORDER BY id"
        async with self._db.execute(sql, dict(filters)) as cursor:
            async for row in cursor:
                yield Order.from_row(row)

{_OLD_LIST}'''
_OLD_GET = "async def get_order(request: web.Request) -> web.Response:\n"
_NEW_GET = f'''async def export_orders(request: web.Request) -> web.StreamResponse:
    """GET /api/orders/export"""
    try:
        filters = filters_of(request, allowed=("customer_id", "status"))
    except BadRequest as error:
        return _invalid(error)
    response = web.StreamResponse(headers={{"Content-Type": "text/csv; charset=utf-8"}})
    await response.prepare(request)
    async for line in as_csv(Orders(_db(request)).iterate(filters)):
        await response.write(line)
    return response


{_OLD_GET}'''
_ROUTE = '        web.get("/api/orders/export", handlers.export_orders),\n'
_UPDATE = '        web.put("/api/orders/{id}", handlers.update_order),\n'
_FIRST = '        web.get("/api/orders", handlers.list_orders),\n'
_LAST_TEST = """    assert (await response.json())["order_id"] == sample("shipment", number=2)["order_id"]
"""
_NEW_TESTS = f"""{_LAST_TEST}

async def test_export_has_every_order(client):
    for number in range(60):
        await client.post("/api/orders", json=sample("order", number=number))
    response = await client.get("/api/orders/export")
    assert response.status == 200
    assert response.content_type == "text/csv"
    assert len((await response.text()).splitlines()) == 61


@pytest.mark.parametrize("note", ["=1+1", "+1", "-1", "@SUM(A1)"])
async def test_export_quotes_formulas(client, note):
    await client.post("/api/orders", json={{**sample("order"), "note": note}})
    response = await client.get("/api/orders/export")
    assert f",'{{note}}," in await response.text()


async def test_export_refuses_unknown_filters(client):
    response = await client.get("/api/orders/export?colour=red")
    assert response.status == 400
"""
_FAILURE = """client = <aiohttp.test_utils.TestClient object at 0x7f1c2c0e5a90>

{code}
tests/test_handlers.py:{line}: AssertionError
----------------------------- Captured log call ------------------------------
ERROR    parcelhub.access:access.py:34 unhandled
Traceback (most recent call last):
  File "/app/parcelhub/access.py", line 31, in access_log
    response = await handler(request)
  File "/app/parcelhub/handlers.py", line 206, in get_order
    order = await Orders(_db(request)).get(id_of(request))
  File "/app/parcelhub/parse.py", line 44, in id_of
    raise BadRequest("not a number: 'export'", field="id")
parcelhub.errors.BadRequest: not a number: 'export'
"""
_EVERY = """    async def test_export_has_every_order(client):
        for number in range(60):
            await client.post("/api/orders", json=sample("order", number=number))
        response = await client.get("/api/orders/export")
>       assert response.status == 200
E       assert 500 == 200
E        +  where 500 = <ClientResponse(http://127.0.0.1:41273/api/orders/export) [500 Internal Server Error]>.status
"""
_FORMULA = """    @pytest.mark.parametrize("note", ["=1+1", "+1", "-1", "@SUM(A1)"])
    async def test_export_quotes_formulas(client, note):
        await client.post("/api/orders", json={{**sample("order"), "note": note}})
        response = await client.get("/api/orders/export")
>       assert f",'{{note}}," in await response.text()
E       assert ",'{note}," in '500: Internal Server Error'
"""
_REFUSES = """    async def test_export_refuses_unknown_filters(client):
        response = await client.get("/api/orders/export?colour=red")
>       assert response.status == 400
E       assert 500 == 400
"""
_NOTES = ("=1+1", "+1", "-1", "@SUM(A1)")
_EXPORTED = """id,customer_id,status,currency,note,placed_at
4100,1029,paid,EUR,,2025-03-10T09:12:00+00:00
4103,1544,paid,EUR,ring twice,2025-03-10T09:40:00+00:00
4106,1029,paid,EUR,"second floor, left",2025-03-10T10:03:00+00:00
4109,2210,paid,EUR,'=HYPERLINK("http://example.com"),2025-03-10T10:31:00+00:00
4112,1877,paid,EUR,,2025-03-10T11:55:00+00:00
"""
_DOC = "- `GET /api/orders/{id}` shows one.\n"
_NEW_DOC = (
    "- `GET /api/orders/export?customer_id=...&status=...` gives all that match as CSV, as a download. Cells that a\n"
    f"  spreadsheet would run as formulas begin with an apostrophe.\n{_DOC}"
)
_STATUS = """ M docs/api.md
 M parcelhub/app.py
 M parcelhub/handlers.py
 M parcelhub/invoices.py
 M parcelhub/models.py
 M parcelhub/pricing.py
 M parcelhub/repository.py
 M tests/test_handlers.py
 M tests/test_repository.py
?? parcelhub/export.py
"""


def steps() -> tuple[Step, ...]:
    """The turns of this task, the last ones of the session."""
    return (*_look(), *_write(), *_test(), *_finish())


def _look() -> tuple[Step, ...]:
    return (
        Step("I'll see how the list works now.", (grep(r"filters_of|page_of|def list_orders"), read_file(HANDLERS))),
        Step("", (read_file(APP), read_file("docs/api.md"))),
        Step("", (read_file(REPOSITORY),)),
        Step("Which fields does an order show?", (grep(r"placed_at|class Order", "parcelhub"),)),
        Step("How are handlers tested?", (read_file(TESTS), read_file("tests/factories.py"))),
        Step("Is there anything for CSV already?", (grep("csv|StreamResponse"),)),
    )


def _write() -> tuple[Step, ...]:
    head, imports = "from collections.abc import Mapping\n", "from parcelhub.errors import BadRequest\n"
    return (
        Step("No. A module for the file first.", (edit_file(EXPORT, "", _CSV),)),
        Step("Then a way to read all orders without holding them.", (edit_file(REPOSITORY, _OLD_LIST, _NEW_LIST),)),
        Step("", (edit_file(REPOSITORY, head, "from collections.abc import AsyncIterator, Mapping\n"),)),
        Step(
            "The handler streams.",
            (
                edit_file(HANDLERS, _OLD_GET, _NEW_GET),
                edit_file(HANDLERS, imports, f"{imports}from parcelhub.export import as_csv\n"),
            ),
        ),
        Step("And the route.", (edit_file(APP, _UPDATE, _UPDATE + _ROUTE),)),
    )


def _test() -> tuple[Step, ...]:
    failed = outputs.pytest_run((TESTS,), "3.02", _failures())
    return (
        Step("Tests for it.", (edit_file(TESTS, _LAST_TEST, _NEW_TESTS),)),
        Step("", (bash("pytest tests/test_handlers.py", failed),)),
        Step('"export" was taken for an id: the routes are tried in order.', (read_file(APP),)),
        Step("I'll move it up.", (edit_file(APP, _UPDATE + _ROUTE, _UPDATE), edit_file(APP, _FIRST, _FIRST + _ROUTE))),
        Step("", (bash("pytest tests/test_handlers.py", outputs.pytest_run((TESTS,), "2.87")),)),
        Step("A look at a real answer.", (http_get("/api/orders/export?status=paid", _EXPORTED),)),
    )


def _finish() -> tuple[Step, ...]:
    clean = "All checks passed!\nSuccess: no issues found in 15 source files\n"
    return (
        Step("Now the documentation.", (read_file("docs/api.md"),)),
        Step("", (edit_file("docs/api.md", _DOC, _NEW_DOC),)),
        Step("", (bash("ruff check . && mypy parcelhub", clean),)),
        Step("One last look at the handler and the writer.", (read_file(HANDLERS), read_file(EXPORT))),
        Step("", (bash("pytest -v", outputs.pytest_run(ALL, "4.48", verbose=True)),)),
        Step("", (bash("git status --short", _STATUS), list_files("parcelhub"))),
        Step(DONE),
    )


def _failures() -> dict[str, str]:
    codes = {
        "test_export_has_every_order": (_EVERY, 204),
        **{f"test_export_quotes_formulas[{note}]": (_FORMULA.format(note=note), 213) for note in _NOTES},
        "test_export_refuses_unknown_filters": (_REFUSES, 218),
    }
    return {test: _FAILURE.format(code=code, line=line) for test, (code, line) in codes.items()}
