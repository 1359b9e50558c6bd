"""What a forward is expected to cost, learned from the forwards that ran (SRV-8)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from models.questions.types import Question

SMOOTHING: Final = 0.1
"""Weight of the newest measurement, once there are ten."""

PRIOR_FIXED_S: Final = 0.005
PRIOR_TOKEN_S: Final = 1.5e-4
PRIOR_TOKENS: Final = 512
"""Before the first measurement: a small encoder on two CPU cores, on forwards up to this size."""


class CostModel:
    """``seconds = fixed_s + tokens * token_s``, a least-squares line through smoothed moments.

    It starts from the prior's line as if that had been measured at 0 and at ``PRIOR_TOKENS``.
    """

    def __init__(self) -> None:
        half, top_s = PRIOR_TOKENS / 2, PRIOR_FIXED_S + PRIOR_TOKENS * PRIOR_TOKEN_S
        self._n = half
        self._s = (PRIOR_FIXED_S + top_s) / 2
        self._nn = PRIOR_TOKENS * half
        self._ns = top_s * half
        self._measured = 0
        self.fixed_s = PRIOR_FIXED_S
        self.token_s = PRIOR_TOKEN_S

    def measured(self, tokens: int, seconds: float) -> None:
        """Learns from one forward of ``tokens`` padded tokens."""
        self._measured += 1
        weight = max(SMOOTHING, 1 / (self._measured + 1))
        self._n += weight * (tokens - self._n)
        self._s += weight * (seconds - self._s)
        self._nn += weight * (tokens * tokens - self._nn)
        self._ns += weight * (tokens * seconds - self._ns)
        variance = self._nn - self._n * self._n
        if variance > 1e-6 * self._nn:
            slope = (self._ns - self._n * self._s) / variance
            self.token_s = min(max(slope, 0.0), self._s / max(self._n, 1.0))
        self.fixed_s = max(0.0, self._s - self.token_s * self._n)

    def seconds(self, tokens: int, forwards: float = 1.0) -> float:
        return forwards * self.fixed_s + tokens * self.token_s


PRIOR_TOKENS_PER_CHARACTER: Final = 0.5
SHORTEST: Final = 64
"""Characters; a shorter state costs about as much, for it is padded to its bucket."""

KNOWN_QUESTIONS: Final = 512
"""Fewer than an engine keeps, so that a question of ordinary size which counts as known is cached
there."""


class TextCost:
    """Padded tokens of a row that is not tokenised yet, guessed from its length.

    Admission must answer before a text is read: a refusal costs no tokenising. What counts is
    what there is to read: the state, and the questions that were not answered of late, for an
    engine keeps what it made of the others.
    """

    def __init__(self) -> None:
        self._per_character = PRIOR_TOKENS_PER_CHARACTER
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def unread_characters(self, question: Question) -> int:
        """0 once the question is known."""
        return 0 if question.digest() in self._known else question.characters

    def answered(self, question: Question) -> None:
        """The engine has read the question and answered it."""
        digest = question.digest()
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > KNOWN_QUESTIONS:
            self._known.popitem(last=False)

    def guess(self, characters: int) -> int:
        return max(1, round(self._per_character * max(characters, SHORTEST)))

    def measured(self, characters: int, tokens: int) -> None:
        ratio = tokens / max(characters, SHORTEST)
        self._per_character += SMOOTHING * (ratio - self._per_character)
