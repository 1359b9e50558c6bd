"""A router's configuration from its file (CFG-1, CFG-2).

``load`` is ``read_document`` (YAML to a tree with lines, variables expanded), ``validate``
(form) and the checks of meaning. All errors come at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from models.cards.schema import Card
from serve_app.config.checks.catalog import check_catalog
from serve_app.config.checks.conditions import check_conditions
from serve_app.config.checks.decisions import check_decisions
from serve_app.config.checks.model_free import check_model_free
from serve_app.config.checks.names import check_names
from serve_app.config.checks.projections import check_projections
from serve_app.config.checks.questions import check_questions
from serve_app.config.checks.review import Review
from serve_app.config.checks.unused import check_unused
from serve_app.config.declared import Declared
from serve_app.config.document import read_document
from serve_app.config.problem import ConfigErrors, Problem, Severity
from serve_app.config.schema.document import Config
from serve_app.config.tree import Node
from serve_app.config.validation import validate

_CHECKS = (
    check_names,
    check_questions,
    check_model_free,
    check_conditions,
    check_projections,
    check_decisions,
    check_catalog,
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration without errors.

    ``version``: 16 hexadecimal digits that name its effective content, whatever its comments,
    layout and spelled-out defaults. ``document``: the file as JSON data, variables expanded;
    ``Config.model_validate`` makes ``config`` of it.
    """

    config: Config
    version: str
    warnings: tuple[Problem, ...]
    document: Mapping[str, Any]


def load(path: Path, *, cards: Mapping[str, Card], environ: Mapping[str, str]) -> Loaded:
    """The configuration in the file ``path``; see ``load_text``."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigErrors([_unread(str(path), reason)]) from None
    except UnicodeDecodeError:
        raise ConfigErrors([_unread(str(path), "it is no UTF-8 text")]) from None
    return load_text(text, str(path), cards=cards, environ=environ)


def load_text(
    text: str, name: str, *, cards: Mapping[str, Card], environ: Mapping[str, str]
) -> Loaded:
    """The configuration in ``text``, which problems call ``name``.

    ``cards``: artifact -> the card of the model it loads. ``environ``: the variables that
    ``${VAR}`` may name. ``ConfigErrors`` with every error.
    """
    root, problems = read_document(text, name, environ)
    if root is None:
        raise ConfigErrors(problems)
    declared = Declared()
    config, mistakes = validate(root, name, declared)
    problems += mistakes
    if config is None:
        raise ConfigErrors(_by_line(problems))
    review = Review(name, root, config, declared, cards, environ)
    for check in _CHECKS:
        check(review)
    problems += [p for p in review.problems if p.severity is Severity.ERROR]
    if problems:
        raise ConfigErrors(_by_line(problems))
    check_unused(review)
    return Loaded(config, version(config), tuple(_by_line(review.problems)), _document(root))


def version(config: Config) -> str:
    """16 hexadecimal digits of the SHA-256 of the effective configuration."""
    content = json.dumps(config.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    return sha256(content.encode()).hexdigest()[:16]


def _document(root: Node) -> dict[str, Any]:
    return {key: node.plain() for key, node in root.members.items()}


def _by_line(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.line)


def _unread(name: str, reason: str) -> Problem:
    return Problem(Severity.ERROR, name, 0, "", f"cannot be read: {reason}")
