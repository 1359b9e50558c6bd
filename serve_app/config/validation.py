"""From the tree of a file to the typed configuration, with every mistake of form.

Pydantic validates; what it refuses is reported, taken out of the tree, and the rest is
validated again until it holds. So the checks of meaning see all of the file that can be
understood, and one mistake is one error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from serve_app.config.declared import Declared
from serve_app.config.fields import Place, keys, place
from serve_app.config.problem import ALIKE, SIMILAR, Problem, Severity, nearest
from serve_app.config.refused import refused
from serve_app.config.schema.base import Section
from serve_app.config.schema.decisions import Decision
from serve_app.config.schema.document import Config, Recipe
from serve_app.config.schema.projections import Band, Mapping, ProjectionScore
from serve_app.config.schema.providers import ProviderModel
from serve_app.config.schema.signals import Rule
from serve_app.config.tree import MERGED, Node, join
from serve_app.config.wording import message

_DISCRIMINATORS: Final = frozenset({"type", "provider"})
_SECRETS: Final = "a secret stays in an environment variable, which api_key_env names"
_NAMED: Final = (Recipe, Decision, Rule, ProviderModel, ProjectionScore, Mapping, Band)


def validate(root: Node, file: str, declared: Declared) -> tuple[Config | None, list[Problem]]:
    """The configuration and the errors found. With errors, ``root`` is mended (keys renamed,
    wrong parts left out) and the configuration is that of what is left; ``None`` if the whole
    file is no mapping. ``declared`` learns the names of every round.
    """
    problems: list[Problem] = []
    while True:
        declared.add(root)
        try:
            return Config.model_validate(root.plain()), problems
        except ValidationError as error:
            failure = error
        found = _Pass(root, file).mend(failure.errors(include_url=False, include_input=False))
        problems += found.problems
        if not found.changed:
            if not problems:
                raise RuntimeError(f"a mistake that nothing reports: {refused(failure)}")
            return None, problems


@dataclass(slots=True)
class _Fault:
    """``holder`` is the node the place is a member of, ``node`` what stands there, if anything,
    ``above`` what holds the holder.
    """

    error: ErrorDetails
    place: Place
    above: Node | None
    holder: Node | None
    node: Node | None

    @property
    def kind(self) -> str:
        return self.error["type"]

    @property
    def key(self) -> str:
        return str(self.place.loc[-1])


def _tells(fault: _Fault) -> bool:
    return fault.kind == "literal_error" and fault.key in _DISCRIMINATORS


class _Pass:
    """One round of errors."""

    def __init__(self, root: Node, file: str) -> None:
        self._root = root
        self._file = file
        self.problems: list[Problem] = []
        self.changed = False

    def mend(self, errors: Iterable[ErrorDetails]) -> _Pass:
        by_holder: dict[int, list[_Fault]] = defaultdict(list)
        for error in errors:
            fault = self._fault(error)
            by_holder[id(fault.holder)].append(fault)
        for faults in by_holder.values():
            self._mend(faults)
        return self

    def _fault(self, error: ErrorDetails) -> _Fault:
        where = place(error["loc"])
        trail = [None, None, *self._root.trail(where.loc)]
        if len(trail) == len(where.loc) + 3:
            return _Fault(error, where, *trail[-3:])
        return _Fault(error, where, trail[-2], trail[-1], None)

    def _mend(self, faults: list[_Fault]) -> None:
        """The faults of one mapping or list. A key that is read as another, or a wrong
        ``type``, explains the rest: what remains comes back in the next round.
        """
        renamed = [f for f in faults if f.kind == "extra_forbidden" and self._rename(f)]
        told = [] if renamed else [f for f in faults if _tells(f)]
        explained = renamed or told
        missing = [] if explained else [f for f in faults if f.kind == "missing"]
        if missing:
            self._missing(missing)
        for fault in explained or faults:
            if fault.kind == "extra_forbidden":
                self._unknown_key(fault)
            elif fault.kind != "missing":
                self._wrong_value(fault)
        for fault in told:
            if fault.above is not None and fault.holder is not None:
                self._drop(fault.above, fault.holder)

    def _rename(self, fault: _Fault) -> bool:
        meant = self._meant(fault, ALIKE)  # read as the key that it resembles
        if meant is None or fault.holder is None or meant in fault.holder.members:
            return False
        fault.holder.rename(fault.key, meant)
        self.changed = True
        return True

    def _unknown_key(self, fault: _Fault) -> None:
        assert fault.node is not None
        section, owner = fault.place.section, fault.place.belongs()
        text = "unknown key"
        if owner is not None:
            text += f" here; it is one of {owner}"
        elif fault.node.shown() is None:
            text += f"; {_SECRETS}"
        self._report(
            fault.node,
            text,
            allowed=keys(section) if section else (),
            meant=self._meant(fault, SIMILAR),
        )
        if not fault.node.renamed:
            self._drop(fault.holder, fault.node)

    def _wrong_value(self, fault: _Fault) -> None:
        if fault.node is None:
            return
        allowed = fault.place.allowed()
        emptied = fault.kind == "too_short" and fault.node.lost
        if not fault.node.renamed and not emptied:
            text = message(fault.error, fault.place, fault.node)
            value = fault.node.value
            meant = nearest(value, allowed) if isinstance(value, str) else None
            shown = fault.error["loc"][-1:] != ("[key]",)  # the path shows a wrong key
            self._report(fault.node, text, allowed=allowed, meant=meant, shown=shown)
        if fault.holder is not None:
            self._drop(fault.holder, fault.node)

    def _missing(self, faults: list[_Fault]) -> None:
        holder, above, section = faults[0].holder, faults[0].above, faults[0].place.section
        assert holder is not None
        names = [fault.key for fault in faults]
        news = [] if MERGED in holder.lost else [n for n in names if n not in holder.lost]
        if news:
            several = "are" if len(news) > 1 else "is"
            self._report(holder, f"{' and '.join(news)} {several} missing", shown=False)
        if section is Config:
            self._fill(holder, "version", "v1")
        elif names == ["name"] and section is not None and issubclass(section, _NAMED):
            self._fill(holder, "name", f"?{id(holder)}")
        elif above is not None:
            self._drop(above, holder)

    def _fill(self, holder: Node, key: str, value: str) -> None:
        """A stand-in, so that the rest of ``holder`` can be checked."""
        node = Node(value, join(holder.path, key), holder.line, value)
        holder.members[key] = node
        holder.lost.add(key)
        self.changed = True

    def _drop(self, holder: Node | None, node: Node) -> None:
        if holder is not None:
            holder.drop(node)
            self.changed = True

    @staticmethod
    def _meant(fault: _Fault, cutoff: float) -> str | None:
        section: type[Section] | None = fault.place.section
        return nearest(fault.key, keys(section), cutoff) if section is not None else None

    def _report(
        self,
        node: Node,
        text: str,
        *,
        allowed: Iterable[str] = (),
        meant: str | None = None,
        shown: bool = True,
    ) -> None:
        value = node.shown() if shown else None
        self.problems.append(
            Problem(
                Severity.ERROR, self._file, node.line, node.path, text, value, tuple(allowed), meant
            )
        )
