"""PromQL as the tests look at it: parsed, with the dashboards' variables filled in, and walked through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import promql_parser as promql

DEFAULTS = {"__rate_interval": "1m", "__range": "1h", "job": ".+", "instance": ".+", "model": ".+"}
GROWTH = ("rate", "increase")
"""The functions that a counter may stand in."""


@dataclass(frozen=True)
class Use:
    """A metric as an expression uses it: with which matchers, in which functions and aggregations, over which range."""

    name: str
    matchers: Mapping[str, str]
    inside: tuple[str, ...]
    by: frozenset[str] = field(default_factory=frozenset)


def filled(expr: str, values: Mapping[str, str] = DEFAULTS) -> str:
    """The expression as Grafana sends it."""
    for name in sorted(values, key=len, reverse=True):
        expr = expr.replace(f"${name}", values[name])
    assert "$" not in expr, f"a variable that nothing fills: {expr}"
    return expr


def parse(expr: str) -> promql.Expr:
    """The parsed expression. Raises ``ValueError``."""
    return promql.parse(filled(expr))


def uses(expr: str) -> Iterator[Use]:
    """Each metric in it."""
    yield from _uses(parse(expr), (), frozenset())


def _uses(node: Any, inside: tuple[str, ...], by: frozenset[str]) -> Iterator[Use]:
    match node:
        case promql.VectorSelector():
            yield Use(node.name, {each.name: each.value for each in node.matchers.matchers}, inside, by)
        case promql.MatrixSelector():
            yield from _uses(node.vector_selector, (*inside, "[]"), by)
        case promql.Call():
            for each in node.args:
                yield from _uses(each, (*inside, node.func.name), by)
        case promql.AggregateExpr():
            labels = frozenset(node.modifier.labels) if node.modifier else frozenset()
            yield from _uses(node.expr, (*inside, str(node.op).lower()), by | labels)
        case promql.BinaryExpr():
            yield from _uses(node.lhs, inside, by)
            yield from _uses(node.rhs, inside, by)
        case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
            yield from _uses(node.expr, inside, by)
        case _:
            pass


def ungrown(node: Any) -> str:
    """The expression with each counter's value in place of its growth: since it began, where it began at zero."""
    match node:
        case promql.Call() if node.func.name in GROWTH:
            return node.args[0].vector_selector.prettify()
        case promql.Call():
            return f"{node.func.name}({', '.join(ungrown(each) for each in node.args)})"
        case promql.AggregateExpr():
            by = f" by ({', '.join(node.modifier.labels)})" if node.modifier else ""
            param = f"{node.param.prettify()}, " if node.param is not None else ""
            return f"{str(node.op).lower()}{by} ({param}{ungrown(node.expr)})"
        case promql.BinaryExpr():
            return f"{ungrown(node.lhs)} {_operator(node)} {ungrown(node.rhs)}"
        case promql.ParenExpr():
            return f"({ungrown(node.expr)})"
        case _:
            return str(node.prettify())


def _operator(node: promql.BinaryExpr) -> str:
    matching = node.modifier.matching if node.modifier else None
    on = f" on ({', '.join(matching.labels)})" if matching and matching.labels else ""
    return f"{node.op}{on}"
