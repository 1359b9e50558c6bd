"""How sure a distribution is (S1-3)."""

from __future__ import annotations

from collections.abc import Sequence


def choice_confidence(probabilities: Sequence[float]) -> float:
    """``(m - 1/n) / (1 - 1/n)`` for the greatest probability m of n; one option: 1.0."""
    n = len(probabilities)
    if n < 2:
        return 1.0
    return _unit((max(probabilities) - 1 / n) / (1 - 1 / n))


def score_confidence(probabilities: Sequence[float]) -> float:
    """``1 - sum(p_i |i - k|) / D`` around the likeliest level k, at least 0.

    ``D = (1/n) * sum |i - (n-1)/2|``: the mean distance of n levels from their middle.
    """
    n = len(probabilities)
    if n < 2:
        return 1.0
    k = max(range(n), key=lambda i: probabilities[i])
    spread = sum(p * abs(i - k) for i, p in enumerate(probabilities))
    d = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return _unit(1 - spread / d)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
