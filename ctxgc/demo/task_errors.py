"""The second task of the script: errors in a log, and the field behind them.

Rule: the log has what the code really would have logged.
"""

from __future__ import annotations

from ctxgc.demo import outputs
from ctxgc.demo.script import Step
from ctxgc.demo.task_cents import ALL
from ctxgc.demo.use import bash, edit_file, grep, http_get, read_file
from ctxgc.demo.workspace import Files

MODELS = "parcelhub/models.py"
TESTS = "tests/test_repository.py"

DONE = """Fixed. `GET /api/shipments` answered 500 as soon as the page held a shipment that is not handed over yet: its
`handed_over_at` is NULL, and `_time` made the text "None" of it and tried to read that as a time.

`_time` is as strict as before, a new `_time_or_none` reads the columns that may be NULL, and `Shipment.handed_over_at`
says so in its type. The new test inserts such a shipment and reads it back.

I noticed, and did not change, that the slow queries in the log are all on the table orders: `placed_at` has no index.
"""

_NEXT = """Great. Last one for today: accounting wants the orders as a CSV file. GET /api/orders/export, with the same
filters as the list, all matches and not a page of them. Columns: id, customer_id, status, currency, note, placed_at.
They open it in a spreadsheet, so a note must never be run as a formula. Please update docs/api.md, too."""

_OLD_TIME = """def _time(value: object) -> datetime:
    return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
"""
_NEW_TIME = f"""{_OLD_TIME}

def _time_or_none(value: object) -> datetime | None:
    return None if value is None else _time(value)
"""
_OLD_READ = '_time(row["handed_over_at"])'
_LAST_TEST = """        await repository.Shipments(db).get(1)
"""
_NEW_TEST = f"""{_LAST_TEST}

async def test_a_shipment_may_not_be_handed_over_yet(db):
    table = repository.Shipments(db)
    shipment = await table.insert({{**sample("shipment"), "handed_over_at": None}})
    assert (await table.get(shipment.id)).handed_over_at is None
"""
_FAILURE = """db = <Connection(Thread-9, started daemon 139918)>

    async def test_a_shipment_may_not_be_handed_over_yet(db):
        table = repository.Shipments(db)
>       shipment = await table.insert({**sample("shipment"), "handed_over_at": None})

tests/test_repository.py:120:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
parcelhub/repository.py:242: in insert
    return await self.get(int(cursor.lastrowid or 0))
parcelhub/repository.py:229: in get
    return Shipment.from_row(row)
parcelhub/models.py:265: in from_row
    handed_over_at=_time(row["handed_over_at"]),
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

value = None

    def _time(value: object) -> datetime:
>       return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
E       ValueError: Invalid isoformat string: 'None'

parcelhub/models.py:30: ValueError
"""


def steps() -> tuple[Step, ...]:
    """The turns of this task; after the last one the user has the next."""
    return (*_look(), *_mend())


def _look() -> tuple[Step, ...]:
    return (
        Step("I'll look at the log.", (bash("cat logs/app.log", _log),)),
        Step("Only the errors, with their lines.", (grep('ERROR|ValueError|" 500 ', "logs/app.log"),)),
        Step(
            "All of them are GET /api/shipments?status=label_printed. Let me follow the traceback.",
            (read_file(MODELS), read_file("parcelhub/repository.py")),
        ),
        Step("What do shipments look like?", (http_get("/api/shipments?limit=48", outputs.shipments(48)),)),
        Step("Which other times may be missing?", (grep(r"_time\(|: datetime", MODELS),)),
        Step("And how does the handler treat the list?", (read_file("parcelhub/handlers.py"),)),
        Step("The fault is in the model alone. A test first.", (read_file(TESTS),)),
    )


def _mend() -> tuple[Step, ...]:
    failing = outputs.pytest_run((TESTS,), "1.38", {"test_a_shipment_may_not_be_handed_over_yet": _FAILURE})
    return (
        Step("", (edit_file(TESTS, _LAST_TEST, _NEW_TEST),)),
        Step("It should fail.", (bash("pytest tests/test_repository.py", failing),)),
        Step("It does, with the error of the log.", (edit_file(MODELS, _OLD_TIME, _NEW_TIME),)),
        Step(
            "",
            (
                edit_file(MODELS, "    handed_over_at: datetime\n", "    handed_over_at: datetime | None\n"),
                edit_file(MODELS, _OLD_READ, '_time_or_none(row["handed_over_at"])'),
            ),
        ),
        Step("", (bash("pytest tests/test_repository.py", outputs.pytest_run((TESTS,), "1.21")),)),
        Step(
            "Does the development server list them now?",
            (http_get("/api/shipments?limit=48", outputs.shipments(48)),),
        ),
        Step("And everything.", (bash("pytest -v", outputs.pytest_run(ALL, "4.22", verbose=True)),)),
        Step(DONE, user=_NEXT),
    )


def _log(files: Files) -> str:
    return files["logs/app.log"]
