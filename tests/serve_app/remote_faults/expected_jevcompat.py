"""What becomes of the rules of ``asking.recipe`` at each fault of ``jevcompat mock``.

The mock knows neither set nor span, and no batch: the rules are those of ``STANDARD_TYPES``, about
one state. Its faults each break one requirement of the suite; many of those a router never needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.questions.types import AnswerError
from tests.doubles.faults.asking import STANDARD_TYPES
from tests.serve_app.remote_faults.expected import INVALID_QUESTION, MALFORMED, UNAVAILABLE, Effect

NOULS: Final = ("attack", "tools", "bare", "sided")
CHOICES: Final = ("topic", "wide")


@dataclass(frozen=True)
class MockEffect:
    """``unseen``: the answers are right in form and wrong in value, which no client can tell
    from one answer; ``required``: a key is asked for, as everywhere but at its own fault.
    """

    effect: Effect
    unseen: bool = False
    required: bool = True


def _all(reason: AnswerError, calls: int = 1) -> MockEffect:
    return MockEffect(Effect(dict.fromkeys(STANDARD_TYPES, reason), calls))


def _some(*rules: str, reason: AnswerError = MALFORMED, calls: int = 1) -> MockEffect:
    return MockEffect(Effect(dict.fromkeys(rules, reason), calls))


def _named(rule: str) -> MockEffect:
    """Refused by name, and asked again without (MRG-4)."""
    return _some(rule, reason=INVALID_QUESTION, calls=2)


NOTHING: Final = MockEffect(Effect({}))

MOCKED: Final[Mapping[str, MockEffect]] = {
    # the call never reaches a model
    "wrong-route": _all(UNAVAILABLE),
    "reject-jev-latest": _all(UNAVAILABLE),
    "auth-x-api-key": _all(UNAVAILABLE),
    "auth-rejects-header": MockEffect(_all(UNAVAILABLE).effect, required=False),
    "xssi-200": _all(MALFORMED),
    # questions are refused by name
    "strict-ids": _all(INVALID_QUESTION),
    "cap-64": _named("wide"),
    "cap-5-levels": _named("depth"),
    "noul-two-sided": _named("sided"),
    "noul-needs-instructions": _named("bare"),
    "no-null-description": _some("topic", "wide", reason=INVALID_QUESTION, calls=2),
    # answers are wrong in form
    "first-question-only": _some(*(rule for rule in STANDARD_TYPES if rule != "attack")),
    "boolean-type": _some(*NOULS),
    "noul-range": _some(*NOULS),
    "nfd-keys": _some("topic"),
    "choice-key-case": _some("topic"),
    "choice-sum": _some(*CHOICES),
    "choice-second": _some(*CHOICES),
    "score-no-legend": _some("depth"),
    "legend-1-based": _some("depth"),
    "score-keys-1-based": _some("depth"),
    "score-sum": _some("depth"),
    "score-argmax": _some("depth"),
    "confidence-over": _some(*CHOICES, "depth"),
    # what the router does not read
    "plain-content-type": NOTHING,
    "models-404": NOTHING,
    "no-usage": NOTHING,
    "float-usage": NOTHING,
    "extra-answer": NOTHING,
    "nan": NOTHING,
    "unprefixed-extra": NOTHING,
    "choice-no-confidence": NOTHING,
    "confidence-margin": NOTHING,
    # what the router never sends, or is never told while nothing else is wrong
    "reject-array-state": NOTHING,
    "forbid-extra": NOTHING,
    "string-only-text": NOTHING,
    "accept-map-score": NOTHING,
    "accept-boolean": NOTHING,
    "text-errors": NOTHING,
    "validation-400": NOTHING,
    "error-flat": NOTHING,
    "500-on-unknown-type": NOTHING,
    "auth-plain": NOTHING,
    "auth-invalid-403-text": NOTHING,
    # leaks: answers that depend on what they must not; the router cannot know
    "id-leaks": MockEffect(Effect({}), unseen=True),
    "batch-leaks": MockEffect(Effect({}), unseen=True),
    "order-leaks": MockEffect(Effect({}), unseen=True),
}
