"""What an answer depends on, as bytes: equal keys are one computation (SRV-10, CACHE-1).

32 bytes a part: states and questions are strangers' texts, and whoever found two with one hash
would have one answered with the other's answer.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from models.questions.types import Question

_BYTES: Final = 32


class ContentKeys:
    """Keys of one model revision. A key holds no threshold, label or name of a preset (CACHE-3)."""

    def __init__(self, revision: str) -> None:
        self._revision = blake2b(revision.encode(), digest_size=_BYTES).digest()

    def state(self, text: str) -> bytes:
        """32 bytes that name a state as this model revision reads it."""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=_BYTES, key=self._revision).digest()

    def question(self, question: Question) -> bytes:
        """32 bytes; a question about a state is named by the state's bytes and these."""
        return question.digest()
