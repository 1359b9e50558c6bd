"""A YAML text as a tree of nodes.

YAML 1.2: ``no`` and ``on`` are strings, and there are no merge keys. A mapping's keys are the
text that stands in the file, so that ``true: …`` names the outcome ``true``.
"""

from __future__ import annotations

import warnings
from io import StringIO
from typing import Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode

from serve_app.config.problem import Problem, Severity, shorten
from serve_app.config.tree import MERGED, Node, Scalar, join
from serve_app.config.variables import Environ, VariableError, WithheldError, expand

MAX_DEPTH: Final = 64
MAX_NODES: Final = 200_000  # aliases can multiply a small file without end

_TAG: Final = "tag:yaml.org,2002:"


def read_document(text: str, file: str, environ: Environ) -> tuple[Node | None, list[Problem]]:
    """The tree of ``text``, ``None`` where YAML cannot read it, and what is wrong so far.

    Repeated keys keep their first value; values whose variables are unset are left out, and those
    whose variables are withheld, with a warning.
    """
    reader = _Reader(file, environ)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            root = YAML(typ="safe", pure=True).compose(StringIO(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ": ".join(str(part) for part in (error.context, error.problem) if part)
        reader.report(mark.line + 1 if mark else 0, "", f"this is not YAML: {what}")
        return None, reader.problems
    except RecursionError:
        reader.report(0, "", f"nested deeper than {MAX_DEPTH} levels")
        return None, reader.problems
    except MemoryError:
        raise
    except Exception as error:
        # ruamel.yaml raises all sorts for malformed escapes, directives and characters.
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 0
        reason = getattr(error, "reason", None) or type(error).__name__
        reader.report(line, "", f"this is not YAML: {reason}")
        return None, reader.problems
    if root is None:
        reader.report(0, "", "the file is empty")
        return None, reader.problems
    return reader.node(root, "", 1, 0), reader.problems


class _Reader:
    def __init__(self, file: str, environ: Environ) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._environ = environ
        self._nodes = 0

    def report(
        self,
        line: int,
        path: str,
        message: str,
        value: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.problems.append(Problem(severity, self._file, line, path, message, value))

    def node(self, source: YamlNode, path: str, line: int, depth: int) -> Node | None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            if self._nodes == MAX_NODES + 1:
                self.report(line, path, f"more than {MAX_NODES} values, aliases counted")
            return None
        if depth > MAX_DEPTH:
            self.report(line, path, f"nested deeper than {MAX_DEPTH} levels")
            return None
        tag = str(source.tag)
        if isinstance(source, MappingNode) and tag == f"{_TAG}map":
            return self._mapping(source, path, line, depth)
        if isinstance(source, SequenceNode) and tag == f"{_TAG}seq":
            return self._sequence(source, path, line, depth)
        if isinstance(source, ScalarNode) and tag.startswith(_TAG):
            return self._scalar(source, tag.removeprefix(_TAG), path, line)
        self.report(line, path, "YAML tags have no meaning here", shorten(tag))
        return None

    def _mapping(self, source: MappingNode, path: str, line: int, depth: int) -> Node:
        node = Node({}, path, line)
        first: dict[str, int] = {}
        for key_source, value_source in source.value:
            key_line = key_source.start_mark.line + 1
            if not isinstance(key_source, ScalarNode):
                self.report(key_line, path, "a key is a string")
                continue
            key = str(key_source.value)
            here = join(path, key)
            if not _encodable(key):
                self.report(key_line, here, "a key has characters that are no Unicode text")
                continue
            if str(key_source.tag) == f"{_TAG}merge":
                self.report(key_line, here, "YAML 1.2 has no merge keys: write the keys out")
                node.lost.add(MERGED)
                continue
            if key in first:
                self.report(key_line, here, f"the key stands twice, first on line {first[key]}")
                continue
            first[key] = key_line
            child = self.node(value_source, here, key_line, depth + 1)
            if child is None:
                node.lost.add(key)
            else:
                node.members[key] = child
        return node

    def _sequence(self, source: SequenceNode, path: str, line: int, depth: int) -> Node:
        node = Node([], path, line)
        for index, element in enumerate(source.value):
            here = join(path, index)
            child = self.node(element, here, element.start_mark.line + 1, depth + 1)
            if child is None:
                node.lost.add(here)
            else:
                node.elements.append(child)
        return node

    def _scalar(self, source: ScalarNode, kind: str, path: str, line: int) -> Node | None:
        written = str(source.value)
        if not _encodable(written):
            self.report(line, path, "has characters that are no Unicode text")
            return None
        value = _scalar(written, kind) if source.style is None else written
        node = Node(value, path, line, written)
        if isinstance(value, str):
            try:
                node.value = expand(value, self._environ)
            except VariableError as error:
                self.report(line, path, str(error), node.shown())
                return None
            except WithheldError:
                what = "what the variable holds is not read here, and nothing that depends on it"
                self.report(line, path, what, node.shown(), Severity.WARNING)
                return None
        return node


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scalar(written: str, kind: str) -> Scalar:
    """A plain scalar by the type that YAML 1.2 gives it; what fits none is a string."""
    text = written.replace("_", "")
    try:
        if kind == "null":
            return None
        if kind == "bool" and written.lower() in ("true", "false"):
            return written.lower() == "true"
        if kind == "int":
            return int(text, 0 if text.lstrip("+-")[:2].lower() in ("0x", "0o", "0b") else 10)
        if kind == "float":
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        pass
    return written
