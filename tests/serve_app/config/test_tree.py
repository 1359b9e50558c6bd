"""CFG-1, CFG-2: places in a file, and what may be shown of them."""

from __future__ import annotations

import pytest

from serve_app.config.document import read_document
from serve_app.config.tree import Node, join


def read(text: str, **environ: str) -> Node:
    root, problems = read_document(text, "f.yaml", environ)
    assert root is not None
    assert not problems
    return root


@pytest.mark.parametrize(
    ("part", "path"),
    [("name", "a.name"), (3, "a[3]"), ("x-y", "a.x-y"), ("a b", 'a["a b"]'), ("", 'a[""]')],
)
def test_a_path_is_written_as_in_the_file(part: str | int, path: str) -> None:
    """CFG-1"""
    assert join("a", part) == path
    assert join("", "b") == "b"


def test_mending_keeps_the_paths_of_the_file() -> None:
    """CFG-1"""
    root = read("a: [x, y, z]\nbb: 1\n")
    elements = root.members["a"]
    elements.drop(elements.elements[0])
    root.rename("bb", "b")
    assert root.plain() == {"a": ["y", "z"], "b": 1}
    assert [node.path for node in root.trail(("a", 1))] == ["", "a", "a[2]"]
    assert (root.members["b"].path, root.members["b"].renamed) == ("bb", True)
    assert elements.lost == {"a[0]"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${A}", "${A}"),
        ("x" * 100, "x" * 63 + "…"),
        ("https://me:pw@host/v1", "https://…@host/v1"),
        ("https://me:p@w@host/v1", "https://…@host/v1"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host/v1?key=pw", "https://host/v1?…"),
        ("https://host/v1#pw", "https://host/v1#…"),
    ],
)
def test_a_value_is_shown_as_written_shortened_and_without_credentials(
    text: str, shown: str
) -> None:
    """CFG-2, S1-9"""
    root = read(f'a: "{text}"\n', A="secret")
    assert root.members["a"].shown() == shown


@pytest.mark.parametrize("key", ["api_key", "api_key_env", "apiKey", "token", "client_secret"])
def test_what_may_be_a_secret_is_never_shown(key: str) -> None:
    """CFG-2"""
    root = read(f"m: {{{key}: sk-1, other: 5}}\n")
    assert root.members["m"].members[key].shown() is None
    assert root.members["m"].shown() == f'{{"{key}": "…", "other": 5}}'
