"""The numbers of a guard's answer, by option: what windows are compared and joined by (SCAN-4)."""

from __future__ import annotations

from models.questions.types import Answer, NoulAnswer, Question, SetAnswer, SpanAnswer


def values_of(question: Question, answer: Answer) -> tuple[float, ...]:
    """One per option of ``question`` in its order, or P(yes) of a noul."""
    match answer:
        case NoulAnswer(probability):
            return (probability,)
        case SetAnswer(_, probabilities):
            return probabilities
        case SpanAnswer(spans):
            best = dict.fromkeys((option.key for option in question.options), 0.0)
            for span in spans:
                best[span.label] = max(best[span.label], span.probability)
            return tuple(best.values())
        case _:
            raise TypeError(f"no guard asks a question with {type(answer).__name__}")
