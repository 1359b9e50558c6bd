"""CFG-1, CFG-2: a file as a tree with lines and paths."""

from __future__ import annotations

import pytest

from serve_app.config.document import MAX_DEPTH, read_document
from serve_app.config.tree import Node


def read(text: str, **environ: str) -> tuple[Node | None, list[tuple[int, str, str]]]:
    root, problems = read_document(text, "f.yaml", environ)
    return root, [(p.line, p.path, p.message) for p in problems]


def plain(text: str, **environ: str) -> object:
    root, problems = read(text, **environ)
    assert root is not None
    assert not problems
    return root.plain()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("12", 12),
        ("-3", -3),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", float("inf")),
        ("2020-01-01", "2020-01-01"),
        ("12:30:45", "12:30:45"),
        ("'12'", "12"),
        ('"true"', "true"),
    ],
)
def test_scalars_have_the_types_of_yaml_1_2(written: str, value: object) -> None:
    """CFG-1"""
    found = plain(f"a: {written}\n")
    assert found == {"a": value}
    assert type(found["a"]) is type(value)


def test_a_key_is_the_text_that_stands_there() -> None:
    """S1-1: the outcomes of a noul need no quotes."""
    assert plain("{true: a, 1: b, no: c}") == {"true": "a", "1": "b", "no": "c"}


def test_every_repeated_key_is_an_error_at_its_own_line() -> None:
    """CFG-1"""
    root, problems = read("a: 1\nb:\n  c: 1\n  c: 2\na: 2\na: 3\n")
    assert root is not None
    assert root.plain() == {"a": 1, "b": {"c": 1}}
    assert problems == [
        (4, "b.c", "the key stands twice, first on line 3"),
        (5, "a", "the key stands twice, first on line 1"),
        (6, "a", "the key stands twice, first on line 1"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1,\n", 3),
        ("a: 1\nb: c: d\n", 2),
        ("a:\n\t- b\n", 2),
        ("a: *nothing\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\nb: \x00\n", 2),
        ('a: "\\UFFFFFFFF"\n', 0),
    ],
)
def test_what_yaml_cannot_read_is_one_error_with_its_line(text: str, line: int) -> None:
    """CFG-1"""
    root, problems = read(text)
    assert root is None
    assert [(at, path) for at, path, _ in problems] == [(line, "")]


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_file_without_content_says_so(text: str) -> None:
    """CFG-1"""
    assert read(text)[1] == [(0, "", "the file is empty")]


def test_tags_merge_keys_and_keys_that_are_no_text_are_errors() -> None:
    """CFG-1"""
    root, problems = read("a: !x 1\nb: {<<: {c: 1}, d: 2}\n? [e]\n: 1\n")
    assert root is not None
    assert root.plain() == {"b": {"d": 2}}
    assert [(line, path) for line, path, _ in problems] == [(1, "a"), (2, 'b["<<"]'), (3, "")]


def test_anchors_are_followed_and_cannot_multiply_a_file_without_end() -> None:
    """CFG-1"""
    assert plain("a: &x {b: 1}\nc: *x\n") == {"a": {"b": 1}, "c": {"b": 1}}
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert any("values, aliases counted" in message for _, _, message in read("\n".join(levels))[1])


@pytest.mark.parametrize("text", ["a: &x [*x]\n", "[" * 100 + "]" * 100, "[" * 1500 + "]" * 1500])
def test_endless_nesting_is_an_error(text: str) -> None:
    """CFG-1"""
    assert any(f"deeper than {MAX_DEPTH}" in message for _, _, message in read(text)[1])


def test_a_value_is_at_the_line_of_its_key_and_an_element_at_its_own() -> None:
    """CFG-1"""
    root, _ = read("a:\n\n  - b: 1\n  -\n    c: |\n      text\n")
    assert root is not None
    nodes = {node.path: node.line for node in root.trail(("a", 0, "b"))}
    assert nodes == {"": 1, "a": 1, "a[0]": 3, "a[0].b": 3}
    assert list(root.trail(("a", 1, "c")))[-1].line == 5


def test_variables_are_expanded_in_values_alone() -> None:
    """CFG-2"""
    text = '"${A}":\n- \'${A}\'\n- x-${B:-c}-${A}\n- "${A}"\n- ${C:-}\n'
    assert plain(text, A="1") == {"${A}": ["1", "x-c-1", "1", ""]}


def test_a_variable_in_a_plain_scalar_gives_a_string() -> None:
    """CFG-2"""
    assert plain("a: ${A}\n", A="7") == {"a": "7"}


def test_an_unset_variable_is_an_error_at_its_place_and_the_rest_is_read() -> None:
    """CFG-2"""
    root, problems = read("a: 1\nb: {c: '${GONE} and ${LOST}', d: 2}\n")
    assert root is not None
    assert root.plain() == {"a": 1, "b": {"d": 2}}
    ((line, path, message),) = problems
    assert (line, path) == (2, "b.c")
    assert "does not set GONE and LOST" in message
