"""The questions that an engine was asked: texts encoded once, questions assembled once (COST-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import getsizeof

from models.cards.schema import Card
from models.embedded.asking import Assembled, assemble
from models.embedded.calibration import Calibration
from models.embedded.described import describe, texts_of
from models.embedded.encoder import Encoder
from models.embedded.head import DecisionHead
from models.embedded.remembered import KEPT_CHARACTERS, questions, vectors
from models.embedded.texts import Vectors, encoded
from models.embedded.tokenizer import ChunkTokenizer, Tokens
from models.questions.types import AnswerError, ErrorAnswer, Question

Texts = Mapping[str, Tokens]


class KnownQuestions:
    """``frozen`` encodes the texts of questions, ``head`` makes queries of them."""

    def __init__(
        self, card: Card, frozen: Encoder, head: DecisionHead, tokenizer: ChunkTokenizer
    ) -> None:
        self._card = card
        self._frozen = frozen
        self._head = head
        self._tokenizer = tokenizer
        self._calibration = Calibration(card.temperatures)
        self._vectors = vectors()
        self._questions = questions()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._questions

    def unread(self, asked: Iterable[Question]) -> dict[Question, Texts | None]:
        """The tokenised texts of those that are not assembled, ``None`` where they are too long."""
        return {
            question: self.texts(question)
            for question in asked
            if question.type in self._card.question_types and question.digest() not in self
        }

    def cost(self, unread: Mapping[Question, Texts | None]) -> int:
        """Tokens to encode for them."""
        new = {
            text: tokens
            for texts in unread.values()
            for text, tokens in (texts or {}).items()
            if text not in self._vectors
        }
        return sum(tokens.computed for tokens in new.values())

    def texts(self, question: Question) -> dict[str, Tokens] | None:
        """The question's texts, tokenised, or ``None`` if they have together more tokens than
        the model reads: their vectors are computed in one forward (SRV-6). An empty text and one
        that stands there again count as a token, for each place has a vector of its own."""
        texts: dict[str, Tokens] = {}
        left = self._card.max_input_tokens
        for text in texts_of(question):
            new = text not in texts
            if new:
                texts[text] = self._tokenizer.tokens(text, left)
            left -= max(1, texts[text].count) if new else 1
            if left < 0:
                return None
        return texts

    def assembled(
        self, rows: Iterable[tuple[Iterable[Question], Mapping[Question, Texts | None]]]
    ) -> dict[Question, Assembled | ErrorAnswer]:
        """The questions of ``rows`` assembled, or why one cannot be. Beside a row's questions: what
        ``unread`` gave of them; a question that has been forgotten since is read again."""
        found: dict[Question, Assembled | ErrorAnswer] = {}
        new: dict[Question, Texts] = {}
        for questions_of_row, unread in rows:
            for question in questions_of_row:
                if question in found or question in new:
                    continue
                if question.type not in self._card.question_types:
                    message = f"this model answers no {question.type} question"
                    found[question] = ErrorAnswer(AnswerError.INVALID_QUESTION, message)
                elif (known := self._questions.get(question.digest())) is not None:
                    found[question] = known
                else:
                    texts = unread[question] if question in unread else self.texts(question)
                    if texts is None:
                        most = self._card.max_input_tokens
                        message = f"the texts of the question are longer than {most} tokens"
                        found[question] = ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED, message)
                    else:
                        new[question] = texts
        found.update(self._assemble(new))
        return found

    def _assemble(self, asked: Mapping[Question, Texts]) -> dict[Question, Assembled]:
        texts = {t: tokens for of_one in asked.values() for t, tokens in of_one.items()}
        encoded = self._encoded(texts)
        assembled: dict[Question, Assembled] = {}
        for question in asked:
            described = describe(question, encoded.__getitem__)
            one = assemble(self._head, question, described, self._calibration)
            if question.characters <= KEPT_CHARACTERS:
                self._questions.put(question.digest(), one, one.memory)
            assembled[question] = one
        return assembled

    def _encoded(self, texts: Mapping[str, Tokens]) -> dict[str, Vectors]:
        """Text -> vector, the mean direction of its chunks, from the cache or encoded now."""
        known: dict[str, Vectors] = {}
        by_bucket: dict[int, dict[str, Tokens]] = {}
        for text, tokens in texts.items():
            if (vector := self._vectors.get(text)) is not None:
                known[text] = vector
            else:
                by_bucket.setdefault(tokens.bucket, {})[text] = tokens
        for bucket, batch in by_bucket.items():
            for text, vector in encoded(self._frozen, batch, bucket).items():
                known[text] = vector
                self._vectors.put(text, vector, getsizeof(text) + getsizeof(vector))
        return known
