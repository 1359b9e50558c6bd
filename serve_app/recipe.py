"""A recipe made ready: everything about it that no request changes, computed once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from models.cards.schema import Card
from models.questions.types import QuestionType
from serve_app.config.schema.catalog import TIMEOUT_MS, ModelCatalog
from serve_app.config.schema.decisions import Decision, FastResponse, Group, Leaf
from serve_app.config.schema.document import Config, Recipe
from serve_app.config.schema.predicate import Predicate
from serve_app.config.schema.providers import ProviderModel
from serve_app.config.schema.signals import ModelRule
from serve_app.config.sizes import sizes_of
from serve_app.decisions.change import Scale
from serve_app.decisions.projections import Score, Term
from serve_app.decisions.ready import Candidate, ReadyDecision, Selector
from serve_app.decisions.tree import BandLeaf, RuleLeaf, leaves, ready_tree
from serve_app.outcome import FastAnswer, Truth
from serve_app.reading import Bounds, Criterion
from serve_app.scan.rule import ScannedRule
from serve_app.signals.plan import SignalPlan, plan_signals
from serve_app.signals.questions import criterion_of
from serve_app.signals.rules import (
    AskedRule,
    ReadyRule,
    RuleKey,
    reads_of,
    ready_rules,
    scanned_rule,
)
from serve_app.signals.states import Reads

PROJECTION = "projection"
"""The type by which conditions name a projection's band (CFG-9)."""


@dataclass(frozen=True, slots=True)
class CompiledRecipe:
    """``decisions``: in the order they are tried. ``default``: answers when none matches.

    ``scales``: by rule, the values it may take.
    """

    name: str
    signals: SignalPlan
    decisions: tuple[ReadyDecision, ...]
    scales: tuple[Scale, ...]
    default: Candidate | None

    @property
    def reads(self) -> Reads:
        """What of a message the recipe reads: no more need travel to where it runs."""
        return self.signals.reads

    @property
    def deployments(self) -> frozenset[str]:
        """The decision models it may ask."""
        rules = (rule.deployment for rule in self.signals.rules if isinstance(rule, AskedRule))
        selectors = (d.selector.deployment for d in self.decisions if d.selector is not None)
        return frozenset((*rules, *selectors))


def compile_recipe(recipe: Recipe, config: Config, cards: Mapping[str, Card]) -> CompiledRecipe:
    """``recipe`` of a configuration without errors. ``cards``: by deployment."""
    catalog = config.global_.model_catalog
    system = catalog.system.decision_model.deployment
    bounds_s = {name: remote.timeout_s for name, remote in catalog.remote.items()}
    rules = ready_rules(recipe.signals, set(_read(recipe)), system, cards, bounds_s)
    compiler = _Compiler(recipe, rules, system, cards)
    models = {model.name: model for model in config.providers.models}
    ordered = sorted(recipe.decisions, key=lambda d: (d.catch_all, -d.priority))
    decisions = tuple(_decision(d, compiler, models, catalog, cards) for d in ordered)
    sizes = {name: sizes_of(d, cards[name]) for name, d in catalog.deployments.items()}
    reads = reads_of(rules, recipe.signals)
    scanned = compiler.scanned(decisions)
    default = config.providers.defaults.default_model
    return CompiledRecipe(
        name=recipe.name,
        signals=plan_signals(rules, reads, catalog.signal_timeout_ms, sizes, scanned),
        decisions=decisions,
        scales=tuple(_scales(rules)),
        default=None if default is None else _candidate(default, models),
    )


def _read(recipe: Recipe) -> Iterable[RuleKey]:
    """The rules that decisions and projections read (SIG-1)."""
    for decision in recipe.decisions:
        for leaf in _leaves(decision.rules.conditions):
            yield leaf.type, leaf.name
    for score in recipe.projections.scores:
        for term in score.inputs:
            yield term.type, term.name


def _leaves(nodes: Iterable[Leaf | Group]) -> Iterable[Leaf]:
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from _leaves(node.conditions)


class _Compiler:
    """Resolves the names that conditions and projections use."""

    def __init__(
        self,
        recipe: Recipe,
        rules: tuple[ReadyRule, ...],
        system: str,
        cards: Mapping[str, Card],
    ) -> None:
        self._rules = rules
        self._places = {(rule.type, rule.name): i for i, rule in enumerate(rules)}
        self._written = {(rule.type, rule.name): rule for rule in recipe.signals.rules()}
        self._cards = cards
        scores = {
            score.name: Score(
                score.name,
                tuple(
                    Term(
                        _condition(term.type, term.name, term.label),
                        self._places[term.type, term.name],
                        self._criterion((term.type, term.name), term.label, None),
                        term.weight,
                        self._on_unknown((term.type, term.name)),
                    )
                    for term in score.inputs
                ),
            )
            for score in recipe.projections.scores
        }
        self._bands = {
            band.name: (scores[mapping.source], _band(band.gte, band.lt))
            for mapping in recipe.projections.mappings
            for band in mapping.outputs
        }

    def leaf(self, leaf: Leaf) -> RuleLeaf | BandLeaf:
        on_error = None if leaf.on_error is None else Truth(leaf.on_error)
        condition = _condition(leaf.type, leaf.name, leaf.label)
        if leaf.type == PROJECTION:
            score, bounds = self._bands[leaf.name]
            return BandLeaf(condition, score, bounds, on_error)
        key = (leaf.type, leaf.name)
        rule = self._rules[self._places[key]]
        return RuleLeaf(
            condition=condition,
            rule=self._places[key],
            criterion=self._criterion(key, leaf.label, leaf.predicate),
            on_unknown=self._on_unknown(key),
            on_error=on_error,
            probable=isinstance(rule, AskedRule) and rule.question.type is not QuestionType.SCORE,
        )

    def scanned(self, decisions: Iterable[ReadyDecision]) -> dict[int, ScannedRule]:
        """By place, the rules that read all of a long input, and what ``decisions`` ask of them."""
        criteria: dict[int, list[Criterion]] = {}
        scored: set[int] = set()
        for decision in decisions:
            for leaf in leaves(decision.root):
                if isinstance(leaf, RuleLeaf):
                    criteria.setdefault(leaf.rule, []).append(leaf.criterion)
                else:
                    scored.update(term.rule for term in leaf.score.terms)
        found: dict[int, ScannedRule] = {}
        for place, rule in enumerate(self._rules):
            written = self._written[rule.type, rule.name]
            if isinstance(rule, AskedRule) and isinstance(written, ModelRule):
                one = scanned_rule(written, rule, criteria.get(place, ()), whole=place in scored)
                if one is not None:
                    found[place] = one
        return found

    def _on_unknown(self, key: RuleKey) -> Truth | None:
        """The rule's own policy, which goes before all others (UNK-2)."""
        rule = self._rules[self._places[key]]
        return rule.on_unknown if isinstance(rule, AskedRule) else None

    def _criterion(self, key: RuleKey, label: str | None, predicate: Predicate | None) -> Criterion:
        rule, written = self._rules[self._places[key]], self._written[key]
        if isinstance(rule, AskedRule) and isinstance(written, ModelRule):
            card = self._cards[rule.deployment]
            return criterion_of(written, rule.question, card, label, predicate)
        if predicate is not None:
            return Criterion((0,), Bounds.of(predicate))
        return rule.criterion


def _condition(type: str, name: str, label: str | None) -> str:
    return f"{type}:{name}" if label is None else f"{type}:{name}:{label}"


def _band(gte: float | None, lt: float | None) -> Bounds:
    limits = {"gte": gte, "lt": lt}
    return Bounds.make(**{name: limit for name, limit in limits.items() if limit is not None})


def _scales(rules: tuple[ReadyRule, ...]) -> Iterable[Scale]:
    answers: dict[object, int] = {}
    for place, rule in enumerate(rules):
        key = f"{rule.type}:{rule.name}"
        if not isinstance(rule, AskedRule):
            yield Scale(key, place, top=math.inf if rule.counts else 1.0, whole=True)
            continue
        answer = answers.setdefault((rule.deployment, rule.state, rule.id), place)
        score = rule.question.type is QuestionType.SCORE
        yield Scale(
            key, answer, rule.choices, top=len(rule.question.options) - 1.0 if score else 1.0
        )


def _decision(
    decision: Decision,
    compiler: _Compiler,
    models: Mapping[str, ProviderModel],
    catalog: ModelCatalog,
    cards: Mapping[str, Card],
) -> ReadyDecision:
    fast = next((p for p in decision.plugins if isinstance(p, FastResponse)), None)
    return ReadyDecision(
        name=decision.name,
        priority=decision.priority,
        root=ready_tree(decision.rules, compiler.leaf),
        on_unknown=decision.rules.on_unknown or "no_match",
        candidates=tuple(
            _candidate(ref.model, models, ref.description, ref.weight) for ref in decision.modelRefs
        ),
        algorithm=decision.algorithm.type,
        selector=_selector(decision, catalog, cards),
        fallback=decision.fallback,
        output=tuple(decision.output),
        fast=None if fast is None else FastAnswer(fast.message, fast.status),
        plugins=tuple(plugin.type for plugin in decision.plugins),
    )


def _candidate(
    name: str,
    models: Mapping[str, ProviderModel],
    description: str | None = None,
    weight: float = 1.0,
) -> Candidate:
    model = models[name]
    return Candidate(name, description or model.description or None, weight, model.context_window)


def _selector(
    decision: Decision, catalog: ModelCatalog, cards: Mapping[str, Card]
) -> Selector | None:
    algorithm = decision.algorithm
    if algorithm.type != "systemone":
        return None
    deployment = algorithm.deployment or catalog.system.decision_model.deployment
    timeout_ms = algorithm.timeout_ms or catalog.deployments[deployment].timeout_ms or TIMEOUT_MS
    id = cards[deployment].trained_ids.get("selector", "selector")
    return Selector(deployment, id, timeout_ms / 1000)
