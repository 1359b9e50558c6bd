"""Trees of conditions: what they read exists, labels are options, groups make sense (CFG-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from serve_app.config.checks.predicates import COUNT, check_predicate
from serve_app.config.checks.questions import condition_labels, needs_label, predicate_values
from serve_app.config.checks.review import Review
from serve_app.config.schema.decisions import Decision, Group, Leaf, Rules
from serve_app.config.schema.document import Recipe
from serve_app.config.schema.signals import (
    SECTIONS,
    ContextRule,
    ConversationRule,
    GuardRule,
    ModelRule,
    Rule,
)
from serve_app.config.tree import Loc

PROJECTION = "projection"
_TYPES = tuple(rule.type for rule in SECTIONS.values())


def check_conditions(review: Review) -> None:
    for r, recipe in enumerate(review.config.recipes):
        scope = Scope(review, recipe, ("recipes", r))
        for d, decision in enumerate(recipe.decisions):
            _check_tree(scope, (*scope.loc, "decisions", d), decision)
        for s, score in enumerate(recipe.projections.scores):
            for i, read in enumerate(score.inputs):
                loc = (*scope.loc, "projections", "scores", s, "inputs", i)
                rule = scope.rule(loc, read.type, read.name, _TYPES)
                if rule is not None:
                    scope.check_label(loc, rule, read.label)


def leaves(loc: Loc, conditions: Iterable[Leaf | Group]) -> Iterator[tuple[Loc, Leaf]]:
    """Every leaf under ``conditions``, which stand at ``loc``, in the file's order."""
    for index, node in enumerate(conditions):
        if isinstance(node, Leaf):
            yield (*loc, index), node
        else:
            yield from leaves((*loc, index, "conditions"), node.conditions)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that one recipe's conditions may read."""

    review: Review
    recipe: Recipe
    loc: Loc

    @property
    def _path(self) -> str:
        return self.review.node(self.loc).path

    def rule(self, loc: Loc, type: str, name: str, types: Iterable[str]) -> Rule | None:
        """The rule that the condition at ``loc`` reads; ``None``, reported, if there is none,
        and for a rule that is itself mistaken.
        """
        rules = self.review.declared.rules
        if type not in types:
            self.review.error(
                (*loc, "type"), "there is no such type of condition", name=type, allowed=types
            )
            return None
        known = rules[self._path, type]
        if name not in known:
            others = [other for other in _TYPES if name in rules[self._path, other]]
            hint = f"; there is one of type {others[0]}" if others else ""
            self.review.error(
                (*loc, "name"),
                f"there is no {type} rule of this name{hint}",
                name=name,
                allowed=known,
            )
            return None
        return next(
            (r for r in self.recipe.signals.rules() if (r.type, r.name) == (type, name)), None
        )

    def band(self, loc: Loc, leaf: Leaf) -> None:
        bands = self.review.declared.bands[self._path]
        if leaf.name not in bands:
            self.review.error(
                (*loc, "name"), "no mapping has such an output", name=leaf.name, allowed=bands
            )
        for key in ("label", "predicate"):
            if getattr(leaf, key) is not None:
                self.review.error((*loc, key), f"an output of a mapping has no {key}")

    def check_label(self, loc: Loc, rule: Rule, label: str | None) -> None:
        """That a condition on ``rule`` names one of its options, if it has to or does."""
        labels = condition_labels(rule)
        if label is None:
            if labels and needs_label(rule) and self.review.whole((*loc, "label")):
                what = f"needs a label: which of {rule.name}'s options"
                self.review.error(loc, what, allowed=labels, shown=False)
        elif label not in labels and not _mistaken(rule) and self._labels_whole(rule):
            what = "the rule has no such label" if labels else f"{rule.name} has no options to name"
            self.review.error((*loc, "label"), what, name=label, allowed=labels)

    def _labels_whole(self, rule: Rule) -> bool:
        """Whether the labels of ``rule`` are all that were written."""
        section = next(section for section, kind in SECTIONS.items() if kind is type(rule))
        index = next(i for i, r in enumerate(getattr(self.recipe.signals, section)) if r is rule)
        return self.review.whole((*self.loc, "signals", section, index, "labels"))


def _mistaken(rule: Rule) -> bool:
    return isinstance(rule, ModelRule) and predicate_values(rule) is None


def _check_tree(scope: Scope, loc: Loc, decision: Decision) -> None:
    rules, at = decision.rules, (*loc, "rules")
    _check_groups(scope.review, at, rules)
    told = False
    for leaf_loc, leaf in leaves((*at, "conditions"), rules.conditions):
        _check_leaf(scope, leaf_loc, leaf)
        if rules.on_unknown is not None and leaf.on_error is not None and not told:
            told = True
            scope.review.error(
                (*leaf_loc, "on_error"),
                "a tree has on_error at its conditions or on_unknown at its root, not both",
            )


def _check_leaf(scope: Scope, loc: Loc, leaf: Leaf) -> None:
    if leaf.type == PROJECTION:
        scope.band(loc, leaf)
        return
    rule = scope.rule(loc, leaf.type, leaf.name, (*_TYPES, PROJECTION))
    if rule is None:
        return
    scope.check_label(loc, rule, leaf.label)
    if leaf.predicate is None:
        return
    at = (*loc, "predicate")
    if isinstance(rule, (ContextRule, ConversationRule)):
        check_predicate(scope.review, at, leaf.predicate, COUNT)
    elif not isinstance(rule, ModelRule):
        scope.review.error(at, f"a {rule.type} rule has no value to compare")
    elif (values := predicate_values(rule)) is not None:
        guard = isinstance(rule, GuardRule)
        check_predicate(scope.review, at, leaf.predicate, values, guard=guard)


def _check_groups(review: Review, loc: Loc, group: Rules | Group) -> None:
    """NOT has exactly one child; only the root may be empty, and only as a plain catch-all."""
    children = len(group.conditions)
    at = (*loc, "conditions")
    if review.whole(at):
        if group.operator == "NOT" and children != 1:
            review.error(loc, f"NOT has exactly one condition, not {children}", shown=False)
        elif children == 0 and isinstance(group, Group):
            review.error(at, "a group below the root has at least one condition")
        elif children == 0 and group.operator == "OR":
            review.error(at, "OR without conditions: leave rules out for a catch-all")
    for index, child in enumerate(group.conditions):
        if isinstance(child, Group):
            _check_groups(review, (*at, index), child)
