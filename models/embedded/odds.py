"""Log odds as probabilities."""

from __future__ import annotations

from math import exp


def probability(logit: float) -> float:
    """The logistic function, without overflow for any logit."""
    if logit < 0:
        odds = exp(logit)
        return odds / (1 + odds)
    return 1 / (1 + exp(-logit))
