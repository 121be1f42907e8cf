"""The repository that the scripted agent works in, as it is at the start.

Rule: what comes out is the same every time, down to the byte.
"""

from __future__ import annotations

from ctxgc.demo import entities, logs, money
from ctxgc.demo.workspace import Files

README = """# parcelhub

Orders, invoices and shipments of a small shop, as an HTTP API. Python 3.12, aiohttp, SQLite or Postgres.

## Run it

    pip install -e .[dev]
    parcelhub migrate
    parcelhub serve --port 8080

## Layout

| path | what |
|---|---|
| `parcelhub/app.py` | the application and its routes |
| `parcelhub/handlers.py` | one function per route: parse, call, answer |
| `parcelhub/models.py` | the records, as frozen dataclasses |
| `parcelhub/repository.py` | SQL, and nothing but SQL |
| `parcelhub/pricing.py` | discounts, tax and totals of an order |
| `parcelhub/invoices.py` | an invoice from an order |
| `docs/api.md` | the API as customers know it |
| `logs/app.log` | today's log of the staging server |

## Conventions

Money is `Decimal` with two places. Times are UTC. Handlers hold no SQL, repositories no rules.
Tests mirror the modules; run them with `pytest`.
"""

PYPROJECT = """[project]
name = "parcelhub"
version = "2.7.1"
requires-python = ">=3.12"
dependencies = ["aiohttp>=3.9", "aiosqlite>=0.20"]

[project.optional-dependencies]
dev = ["pytest>=8", "pytest-asyncio>=0.23", "mypy>=1.10", "ruff>=0.5"]

[project.scripts]
parcelhub = "parcelhub.main:main"

[tool.pytest.ini_options]
asyncio_mode = "auto"
testpaths = ["tests"]

[tool.ruff]
line-length = 100
"""


def files() -> Files:
    """All files of the repository, by path."""
    return {
        "README.md": README,
        "pyproject.toml": PYPROJECT,
        "docs/api.md": entities.api_page(),
        "logs/app.log": logs.log(),
        "parcelhub/app.py": entities.app(),
        "parcelhub/handlers.py": entities.handlers(),
        "parcelhub/invoices.py": money.INVOICES,
        "parcelhub/models.py": entities.models(),
        "parcelhub/pricing.py": money.PRICING,
        "parcelhub/repository.py": entities.repository(),
        "tests/factories.py": money.FACTORIES,
        "tests/test_handlers.py": entities.handler_tests(),
        "tests/test_pricing.py": money.TEST_PRICING,
        "tests/test_repository.py": entities.repository_tests(),
    }
