"""The tree of a configuration file: values that know their line and their path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from serve_app.config.problem import shorten

Loc: TypeAlias = tuple[str | int, ...]
"""Keys and indices on the way from the root."""

Scalar: TypeAlias = str | int | float | bool | None

MERGED: Final = "<<"
"""Among ``Node.lost``: any key may have been meant by it."""

_PLAIN_KEY = re.compile(r"[\w-]+")
_SECRET = re.compile(
    r"(api|access|secret|private|auth)_?key|(^|[._])(token|secret|password|credentials?)\b",
    re.IGNORECASE,
)
_USER_INFO = re.compile(r"//[^/\s]*@")
_QUERY = re.compile(r"(//[^?#\s]+[?#])\S+")


@dataclass(slots=True, eq=False)
class Node:
    """A value of the file, variables expanded.

    ``path`` and ``line`` are those of the file and stay when the tree is mended. ``written`` is
    the text of a scalar as it stands there. ``lost`` are the keys, or for a list the paths, of
    what was wrong in it, has been reported and left out. ``renamed``: its key was taken for a
    misspelling.
    """

    value: Scalar | dict[str, Node] | list[Node]
    path: str
    line: int
    written: str = ""
    lost: set[str] = field(default_factory=set)
    renamed: bool = False

    @property
    def members(self) -> dict[str, Node]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def elements(self) -> list[Node]:
        return self.value if isinstance(self.value, list) else []

    def child(self, part: str | int) -> Node | None:
        if isinstance(part, str):
            return self.members.get(part)
        return self.elements[part] if 0 <= part < len(self.elements) else None

    def drop(self, child: Node) -> None:
        """Leaves ``child`` out."""
        if isinstance(self.value, dict):
            self.lost.update(key for key, node in self.value.items() if node is child)
            self.value = {key: node for key, node in self.value.items() if node is not child}
        elif isinstance(self.value, list):
            self.lost.add(child.path)
            self.value = [node for node in self.value if node is not child]

    def drop_incomplete(self, key: str) -> None:
        """Leaves out every member ``key``, below this too, that something was left out of."""
        for name, node in list(self.members.items()):
            if name == key and node.incomplete:
                self.drop(node)
            else:
                node.drop_incomplete(key)
        for node in self.elements:
            node.drop_incomplete(key)

    @property
    def incomplete(self) -> bool:
        """Whether anything was left out of it, at any depth."""
        return bool(self.lost) or any(
            node.incomplete for node in (*self.members.values(), *self.elements)
        )

    def rename(self, old: str, new: str) -> None:
        """Gives the member ``old`` the key ``new``, in its place."""
        self.members[old].renamed = True
        self.value = {new if key == old else key: node for key, node in self.members.items()}

    def plain(self) -> Any:
        """The JSON value."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def shown(self) -> str | None:
        """What a problem may repeat: as written, without secrets and variables' values."""
        if _SECRET.search(self.path):
            return None
        if self.value is None:
            return "null"
        if not isinstance(self.value, (dict, list)):
            return shorten(_QUERY.sub(r"\1…", without_user_info(self.written)))
        return shorten(json.dumps(self._masked(), ensure_ascii=False))

    def _masked(self) -> Any:
        if isinstance(self.value, dict):
            return {key: node._masked() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node._masked() for node in self.value]
        shown = self.shown()
        return "…" if shown is None else shown if isinstance(self.value, str) else self.value

    def trail(self, loc: Loc) -> Iterator[Node]:
        """The nodes on the way to ``loc``, from this one, as far as they exist."""
        node: Node | None = self
        yield self
        for part in loc:
            node = node.child(part) if node is not None else None
            if node is None:
                return
            yield node


def without_user_info(text: str) -> str:
    """``text`` with ``…`` for the user and the password of every address in it."""
    return _USER_INFO.sub("//…@", text)


def join(path: str, part: str | int) -> str:
    """The path of a member or an element."""
    if isinstance(part, int):
        return f"{path}[{part}]"
    if not _PLAIN_KEY.fullmatch(part):
        return f"{path}[{json.dumps(shorten(part), ensure_ascii=False)}]"
    return f"{path}.{part}" if path else part
