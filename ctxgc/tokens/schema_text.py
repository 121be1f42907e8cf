"""A tool's JSON schema as the TypeScript-like text OpenAI models are shown.

Rule: the layout is that of OpenAI's "harmony" response format (`type name = (_: {...}) => any;` inside
`namespace functions`), which is also what users found earlier models to be billed for (hmarr.com, "Counting
OpenAI tokens"). Reading is total: a part that makes no sense is shown as `any`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

DEEPEST = 32  # levels of nesting shown; schemas in use have fewer than ten
_NAMES = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def render_tool(tool: Mapping[str, object]) -> str | None:
    """The text of one tool, or None when it is not a function with a name.

    Reads a chat tool ({"type": "function", "function": ...}), a Responses or legacy function ("parameters") and
    an Anthropic tool ("input_schema").
    """
    inner = tool.get("function")
    function = inner if isinstance(inner, Mapping) else tool
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return None
    schema = function.get("parameters", function.get("input_schema"))
    if schema is None and inner is None and "description" not in function:
        return None  # a vendor's built-in tool, such as {"type": "web_search", "name": "web_search"}
    head = _comment(function.get("description"))
    return "\n".join([*head, f"type {name} = {_signature(schema)} => any;", ""])


def _signature(schema: object) -> str:
    fields = _fields(schema, 0)
    return "\n".join(["(_: {", *fields, "})"]) if fields else "()"


def _fields(schema: object, depth: int) -> list[str]:
    """One line for each property of an object, after the lines of its description."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(properties, Mapping) or depth > DEEPEST:
        return []
    required = schema.get("required")
    needed = required if isinstance(required, list | tuple) else ()
    return [line for key, value in properties.items() for line in _field(key, value, key in needed, depth)]


def _field(key: object, schema: object, needed: bool, depth: int) -> Iterator[str]:
    described = schema if isinstance(schema, Mapping) else {}
    yield from _comment(described.get("description"))
    default = f" // default: {_literal(described['default'])}" if "default" in described else ""
    yield f"{key}{'' if needed else '?'}: {_type(schema, depth)},{default}"


def _comment(text: object) -> list[str]:
    return [f"// {line}" for line in text.splitlines()] if isinstance(text, str) else []


def _type(schema: object, depth: int) -> str:
    """The TypeScript type of a JSON schema; "any" for what is not understood or too deep."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return "any"
    if "const" in schema:
        return _literal(schema["const"])
    choices = schema.get("enum")
    if isinstance(choices, list | tuple) and choices:
        return " | ".join(map(_literal, choices))
    return _union(schema, depth) or _named(schema, schema.get("type"), depth)


def _union(schema: Mapping[object, object], depth: int) -> str:
    for key in ("anyOf", "oneOf", "allOf"):
        parts = schema.get(key)
        if isinstance(parts, list | tuple) and parts:
            joint = " & " if key == "allOf" else " | "
            return joint.join(_type(part, depth + 1) for part in parts)
    kinds = schema.get("type")
    if isinstance(kinds, list | tuple):
        return " | ".join(_named(schema, kind, depth) for kind in kinds)
    return ""


def _named(schema: Mapping[object, object], kind: object, depth: int) -> str:
    if kind == "array":
        return f"{_type(schema.get('items'), depth + 1)}[]"
    if kind == "object" or "properties" in schema:
        fields = _fields(schema, depth + 1)
        return "\n".join(["{", *fields, "}"]) if fields else "object"
    return _NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int | float) else "any"
