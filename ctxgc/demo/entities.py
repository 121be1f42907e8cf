"""The files of the scripted repository that look alike for every kind of record, made from one table and templates.

Rule: what comes out is the same every time, down to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from ctxgc.demo import template_tests, templates

_COLUMNS = {"int": "_int", "str": "_str", "Decimal": "_money", "datetime": "_time", "bool": "_bool"}


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of record: its name, what it is, and its columns as ``name: type`` words besides the id."""

    name: str
    about: str
    columns: tuple[str, ...]
    filters: tuple[str, ...]

    @property
    def plural(self) -> str:
        """The name of its table and of its routes."""
        return f"{self.name}es" if self.name.endswith("s") else f"{self.name}s"


ENTITIES = (
    Entity(
        "customer",
        "Somebody who orders.",
        ("name: str", "email: str", "phone: str", "language: str", "blocked: bool", "created_at: datetime"),
        ("email", "language"),
    ),
    Entity(
        "address",
        "Where a customer lives, or has things sent.",
        ("customer_id: int", "street: str", "postcode: str", "city: str", "country: str", "is_default: bool"),
        ("customer_id", "country"),
    ),
    Entity(
        "product",
        "Something that can be ordered.",
        ("sku: str", "title: str", "unit_price: Decimal", "weight_grams: int", "active: bool", "updated_at: datetime"),
        ("sku", "active"),
    ),
    Entity(
        "order",
        "What a customer wants, with its lines.",
        ("customer_id: int", "address_id: int", "status: str", "currency: str", "note: str", "placed_at: datetime"),
        ("customer_id", "status"),
    ),
    Entity(
        "invoice",
        "What a customer owes for an order.",
        ("order_id: int", "number: str", "net: Decimal", "tax: Decimal", "gross: Decimal", "issued_at: datetime"),
        ("order_id", "number"),
    ),
    Entity(
        "shipment",
        "A parcel on its way.",
        ("order_id: int", "carrier: str", "tracking: str", "status: str", "fee: Decimal", "handed_over_at: datetime"),
        ("order_id", "carrier", "status"),
    ),
)


def models() -> str:
    """``parcelhub/models.py``."""
    return templates.MODELS_HEAD + "".join(_model(entity) for entity in ENTITIES)


def repository() -> str:
    """``parcelhub/repository.py``."""
    return templates.REPOSITORY_HEAD + _each(templates.REPOSITORY)


def handlers() -> str:
    """``parcelhub/handlers.py``."""
    return templates.HANDLERS_HEAD + _each(templates.HANDLERS)


def app() -> str:
    """``parcelhub/app.py``."""
    return templates.APP_HEAD + _each(templates.APP_ROUTES) + templates.APP_TAIL


def handler_tests() -> str:
    """``tests/test_handlers.py``."""
    return template_tests.HANDLER_TESTS_HEAD + "".join(
        _fill(template_tests.HANDLER_TESTS, entity) for entity in ENTITIES
    )


def repository_tests() -> str:
    """``tests/test_repository.py``."""
    return template_tests.REPOSITORY_TESTS_HEAD + "".join(
        _fill(template_tests.REPOSITORY_TESTS, entity) for entity in ENTITIES
    )


def api_page() -> str:
    """``docs/api.md``."""
    return template_tests.API_HEAD + "".join(_fill(template_tests.API, entity) + _fields(entity) for entity in ENTITIES)


def _each(template: str) -> str:
    return "".join(_fill(template, entity) for entity in ENTITIES)


def _fill(template: str, entity: Entity) -> str:
    names = [column.partition(":")[0] for column in entity.columns]
    return Template(template).substitute(
        name=entity.name,
        Name=entity.name.capitalize(),
        plural=entity.plural,
        Plural=entity.plural.capitalize(),
        about=entity.about,
        columns=", ".join(names),
        marks=", ".join(f":{name}" for name in names),
        assignments=", ".join(f"{name} = :{name}" for name in names),
        filters=", ".join(f'"{name}"' for name in entity.filters),
        query="&".join(f"{name}=..." for name in entity.filters),
        first=entity.filters[0],
    )


def _model(entity: Entity) -> str:
    pairs = [column.split(": ") for column in entity.columns]
    extra = "    lines: tuple[OrderLine, ...] = ()\n" if entity.name == "order" else ""
    return (
        _fill(templates.MODEL, entity)
        + "".join(f"    {name}: {kind}\n" for name, kind in pairs)
        + extra
        + _fill(templates.MODEL_READ, entity)
        + "".join(f'            {name}={_COLUMNS[kind]}(row["{name}"]),\n' for name, kind in pairs)
        + templates.MODEL_WRITE
        + "".join(f'            "{name}": _plain(self.{name}),\n' for name, _ in pairs)
        + "        }\n"
    )


def _fields(entity: Entity) -> str:
    rows = (column.split(": ") for column in entity.columns)
    return "".join(f"| `{name}` | {kind} |\n" for name, kind in rows) + "\n"
