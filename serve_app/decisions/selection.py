"""Which of a decision's models answers (CFG-8, SEL-1, SEL-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.questions.presets import preset_question
from models.questions.types import ChoiceAnswer, Option
from serve_app.asking.call import Ask, Call, Entry, Reply
from serve_app.asking.stage import Clock, Rng, answered
from serve_app.decisions.ready import Candidate, ReadyDecision, Selector
from serve_app.message import Message


@dataclass(frozen=True, slots=True)
class Selection:
    """``models``: candidates, the selected one first. ``ranking``: with selection scores, best
    first, if a selector gave them. ``exchange``: the selector's call and its reply.
    """

    models: tuple[str, ...]
    ranking: tuple[tuple[str, float], ...] = ()
    exchange: tuple[Call, Reply] | None = None


async def select(
    decision: ReadyDecision,
    candidates: Sequence[Candidate],
    message: Message,
    *,
    ask: Ask,
    clock: Clock,
    rng: Rng,
    left_s: float | None,
) -> Selection:
    """Orders ``candidates``, those of the decision that fit the prompt; at least one.

    ``left_s``: what is left of the request's own deadline.
    """
    models = tuple(candidate.model for candidate in candidates)
    if len(candidates) == 1:
        return Selection(models)
    if decision.algorithm == "random":
        chosen = _drawn(candidates, rng())
        return Selection((chosen, *(model for model in models if model != chosen)))
    if decision.selector is None:
        return Selection(models)
    call = selector_call(decision.selector, candidates, message, left_s)
    (reply,) = await answered([call], ask, clock)
    answer = reply.answers["1"][decision.selector.id]
    if not isinstance(answer, ChoiceAnswer):
        return Selection(models, exchange=(call, reply))
    scores = zip(answer.keys, answer.probabilities, strict=True)
    ranking = tuple(sorted(scores, key=lambda scored: (scored[0] != answer.choice, -scored[1])))
    return Selection(tuple(model for model, _ in ranking), ranking, (call, reply))


def selector_call(
    selector: Selector, candidates: Sequence[Candidate], message: Message, left_s: float | None
) -> Call:
    """One choice over the candidates, about the request alone."""
    options = tuple(Option(candidate.model, candidate.description) for candidate in candidates)
    question = replace(preset_question("selector"), options=options)
    timeout_s = selector.timeout_s if left_s is None else min(selector.timeout_s, left_s)
    entry = Entry({"request": message.text}, {selector.id: question})
    return Call(selector.deployment, {"1": entry}, max(0.0, timeout_s))


def _drawn(candidates: Sequence[Candidate], draw: float) -> str:
    rest = draw * sum(candidate.weight for candidate in candidates)
    for candidate in candidates:
        rest -= candidate.weight
        if rest < 0:
            return candidate.model
    return candidates[-1].model
