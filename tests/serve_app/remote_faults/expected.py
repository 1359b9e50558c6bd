"""What becomes of the rules of ``asking.recipe`` at each fault of the fault server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from models.questions.types import AnswerError
from tests.doubles.faults.asking import BLOCKED, GUARDS, ONE_STATE, PATIENT_MS, REST, TWO_STATES

INVALID_QUESTION: Final = AnswerError.INVALID_QUESTION
INVALID_INPUT: Final = AnswerError.INVALID_INPUT
TOO_LONG: Final = AnswerError.MAX_LENGTH_EXCEEDED
MALFORMED: Final = AnswerError.INVALID_MODEL_OUTPUT
LATE: Final = AnswerError.DEADLINE_EXCEEDED
UNAVAILABLE: Final = AnswerError.UNAVAILABLE
OVERLOADED: Final = AnswerError.OVERLOADED
NOT_READY: Final = AnswerError.NOT_READY


@dataclass(frozen=True)
class Effect:
    """``unknown``: rule -> why; every other rule has its right answer. ``calls``: that the API
    gets.
    """

    unknown: Mapping[str, AnswerError]
    calls: int = 1

    @property
    def decision(self) -> str:
        """Where guards fail closed."""
        return BLOCKED if any(rule in GUARDS for rule in self.unknown) else REST


@dataclass(frozen=True)
class Expected:
    """``one``: of a standard request about one state; ``two``: of a batch about two.
    ``timeout_ms``: of the calls, short where they are to be late.
    """

    one: Effect
    two: Effect
    timeout_ms: int = PATIENT_MS


def harmless(calls: int = 1) -> Expected:
    return Expected(Effect({}, calls), Effect({}, calls))


def everything(reason: AnswerError, calls: int = 1) -> Expected:
    return Expected(
        Effect(dict.fromkeys(ONE_STATE, reason), calls),
        Effect(dict.fromkeys(TWO_STATES, reason), calls),
    )


def alone(rule: str, reason: AnswerError = MALFORMED, calls: int = 1) -> Expected:
    """One rule of the first entry."""
    effect = Effect({rule: reason}, calls)
    return Expected(effect, effect)


def rest(named: Mapping[str, AnswerError], reason: AnswerError, calls: int) -> Expected:
    """``named`` for their own reasons, everything else for ``reason``."""
    return Expected(
        Effect(dict.fromkeys(ONE_STATE, reason) | named, calls),
        Effect(dict.fromkeys(TWO_STATES, reason) | named, calls),
    )


def late(expected: Expected, timeout_ms: int) -> Expected:
    return replace(expected, timeout_ms=timeout_ms)


def each(names: str, expected: Expected) -> dict[str, Expected]:
    return dict.fromkeys(names.split(), expected)


_BOTH_GUARDS = {"attack": INVALID_QUESTION, "attack-before": INVALID_QUESTION}
_TWO_NAMED = {"attack": INVALID_QUESTION, "personal": INVALID_QUESTION}
_TOPIC = {"topic": INVALID_QUESTION}

CONNECTIONS: Final = {
    **each("none answers-twice", harmless()),
    **each(
        "slow-headers slow-body slow-drip drip-headers early-hints hang",
        late(everything(LATE), 300),
    ),
    **each(
        "close half-headers half-body long-length reset broken-chunks bad-chunks not-http"
        " huge-body endless-chunks huge-error huge-headers gzip-bomb",
        everything(UNAVAILABLE),
    ),
    # a connection's first call is answered
    "close-kept": harmless(),
    **each("refused closed-at-once no-tls", everything(UNAVAILABLE)),
}

BODIES: Final = {
    # what the body is does not depend on what it is called, nor is its text in UTF-8 alone JSON
    **each("text-plain utf-16 elsewhere", harmless()),
    **each(
        "html xssi not-json not-utf-8 deep empty json-null json-list json-number json-string"
        " json-empty-object json-answers-list json-answers-null",
        everything(MALFORMED),
    ),
    **each(
        "201 no-content 400 401 402 403 404 429 500 500-right"
        " redirect-301 redirect-302 redirect-303 redirect-307 redirect-308",
        everything(UNAVAILABLE),
    ),
    "413": everything(TOO_LONG),
    "503": everything(NOT_READY),
    **each("429-overloaded 529 529-ms 529-odd", everything(OVERLOADED)),
}

REFUSALS: Final = {
    **each("names-question names-question-400 names-in-error", alone("topic", INVALID_QUESTION, 2)),
    "names-guard": alone("attack", INVALID_QUESTION, 2),
    "names-two": Expected(
        Effect({"topic": INVALID_QUESTION, "depth": INVALID_QUESTION}, 2),
        Effect({"topic": INVALID_QUESTION, "depth": INVALID_QUESTION}, 2),
    ),
    # MRG-6: on every state that asked it
    "names-no-entry": Expected(Effect({"attack": INVALID_QUESTION}, 2), Effect(_BOTH_GUARDS, 2)),
    # MRG-5: the last time without it on any entry
    "names-every-entry": Expected(Effect({"attack": INVALID_QUESTION}, 2), Effect(_BOTH_GUARDS, 3)),
    # three times and never a fourth
    "names-every-entry-then-500": Expected(
        Effect(dict.fromkeys(ONE_STATE, UNAVAILABLE) | {"attack": INVALID_QUESTION}, 2),
        Effect(dict.fromkeys(TWO_STATES, UNAVAILABLE) | _BOTH_GUARDS, 3),
    ),
    "names-every-entry-then-others": Expected(
        Effect(dict.fromkeys(ONE_STATE, UNAVAILABLE) | _TWO_NAMED, 2),
        Effect(dict.fromkeys(TWO_STATES, UNAVAILABLE) | _BOTH_GUARDS | _TWO_NAMED, 3),
    ),
    "names-everything": everything(INVALID_QUESTION),
    # MRG-6: the retry fails for another question, which ends it
    "endless-namer": rest(_TWO_NAMED, UNAVAILABLE, 2),
    # MRG-4: the whole entry goes, and the other is asked alone, as a batch
    **each(
        "names-input names-input-in-error",
        Expected(
            Effect(dict.fromkeys(ONE_STATE, INVALID_INPUT), 1),
            Effect(dict.fromkeys(ONE_STATE, INVALID_INPUT), 2),
        ),
    ),
    "names-unasked": everything(INVALID_QUESTION),
    "names-unknown-entry": everything(INVALID_QUESTION),
    **each("names-nothing names-nothing-text names-oddly", everything(UNAVAILABLE)),
    # all within the deadline of the first call
    "names-then-hangs": late(rest(_TOPIC, LATE, 2), 1500),
    "names-then-500": rest(_TOPIC, UNAVAILABLE, 2),
    "names-then-529": rest(_TOPIC, OVERLOADED, 2),
    "names-then-nothing": rest(_TOPIC, UNAVAILABLE, 2),
    # a retry goes over a connection of its own
    "names-and-closes": Expected(Effect({"attack": INVALID_QUESTION}, 2), Effect(_BOTH_GUARDS, 3)),
}

ANSWERS: Final = {
    **each("extra nan-unread float-usage no-usage", harmless()),
    # the router reads neither a confidence nor the order of options, and labels alone say a set
    **each("choice-no-confidence choice-order set-no-sets", harmless()),
    **each(
        "noul-nan noul-infinity noul-above noul-below noul-string noul-bool noul-null noul-list"
        " noul-type noul-type-odd noul-no-type noul-empty noul-missing noul-bare noul-choice"
        " missing swapped",
        alone("attack"),
    ),
    **each(
        "choice-other choice-second choice-null-probabilities choice-list-probabilities"
        " choice-no-probabilities choice-no-choice choice-confidence choice-sum choice-nan"
        " choice-string choice-bool choice-negative choice-unknown-key choice-missing-key"
        " choice-nfd choice-lower",
        alone("topic"),
    ),
    **each(
        "score-argmax score-beyond score-null score-no-legend score-no-probabilities"
        " legend-1-based legend-other score-keys-1-based",
        alone("depth"),
    ),
    **each("set-missing-label set-above", alone("traits")),
    **each(
        "span-label span-backwards span-before span-beyond span-bool span-text span-above"
        " span-nan span-no-spans span-string span-null",
        alone("personal"),
    ),
    "in-place": alone("attack", TOO_LONG),
    "in-place-choice": alone("topic", TOO_LONG),
    "in-place-odd": alone("attack", UNAVAILABLE),
    "in-place-null": alone("attack"),
}

EXPECTED: Final[dict[str, Expected]] = CONNECTIONS | BODIES | REFUSALS | ANSWERS
"""Fault -> what it does to the rules; every fault of ``table`` and ``table.UNREACHABLE``."""
