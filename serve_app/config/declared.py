"""The names that a file declares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from serve_app.config.problem import ALIKE, nearest
from serve_app.config.schema.catalog import ModelCatalog
from serve_app.config.schema.signals import SECTIONS
from serve_app.config.tree import MERGED, Node


class Names(Collection[str]):
    """The names of one kind, in the order they were seen.

    While something of the kind has a name that is missing or mistaken, any name may be meant
    for it that is no misspelling of a known one; with ``withheld`` names, any.
    """

    def __init__(self, withheld: bool = False) -> None:
        self._withheld = withheld
        self._known: dict[str, None] = {}
        self._unnamed: set[str] = set()

    def __contains__(self, name: object) -> bool:
        if name in self._known:
            return True
        if not self._unnamed:
            return False
        return self._withheld or nearest(str(name), self._known, ALIKE) is None

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def see(self, path: str, name: str | None) -> None:
        """What stands at ``path`` has this name; ``None`` if it is not known."""
        if name is None:
            self._unnamed.add(path)
        else:
            self._known[name] = None
            self._unnamed.discard(path)


class Declared:
    """Names that stand in a file, whether or not what they name could be understood: a mistake
    in a rule is not a second mistake in every condition that reads it.

    ``rules`` are by the recipe's path and the rules' type, ``scores`` and ``bands`` by the
    recipe's path. ``withheld``: some names are right but not known here.
    """

    def __init__(self, withheld: bool = False) -> None:
        def names() -> Names:
            return Names(withheld)

        self.recipes = names()
        self.models = names()
        self.deployments = names()
        self.callers = names()
        self.rules: dict[tuple[str, str], Names] = defaultdict(names)
        self.scores: dict[str, Names] = defaultdict(names)
        self.bands: dict[str, Names] = defaultdict(names)

    def add(self, root: Node) -> None:
        """Adds the names in a tree, as it stands in each round of its validation."""
        _see_elements(self.models, root, "providers", "models")
        _see_elements(self.callers, root, "global", "router", "callers")
        _see_elements(self.recipes, root, "recipes")
        self._see_deployments(root)
        for recipe in _elements(root, "recipes"):
            for section, rule in SECTIONS.items():
                _see_elements(self.rules[recipe.path, rule.type], recipe, "signals", section)
            _see_elements(self.scores[recipe.path], recipe, "projections", "scores")
            bands = self.bands[recipe.path]
            _see_lost(bands, recipe, "projections", "mappings")
            for mapping in _elements(recipe, "projections", "mappings"):
                if not _elements(mapping, "outputs"):
                    bands.see(mapping.path, None)
                _see_elements(bands, mapping, "outputs")

    def _see_deployments(self, root: Node) -> None:
        loc = ("global", "model_catalog", "deployments")
        trail = list(root.trail(loc))
        if len(trail) <= len(loc):
            for name in ModelCatalog().deployments:
                self.deployments.see("", name)
            _see_lost(self.deployments, root, *loc)
            return
        for name, node in trail[-1].members.items():
            self.deployments.see(node.path, name)
        for key in trail[-1].lost:
            self.deployments.see(key, None)


def _elements(node: Node, *loc: str) -> list[Node]:
    trail = list(node.trail(loc))
    return trail[-1].elements if len(trail) == len(loc) + 1 else []


def _see_elements(names: Names, node: Node, *loc: str) -> None:
    """The names of the list at ``loc``; a string among its mappings is likely a name."""
    _see_lost(names, node, *loc)
    for element in _elements(node, *loc):
        name = element.child("name") or element
        known = isinstance(name.value, str) and "name" not in element.lost
        names.see(element.path, str(name.value) if known else None)


def _see_lost(names: Names, node: Node, *loc: str) -> None:
    """A list at ``loc`` that was left out had names that are not known."""
    trail = list(node.trail(loc))
    if len(trail) <= len(loc) and not trail[-1].lost.isdisjoint((loc[len(trail) - 1], MERGED)):
        names.see(trail[-1].path, None)
