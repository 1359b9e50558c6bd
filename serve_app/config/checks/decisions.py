"""What a decision does: its models, how one is picked, its plugins (CFG-8, SEL-1)."""

from __future__ import annotations

from models.cards.schema import Card
from models.questions.limits import OPTION_LIMITS
from models.questions.types import QuestionType
from serve_app.config.checks.names import unique
from serve_app.config.checks.review import Review
from serve_app.config.schema.decisions import Decision
from serve_app.config.tree import Loc


def check_decisions(review: Review) -> None:
    for r, recipe in enumerate(review.config.recipes):
        for d, decision in enumerate(recipe.decisions):
            loc = ("recipes", r, "decisions", d)
            _check_models(review, loc, decision)
            _check_output(review, loc, decision)
            _check_plugins(review, loc, decision)
            _check_algorithm(review, loc, decision)


def _check_models(review: Review, loc: Loc, decision: Decision) -> None:
    refs = (*loc, "modelRefs")
    for index, ref in enumerate(decision.modelRefs):
        if ref.model not in review.declared.models:
            review.error(
                (*refs, index, "model"),
                "there is no such model",
                name=ref.model,
                allowed=review.declared.models,
            )
    empty = not decision.modelRefs and not decision.plugins
    if empty and review.whole(refs) and review.whole((*loc, "plugins")):
        review.error(
            loc,
            "needs modelRefs: a decision without them answers with a fast_response plugin",
            shown=False,
        )


def _check_output(review: Review, loc: Loc, decision: Decision) -> None:
    """Every model of a decision answers in all that the decision answers in."""
    if not review.whole((*loc, "output")):
        return
    models = {model.name: (m, model) for m, model in enumerate(review.config.providers.models)}
    for index, ref in enumerate(decision.modelRefs):
        m, model = models.get(ref.model, (0, None))
        if model is None or not review.whole(("providers", "models", m, "output")):
            continue
        lacking = [kind for kind in decision.output if kind not in model.output]
        if lacking:
            review.error(
                (*loc, "modelRefs", index, "model"),
                f"decision {decision.name} has {' and '.join(lacking)} in its output, "
                f"model {model.name} only {' and '.join(model.output)}",
            )


def _check_plugins(review: Review, loc: Loc, decision: Decision) -> None:
    names = [((*loc, "plugins", i, "type"), p.type) for i, p in enumerate(decision.plugins)]
    unique(review, "plugin", names)
    if decision.plugins and decision.modelRefs:
        review.warn((*loc, "modelRefs"), "fast_response answers: no model is ever called")


def _check_algorithm(review: Review, loc: Loc, decision: Decision) -> None:
    algorithm, at = decision.algorithm, (*loc, "algorithm")
    card = review.asked_card((*at, "deployment"), algorithm.deployment)
    told = review.whole((*at, "type"))
    if told and algorithm.type != "random":
        for index, ref in enumerate(decision.modelRefs):
            if "weight" in ref.model_fields_set:
                review.warn(
                    (*loc, "modelRefs", index, "weight"),
                    f"only algorithm: {{type: random}} reads weights, not {algorithm.type}",
                )
    if told and algorithm.type != "systemone":
        for key in sorted({"deployment", "timeout_ms"} & algorithm.model_fields_set):
            review.warn((*at, key), f"only type: systemone asks a model, not {algorithm.type}")
    elif algorithm.type == "systemone":
        _check_selector(review, loc, decision, card)
    if decision.fallback and len(decision.modelRefs) == 1 and review.whole((*loc, "modelRefs")):
        review.warn((*loc, "fallback"), "there is no second modelRef to fall back to")


def _check_selector(review: Review, loc: Loc, decision: Decision, card: Card | None) -> None:
    refs = (*loc, "modelRefs")
    most = OPTION_LIMITS[QuestionType.CHOICE][1]
    if len(decision.modelRefs) > most:  # none at all is an error of its own
        review.error(refs, f"out of range: 1 to {most} candidates", shown=False)
    models = [((*refs, i, "model"), ref.model) for i, ref in enumerate(decision.modelRefs)]
    unique(review, "candidate", models)
    if card is not None and QuestionType.CHOICE not in card.question_types:
        review.error(
            (*loc, "algorithm", "type"),
            f"asks a choice question, which {card.name} does not answer",
            allowed=("static", "random"),
        )
