"""A router's configuration from its file (CFG-1, CFG-2).

``load`` is ``read_document`` (YAML to a tree with lines, variables expanded), ``validate``
(form) and the checks of meaning. All errors come at once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
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
from serve_app.config.checks.question_ids import check_question_ids
from serve_app.config.checks.questions import check_questions
from serve_app.config.checks.review import Review
from serve_app.config.checks.unused import check_unused
from serve_app.config.declared import Declared
from serve_app.config.document import read_document
from serve_app.config.problem import ConfigErrors, Problem, Severity
from serve_app.config.schema.document import Config
from serve_app.config.shown import shown_document
from serve_app.config.tree import Node
from serve_app.config.validation import validate
from serve_app.config.variables import Environ, Withheld

_CHECKS = (
    check_names,
    check_questions,
    check_question_ids,
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
    ``Config.model_validate`` makes ``config`` of it. ``shown``: the same without secrets, variables
    as they are written (CFG-2).
    """

    config: Config
    version: str
    warnings: tuple[Problem, ...]
    document: Mapping[str, Any]
    shown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of a document nobody applies. ``version``: of the configuration it would make, if known."""

    valid: bool
    version: str | None
    problems: tuple[Problem, ...]


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
    found = _read(text, name, cards, environ)
    root, config = found.root, found.config
    if not found.valid or root is None or config is None:
        raise ConfigErrors(found.problems)
    document = {key: node.plain() for key, node in root.members.items()}
    return Loaded(config, version(config), found.problems, document, shown_document(root))


def check_text(
    text: str, name: str, *, cards: Mapping[str, Card], variables: Collection[str]
) -> Verdict:
    """What is wrong with a ``text`` that may come from anybody (CFG-10): it learns which
    ``variables`` are set, never what they hold. So a value with a variable in it is left
    unread and unchecked, with a warning; where there is one, the version is unknown.
    """
    found = _read(text, name, cards, dict.fromkeys(variables, Withheld.VALUE))
    config = found.config if found.valid and found.whole else None
    return Verdict(found.valid, None if config is None else version(config), found.problems)


@dataclass(frozen=True, slots=True)
class _Found:
    """``config``: of what could be understood. ``whole``: no value was withheld. ``problems``, by
    line, are warnings alone where the text is ``valid``.
    """

    root: Node | None
    config: Config | None
    whole: bool
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        return self.config is not None and not _errors(self.problems)


def _read(text: str, name: str, cards: Mapping[str, Card], environ: Environ) -> _Found:
    root, problems = read_document(text, name, environ)
    whole = len(_errors(problems)) == len(problems)
    if root is None:
        return _Found(None, None, whole, tuple(problems))
    if not whole:
        root.drop_incomplete("question")  # each part of one gives the others their meaning
    declared = Declared(withheld=not whole)
    config, mistakes = validate(root, name, declared)
    problems += mistakes
    if config is not None:
        review = Review(name, root, config, declared, cards, environ)
        for check in _CHECKS:
            check(review)
        problems += _errors(review.problems)
        if not _errors(problems):
            if whole:  # what reads a rule may stand in a gap
                check_unused(review)
            problems += review.problems
    return _Found(root, config, whole, tuple(_by_line(problems)))


def _errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def version(config: Config) -> str:
    """16 hexadecimal digits of the SHA-256 of the effective configuration."""
    content = json.dumps(config.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    return sha256(content.encode()).hexdigest()[:16]


def _by_line(problems: list[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: problem.line)


def _unread(name: str, reason: str) -> Problem:
    return Problem(Severity.ERROR, name, 0, "", f"cannot be read: {reason}")
