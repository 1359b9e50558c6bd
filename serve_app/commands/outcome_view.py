"""An outcome as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from serve_app.outcome import (
    CallOutcome,
    DecisionOutcome,
    NearestChange,
    NodeOutcome,
    Outcome,
    RuleOutcome,
    Truth,
)

_WORDS: Final = {Truth.TRUE: "match", Truth.FALSE: "no match", Truth.UNKNOWN: "unknown"}
_STYLES: Final = {Truth.TRUE: "green", Truth.FALSE: "dim", Truth.UNKNOWN: "yellow"}


def outcome_view(outcome: Outcome) -> RenderableType:
    """What was found, top to bottom: the result, rules, decisions with their trees, calls."""
    parts: list[RenderableType] = [_result(outcome)]
    if outcome.rules:
        parts.append(_rules(outcome.rules))
    if outcome.decisions:
        parts.append(_decisions(outcome.decisions))
        parts.extend(_tree(decision) for decision in outcome.decisions)
    parts.append(_calls(outcome.calls) if outcome.calls else Text("No call was made."))
    return Group(*parts)


def _result(outcome: Outcome) -> Table:
    grid = Table.grid(padding=(0, 2))
    facts = {
        "recipe": outcome.recipe,
        "decision": outcome.decision or "none",
        "answer": _answer(outcome),
        "algorithm": outcome.algorithm,
        "confidence": _number(outcome.confidence) or None,
        "ranking": ", ".join(f"{model} {score:.3f}" for model, score in outcome.ranking) or None,
    }
    for name, fact in facts.items():
        if fact is not None:
            grid.add_row(Text(name, style="dim"), Text(fact, style="bold"))
    return grid


def _answer(outcome: Outcome) -> str:
    if outcome.refused is not None:
        return f"error {outcome.refused.code}: {outcome.refused.message}"
    if outcome.fast is not None:
        return f"its own, with status {outcome.fast.status}: {outcome.fast.message}"
    return f"from {', then '.join(outcome.models)}"


def _table(title: str, *columns: str, numbers: Iterable[str] = ()) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def _rules(rules: Iterable[RuleOutcome]) -> Table:
    figures = ("value", "threshold", "margin")
    table = _table("Rules", "rule", *figures, "verdict", "question", "deployment", numbers=figures)
    for rule in rules:
        table.add_row(
            Text(f"{rule.type}:{rule.name}"),
            _number(rule.value),
            _number(rule.threshold),
            _number(rule.margin, sign=True),
            _verdict(rule),
            Text(rule.question_id or ""),
            Text(rule.deployment or ""),
        )
    return table


def _verdict(rule: RuleOutcome) -> Text:
    words = _WORDS[rule.verdict]
    if rule.option is not None:
        words += f", {rule.option}"
    if rule.reason is not None:
        words += f", {rule.reason}"
    if rule.coverage is not None:
        words += f", read {rule.coverage}"
    if rule.effective is not rule.verdict:
        words += f": counts as {_WORDS[rule.effective]}"
    return Text(words, style=_STYLES[rule.effective])


def _decisions(decisions: Iterable[DecisionOutcome]) -> Table:
    table = _table(
        "Decisions", "priority", "decision", "verdict", "nearest change", numbers=("priority",)
    )
    for decision in decisions:
        words = "taken" if decision.taken else _WORDS[decision.truth]
        table.add_row(
            str(decision.priority),
            Text(decision.name, style="bold" if decision.taken else ""),
            Text(words, style=_STYLES[decision.truth]),
            Text(_nearest(decision.nearest)),
        )
    return table


def _nearest(change: NearestChange | None) -> str:
    if change is None:
        return ""
    was, needed, by = _number(change.value), _number(change.needed), _number(change.by, sign=True)
    return f"{change.rule} {was} → {needed} ({by})"


def _tree(decision: DecisionOutcome) -> Tree:
    tree = Tree(Text(decision.name, style="bold"))
    if decision.tree.children:
        _grow(tree, decision.tree)
    else:
        tree.add(Text("always", style="dim"))
    return tree


def _grow(tree: Tree, node: NodeOutcome) -> None:
    label = node.operator or node.condition or ""
    branch = tree.add(Text(f"{label}  {_WORDS[node.truth]}", style=_STYLES[node.truth]))
    for child in node.children:
        _grow(branch, child)


def _calls(calls: Iterable[CallOutcome]) -> Table:
    """Windows of one input are one line, with the mean of their times."""
    times = ("ms", "queue", "tokenize", "forward")
    table = _table("Calls", "stage", "deployment", "form", "questions", *times, numbers=times)
    alike: dict[tuple[str, ...], list[CallOutcome]] = {}
    for call in calls:
        asked = "\n".join(f"{name}: {', '.join(ids)}" for name, ids in call.questions.items())
        alike.setdefault((call.stage, call.deployment, call.form, asked), []).append(call)
    for (stage, deployment, form, asked), group in alike.items():
        many = f"{form}, {len(group)} times" if len(group) > 1 else form
        table.add_row(stage, Text(deployment), many, Text(asked), *_times(group))
    return table


def _times(calls: Sequence[CallOutcome]) -> list[str]:
    timings = [call.timings for call in calls if call.timings is not None]
    parts = [[call.ms for call in calls]]
    if timings:
        parts += [
            [t.queue_ms for t in timings],
            [t.tokenize_ms for t in timings],
            [t.forward_ms for t in timings],
        ]
    return [f"{fmean(part):.1f}" for part in parts]


def _number(value: float | None, *, sign: bool = False) -> str:
    """Counts whole, all else with three places; nothing where there is no number."""
    if value is None:
        return ""
    places = ".0f" if float(value).is_integer() and abs(value) > 1 else ".3f"
    return format(value, ("+" if sign else "") + places)
