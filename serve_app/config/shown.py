"""A configuration as it may be shown to anyone who may ask: CFG-2."""

from __future__ import annotations

from typing import Any, Final

from serve_app.config.schema.document import Config
from serve_app.config.tree import Node, without_user_info

MASK: Final = "***"
"""Stands for the name of a secret's variable."""

_MASKED: Final = "api_key_env"


def shown_document(root: Node) -> dict[str, Any]:
    """A file's tree as JSON data: strings as they are written, so with ``${VAR}`` unexpanded,
    without the user info of addresses, and with the names of keys' variables masked.
    """
    return {key: _masked(key, _written(node)) for key, node in root.members.items()}


def shown_config(config: Config) -> dict[str, Any]:
    """The same of a configuration that has no file: what it says itself, without defaults."""
    document = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {key: _masked(key, value) for key, value in document.items()}


def _written(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: _written(member) for key, member in node.members.items()}
    if isinstance(node.value, list):
        return [_written(element) for element in node.elements]
    return node.written if isinstance(node.value, str) else node.value


def _masked(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _masked(name, member) for name, member in value.items()}
    if isinstance(value, list):
        return [_masked(key, element) for element in value]
    if key == _MASKED and value is not None:
        return MASK
    return without_user_info(value) if isinstance(value, str) else value
