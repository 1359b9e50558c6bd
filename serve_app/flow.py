"""One request, top to bottom: its signals, the decision they lead to, the model that answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from serve_app.asking.call import Ask, Call, Reply
from serve_app.asking.stage import Clock, Rng
from serve_app.decisions.confidence import confidence
from serve_app.decisions.nearest import nearest_changes
from serve_app.decisions.ready import ReadyDecision
from serve_app.decisions.selection import select
from serve_app.decisions.walk import Walk, decision_outcomes, walk
from serve_app.errors import Code
from serve_app.message import Message
from serve_app.outcome import CallOutcome, Coverage, DecisionOutcome, Outcome, Refused
from serve_app.reading import Readings
from serve_app.recipe import CompiledRecipe
from serve_app.scan.speed import Speeds
from serve_app.signals.deadline import signal_deadline_s
from serve_app.signals.outcomes import rule_outcomes
from serve_app.signals.stage import Scanning, ask_signals, measure

SCAN_PARTIAL: Final = "scan_partial"


async def route(
    message: Message,
    recipe: CompiledRecipe,
    *,
    ask: Ask,
    clock: Clock,
    rng: Rng,
    speeds: Speeds,
    deadline_s: float | None,
    config_version: str,
    explain: bool = False,
) -> Outcome:
    """What becomes of a request (DEC-1).

    ``speeds``: what calls about long inputs have taken (SCAN-9). ``deadline_s``: what is left of
    the request's own deadline, ``None`` without one.
    ``explain`` adds every decision with its tree and nearest change (API-9).
    """
    start = clock()
    readings = measure(recipe.signals, message)
    walked = walk(recipe.decisions, readings, asked=False)
    asked = walked.end == "open"
    calls: tuple[CallOutcome, ...] = ()
    coverage: Mapping[int, Coverage] = {}
    whole = True
    if asked:
        found = await ask_signals(
            recipe.signals,
            message,
            readings,
            ask=ask,
            clock=clock,
            deadline_s=signal_deadline_s(recipe.signals.timeout_ms, deadline_s),
            scanning=Scanning(rng, speeds, partial(_refuses, recipe)),
        )
        readings, coverage, whole = found.readings, found.coverage, not found.refused
        calls = tuple(_shown("signals", *exchange) for exchange in found.exchanges)
        walked = walk(recipe.decisions, readings, asked=whole)
    outcome = Outcome(
        recipe=recipe.name,
        config_version=config_version,
        rules=rule_outcomes(recipe.signals.rules, readings, coverage),
        decisions=_explained(recipe, readings, walked, asked and whole) if explain else (),
        calls=calls,
        stage_ms={"signals": (clock() - start) * 1000},
    )
    if walked.at is None:
        return _warned(_default(outcome, recipe, message), coverage)
    decision = recipe.decisions[walked.at]
    if walked.end == "failed":
        reason = f"decision {decision.name} could not be decided"
        return replace(outcome, refused=Refused(Code.GUARD_UNAVAILABLE, reason))
    outcome = replace(
        outcome,
        decision=decision.name,
        output=decision.output,
        plugins=decision.plugins,
        confidence=confidence(decision.root, readings),
    )
    if decision.fast is not None:
        return replace(outcome, fast=decision.fast)
    left_s = None if deadline_s is None else deadline_s - (clock() - start)
    selected = await _selected(outcome, decision, message, ask, clock, rng, left_s)
    return _warned(selected, coverage)


def _warned(outcome: Outcome, coverage: Mapping[int, Coverage]) -> Outcome:
    """A request that is routed although a guard read only a part of it says so (COV-4)."""
    if not outcome.models or all(read.result == "full" for read in coverage.values()):
        return outcome
    return replace(outcome, warnings=(*outcome.warnings, SCAN_PARTIAL))


def _refuses(recipe: CompiledRecipe, readings: Readings) -> bool:
    """Whether a decision that answers by itself is taken, whatever is not read yet (SCAN-5)."""
    walked = walk(recipe.decisions, readings, asked=False)
    if walked.end != "taken" or walked.at is None:
        return False
    return recipe.decisions[walked.at].fast is not None


async def _selected(
    outcome: Outcome,
    decision: ReadyDecision,
    message: Message,
    ask: Ask,
    clock: Clock,
    rng: Rng,
    left_s: float | None,
) -> Outcome:
    candidates = [c for c in decision.candidates if c.fits(message.tokens)]
    if not candidates:
        return _too_long(outcome, [c.model for c in decision.candidates])
    start = clock()
    selection = await select(
        decision, candidates, message, ask=ask, clock=clock, rng=rng, left_s=left_s
    )
    outcome = replace(
        outcome,
        models=selection.models if decision.fallback else selection.models[:1],
        fallback=decision.fallback,
        algorithm=decision.algorithm,
        ranking=selection.ranking,
    )
    if selection.exchange is None:
        return outcome
    return replace(
        outcome,
        calls=(*outcome.calls, _shown("selector", *selection.exchange)),
        stage_ms={**outcome.stage_ms, "selector": (clock() - start) * 1000},
    )


def _default(outcome: Outcome, recipe: CompiledRecipe, message: Message) -> Outcome:
    """No decision matched (DEC-2)."""
    if recipe.default is None:
        tried = ", ".join(decision.name for decision in recipe.decisions) or "none"
        reason = f"no decision of recipe {recipe.name} matched, tried: {tried}"
        return replace(outcome, refused=Refused(Code.NO_DECISION, reason))
    if not recipe.default.fits(message.tokens):
        return _too_long(outcome, [recipe.default.model])
    return replace(outcome, models=(recipe.default.model,))


def _too_long(outcome: Outcome, models: list[str]) -> Outcome:
    reason = f"the prompt is longer than the context window of {', '.join(models)}"
    return replace(outcome, refused=Refused(Code.CONTEXT_LENGTH_EXCEEDED, reason))


def _explained(
    recipe: CompiledRecipe, readings: Readings, walked: Walk, asked: bool
) -> tuple[DecisionOutcome, ...]:
    nearest = nearest_changes(recipe.decisions, recipe.scales, readings, asked=asked)
    return decision_outcomes(recipe.decisions, readings, walked, nearest)


def _shown(stage: Literal["signals", "selector"], call: Call, reply: Reply) -> CallOutcome:
    return CallOutcome(
        stage=stage,
        deployment=call.deployment,
        form="standard" if len(call.entries) == 1 else "batch",
        questions={name: tuple(entry.questions) for name, entry in call.entries.items()},
        ms=reply.elapsed_ms,
        timings=reply.timings,
        attempts=reply.attempts,
        unanswered=reply.unanswered,
    )
