"""Harmless long documents: what installed packages carry as prose, code and records.

None of them chose a threshold or was trained on: the packages of the training ledger are others.
"""

from __future__ import annotations

import ast
import fnmatch
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

SITE: Final = Path(sysconfig.get_paths()["purelib"])
STANDARD: Final = Path(sysconfig.get_paths()["stdlib"])

Texts = Callable[[Path], Iterator[str]]


@dataclass(frozen=True)
class Document:
    """``name`` says where ``text`` is from."""

    name: str
    text: str


def harmless(count: int, size: int) -> list[Document]:
    """The first ``count`` of 40 documents, prose, code and records in turn, of ``size`` bytes."""
    found = []
    for name, root, pattern, read in SOURCES[:count]:
        data = _joined(root, pattern, read, size).encode("utf-8", "replace")
        assert len(data) > size * 0.9, f"{name} has {len(data)} bytes"
        found.append(Document(name, data[:size].decode("utf-8", "ignore")))
    return found


def plain_ascii(document: Document) -> Document:
    """The same with a question mark for what is not ASCII: a character is a byte."""
    return Document(document.name, document.text.encode("ascii", "replace").decode())


def placed(text: str, inner: str, at: int) -> str:
    """``inner`` in lines of its own in the place of as many characters of ``text`` at ``at``, or as
    near to it as there is room: what is before and after stays where it was."""
    inner = f"\n{inner}\n"
    at = max(0, min(at, len(text) - len(inner)))
    return text[:at] + inner + text[at + len(inner) :]


@cache
def _joined(root: Path, pattern: str, read: Texts, size: int) -> str:
    parts: list[str] = []
    length = 0
    for path in sorted(root.rglob("*")):
        if not fnmatch.fnmatch(str(path.relative_to(root)), pattern) or not path.is_file():
            continue
        for text in read(path):
            parts.append(text)
            length += len(text.encode("utf-8", "replace"))
            if length > size:
                return "\n\n".join(parts)
    return "\n\n".join(parts)


def _whole(path: Path) -> Iterator[str]:
    yield path.read_text("utf-8", "replace")


def _docstrings(path: Path) -> Iterator[str]:
    """Those of a paragraph or more."""
    try:
        tree = ast.parse(path.read_text("utf-8", "replace"))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None and len(text) > 300:
                yield text


def _strings(path: Path) -> Iterator[str]:
    """The longer strings of a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8", "replace"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 200:
            yield node.value


def _descriptions(_: Path) -> Iterator[str]:
    """What packages say about themselves, by name."""
    by_name = {d.metadata["Name"]: d for d in distributions(path=[str(SITE)])}
    for name in sorted(by_name):
        text = by_name[name].metadata.get_payload()
        if isinstance(text, str) and len(text) > 500:
            yield text


def _code(*packages: str) -> list[tuple[str, Path, str, Texts]]:
    return [(f"code of {name}", SITE / name, "*.py", _whole) for name in packages]


def _prose(*packages: str) -> list[tuple[str, Path, str, Texts]]:
    return [(f"docstrings of {name}", SITE / name, "*.py", _docstrings) for name in packages]


PROSE: Final = [
    ("the language reference", STANDARD / "pydoc_data", "topics.py", _strings),
    *_prose("numpy", "matplotlib", "transformers", "sympy", "torch", "hypothesis", "mpmath"),
    ("descriptions of packages", SITE / "numpy", "__init__.py", _descriptions),
    ("docstrings of the standard library", STANDARD, "[a-z]*.py", _docstrings),
    *_prose("fontTools", "ray", "pip"),
]

CODE: Final = [
    *_code("aiohttp", "jinja2", "pydantic", "urllib3", "rich", "openai", "pygments"),
    *_code("mypy", "starlette", "click", "setuptools", "websockets", "huggingface_hub", "mpmath"),
]

RECORDS: Final = [
    ("names of people", SITE / "faker/providers/person", "[de][aenst]_*.py", _whole),
    ("widths of letters", SITE / "matplotlib", "*.afm", _whole),
    ("addresses", SITE / "faker/providers/address", "[de][aenst]_*.py", _whole),
    ("type stubs", SITE / "torch/_C", "*.pyi", _whole),
    ("words of text", SITE / "faker/providers/lorem", "[a-n]*.py", _whole),
    ("operators", SITE / "torchgen", "*.yaml", _whole),
    ("jobs", SITE / "faker/providers/job", "[b-h]*.py", _whole),
    ("breaks of graphs", SITE / "torch/_dynamo", "*.json", _whole),
    ("sorted names of symbols", SITE / "fontTools/unicodedata", "*.py", _whole),
    ("streets and cities", SITE / "faker/providers/address", "[i-z]*.py", _whole),
    ("later names of people", SITE / "faker/providers/person", "[finps][ilrtv]_*.py", _whole),
    ("test cases", STANDARD / "test", "*.txt", _whole),
    ("declarations of numpy", SITE / "numpy", "*.pyi", _whole),
]

SOURCES: Final[list[tuple[str, Path, str, Texts]]] = [
    source
    for i in range(max(map(len, (PROSE, CODE, RECORDS))))
    for part in (PROSE, CODE, RECORDS)
    for source in part[i : i + 1]
]
