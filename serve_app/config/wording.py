"""Pydantic's errors in the words of a configuration."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from serve_app.config.fields import Place
from serve_app.config.tree import Node

_KINDS = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_RANGES = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})


def message(error: ErrorDetails, place: Place, node: Node) -> str:
    """What is wrong at ``node`` and how to put it right, without the value itself."""
    kind = error["type"]
    if kind in _KINDS:
        if node.value is None:
            return f"is empty, but must be {_KINDS[kind]}"
        return f"must be {_KINDS[kind]}" + _advice(_KINDS[kind], node)
    if kind in _RANGES:
        return f"out of range: {place.range() or error['msg']}"
    if kind == "literal_error":
        return "is not one of the known values"
    if kind == "finite_number":
        return "must be a finite number"
    if kind.startswith("url_"):
        return "must be a URL that begins with http:// or https://"
    if kind in ("too_short", "string_too_short"):
        return "must not be empty"
    if kind == "string_pattern_mismatch":
        return _pattern(place, node)
    if kind in ("too_long", "string_too_long"):
        return error["msg"].replace("String should have", "may have")
    return error["msg"]


def _advice(kind: str, node: Node) -> str:
    if kind == "a string" and isinstance(node.value, (bool, int, float)):
        return ": put it in quotes"
    if isinstance(node.value, str) and "number" in kind:
        if "${" in node.written:
            return ", and a variable always gives a string: write the number itself"
        try:
            float(node.value)
        except ValueError:
            return ""
        return ": take it out of its quotes"
    if kind == "a list" and isinstance(node.value, (str, dict)):
        return ": write [ ] around it"
    return ""


def _pattern(place: Place, node: Node) -> str:
    if place.loc[-1:] == ("api_key_env",):
        return "must be the name of an environment variable; the key itself never stands here"
    return 'a name has no blanks and none of : , ; ( ) "'
