"""Structured text as text, the same way everywhere (S1-1)."""

from __future__ import annotations

from models.questions.types import JsonValue


def render(value: JsonValue) -> str:
    """The text a model reads for a string, object, array, number, boolean or null.

    A string is itself; null is empty; an object is a line ``key: value`` per member, nested
    ones indented by two blanks; an array is a line ``- value`` per element. An object whose
    only member is a string reads as that string: a state of one text is that text.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    lines: list[str] = []
    _write(value, "", "", lines)
    return "\n".join(lines)


def _write(value: JsonValue, lead: str, indent: str, lines: list[str]) -> None:
    if isinstance(value, dict) and value:
        if lead:
            lines.append(lead.rstrip())
        for key, member in value.items():
            _write(member, f"{indent}{key}: ", indent + "  ", lines)
    elif isinstance(value, (list, tuple)) and value:
        if lead:
            lines.append(lead.rstrip())
        for element in value:
            _write(element, f"{indent}- ", indent + "  ", lines)
    else:
        lines.append(lead + _scalar(value) if lead else _scalar(value))


def _scalar(value: JsonValue) -> str:
    if value is None or value == {} or value == []:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
