"""What the checks of meaning share: the typed configuration, the file's tree, the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from models.cards.schema import Card
from serve_app.config.cards import card_of
from serve_app.config.declared import Declared
from serve_app.config.problem import Problem, Severity, nearest, shorten
from serve_app.config.schema.catalog import LocalDeployment
from serve_app.config.schema.document import Config
from serve_app.config.tree import MERGED, Loc, Node, join
from serve_app.config.variables import Environ


@dataclass(slots=True)
class Review:
    """One reading of a configuration. Locations are those of ``config``; what is reported has
    the line and the path of the file.
    """

    file: str
    root: Node
    config: Config
    declared: Declared
    cards: Mapping[str, Card]
    environ: Environ
    problems: list[Problem] = field(default_factory=list)

    def error(
        self,
        loc: Loc,
        message: str,
        *,
        name: str | None = None,
        allowed: Iterable[str] = (),
        shown: bool = True,
    ) -> None:
        """``name`` is a name that does not exist; ``allowed`` are those that do."""
        self._report(Severity.ERROR, loc, message, name, tuple(allowed), shown)

    def warn(self, loc: Loc, message: str) -> None:
        self._report(Severity.WARNING, loc, message, None, (), False)

    def asked_card(self, loc: Loc, deployment: str | None) -> Card | None:
        """The card of the model asked: of ``deployment``, which stands at ``loc``, else the
        system's. ``None`` if there is none to be found; a name that does not exist is reported.
        """
        if deployment is not None and deployment not in self.declared.deployments:
            self.error(
                loc,
                "there is no such deployment",
                name=deployment,
                allowed=self.declared.deployments,
            )
        return self.card(deployment or self.system)

    @property
    def system(self) -> str:
        """The deployment that rules ask which name none."""
        return self.config.global_.model_catalog.system.decision_model.deployment

    def card(self, deployment: str) -> Card | None:
        """``None`` if there is none to be found; nothing is reported."""
        found = self.config.global_.model_catalog.deployments.get(deployment)
        if isinstance(found, LocalDeployment) and found.artifact not in self.cards:
            return None
        return None if found is None else card_of(deployment, found, self.cards)

    def node(self, loc: Loc) -> Node:
        """What stands at ``loc``, or the last thing on the way to it."""
        return list(self.root.trail(loc))[-1]

    def whole(self, loc: Loc) -> bool:
        """Whether nothing at ``loc`` was left out, so that what is missing there is missing."""
        trail = list(self.root.trail(loc))
        lost = trail[-1].lost
        if len(trail) == len(loc) + 1:
            return not lost
        return MERGED not in lost and loc[len(trail) - 1] not in lost

    def _report(
        self,
        severity: Severity,
        loc: Loc,
        message: str,
        name: str | None,
        allowed: tuple[str, ...],
        shown: bool,
    ) -> None:
        trail = list(self.root.trail(loc))
        node, path = trail[-1], trail[-1].path
        for part in loc[len(trail) - 1 :]:
            path = join(path, part)
        value = node.shown() if shown and len(trail) == len(loc) + 1 else None
        self.problems.append(
            Problem(
                severity,
                self.file,
                node.line,
                path,
                message,
                shorten(name) if name is not None and value is None else value,
                allowed,
                nearest(name, allowed) if name is not None else None,
            )
        )
