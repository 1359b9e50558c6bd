"""What an answer depends on, as bytes: equal keys are one computation (SRV-10, CACHE-1)."""

from __future__ import annotations

from hashlib import blake2b

from models.questions.types import Question


class ContentKeys:
    """Keys of one model revision. A key holds no threshold, label or name of a preset (CACHE-3)."""

    def __init__(self, revision: str) -> None:
        self._revision = blake2b(revision.encode(), digest_size=16).digest()

    def state(self, text: str) -> bytes:
        """16 bytes that name a state as this model revision reads it."""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=16, key=self._revision).digest()

    def question(self, question: Question) -> bytes:
        """16 bytes; a question about a state is named by the state's bytes and these."""
        return question.digest()
