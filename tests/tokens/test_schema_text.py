from __future__ import annotations

import pytest

from ctxgc.tokens.schema_text import DEEPEST, render_tool


def field(schema: object, required: bool = True) -> str:
    """The line of one property `x` of a tool."""
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"] if required else []}
    text = render_tool({"name": "f", "parameters": parameters})
    assert text is not None
    return text.removeprefix("type f = (_: {\n").removesuffix("\n}) => any;\n")


def test_the_layout_is_that_of_the_harmony_format():
    tool = {
        "name": "get_weather",
        "description": "Gets the weather.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "City, state"},
                "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            },
            "required": ["place"],
        },
    }
    assert (
        render_tool(tool)
        == """// Gets the weather.
type get_weather = (_: {
// City, state
place: string,
unit?: "c" | "f", // default: "c"
}) => any;
"""
    )


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object", "properties": {}}, 7])
def test_a_function_without_parameters_takes_none(parameters):
    assert render_tool({"function": {"name": "f", "parameters": parameters}}) == "type f = () => any;\n"


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "integer"}, "x: number,"),
        ({"type": ["string", "null"]}, "x: string | null,"),
        ({"type": "array", "items": {"type": "boolean"}}, "x: boolean[],"),
        ({"type": "array"}, "x: any[],"),
        ({"type": "object"}, "x: object,"),
        ({"type": "object", "properties": {"y": {"type": "null"}}}, "x: {\ny?: null,\n},"),
        ({"anyOf": [{"type": "string"}, {"const": 3}]}, "x: string | 3,"),
        ({"allOf": [{"type": "string"}, {}]}, "x: string & any,"),
        ({"enum": ["a", 1, None, True, {}]}, 'x: "a" | 1 | null | true | any,'),
        ({"type": "string", "description": "one\ntwo"}, "// one\n// two\nx: string,"),
        ({"$ref": "#/$defs/y"}, "x: any,"),
        ("nonsense", "x: any,"),
    ],
)
def test_types_read_as_typescript(schema, line):
    assert field(schema) == line


def test_what_is_not_required_has_a_question_mark():
    assert field({"type": "string"}, required=False) == "x?: string,"


@pytest.mark.parametrize(
    "tool", [{}, {"name": ""}, {"name": 7}, {"type": "web_search", "name": "web_search"}, {"function": {}}]
)
def test_what_is_no_function_is_not_rendered(tool):
    assert render_tool(tool) is None


def test_bottomless_nesting_is_cut():
    schema: dict[str, object] = {}
    schema.update({"type": "object", "properties": {"x": schema}, "anyOf": None})
    text = render_tool({"name": "f", "parameters": schema})
    assert text is not None
    assert text.count("x?:") <= DEEPEST + 1
