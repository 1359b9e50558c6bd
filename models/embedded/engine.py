"""The model that ships with the project: MiniLM with trained decision layers (SRV-12, SRV-17).

Two encoders share their words: the frozen one reads the texts of questions, once per text; the
adapted one reads states, once per state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.cards.schema import Card
from models.embedded.asking import Asking, Assembled
from models.embedded.calibration import guards_chunks
from models.embedded.encoder import Encoder
from models.embedded.features import OCCURRENCES, SHAPES
from models.embedded.head import DecisionHead
from models.embedded.known_questions import KnownQuestions, Texts
from models.embedded.remembered import askings
from models.embedded.texts import marked
from models.embedded.tokenizer import ChunkTokenizer, Tokens, bounds
from models.engine import PreparedRow, RejectedInput, Row, Runtime
from models.questions.types import Answer, AnswerError, ErrorAnswer, NoulAnswer, Question

UNREAD_SHARE: Final = 0.2
"""Share of unread tokens above which a text counts as unread."""


@dataclass(frozen=True, slots=True)
class EmbeddedRow:
    """A prepared row. ``texts``: those of each question that is not assembled, tokenised, or
    ``None`` where they are too long. ``cost`` has no padding in it: the encoder packs it away."""

    row: Row
    state: Tokens
    texts: Mapping[Question, Texts | None]
    tokens: int
    cost: int
    bucket: int


@dataclass(frozen=True)
class Layers:
    """What computes: the ``frozen`` encoder, the ``adapted`` one, the ``head``."""

    frozen: Encoder
    adapted: Encoder
    head: DecisionHead

    @property
    def device(self) -> torch.device:
        return self.adapted.device


class EmbeddedEngine:
    """Conforms to ``models.engine.Engine`` and tells its ``runtime``."""

    def __init__(self, card: Card, layers: Layers, tokenizer: ChunkTokenizer) -> None:
        self.card = card
        self.runtime = Runtime(
            device=layers.device.type,
            dtype=str(layers.adapted.dtype).removeprefix("torch."),
            threads=torch.get_num_threads(),
        )
        self.layers = layers
        self.tokenizer = tokenizer
        self.known = KnownQuestions(card, layers.frozen, layers.head, tokenizer)
        self._askings = askings()

    def prepare(self, row: Row) -> EmbeddedRow:
        most = self.card.max_input_tokens
        state = self.tokenizer.state(row.state, most)
        if not state.complete:
            message = f"the state is longer than {most} tokens"
            raise RejectedInput(AnswerError.MAX_LENGTH_EXCEEDED, message)
        texts = self.known.unread(row.questions)
        cost = state.computed + self.known.cost(texts)
        cost += _asked(row.questions, state.count)
        return EmbeddedRow(row, state, texts, state.count, max(1, cost), state.bucket)

    @torch.inference_mode()
    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        mine = [row for row in rows if isinstance(row, EmbeddedRow)]
        if len(mine) != len(rows) or len({row.bucket for row in mine}) > 1:
            raise ValueError("a forward takes rows that this engine prepared, of one bucket")
        found = self.known.assembled([(row.row.questions, row.texts) for row in mine])
        answers: list[dict[Question, Answer]] = [self._errors(row, found) for row in mine]
        asked: dict[tuple[int, tuple[bytes, ...]], list[int]] = {}
        for i, row in enumerate(mine):
            open_questions = [q for q in row.row.questions if q not in answers[i]]
            if open_questions:
                key = tuple(dict.fromkeys(q.digest() for q in open_questions))
                asked.setdefault((len(row.state.chunks), key), []).append(i)
        if asked:
            self._ask(mine, asked, found, answers)
        return [
            tuple(given[question] for question in row.row.questions)
            for row, given in zip(mine, answers, strict=True)
        ]

    def _ask(
        self,
        rows: Sequence[EmbeddedRow],
        asked: Mapping[tuple[int, tuple[bytes, ...]], Sequence[int]],
        found: Mapping[Question, Assembled | ErrorAnswer],
        answers: Sequence[dict[Question, Answer]],
    ) -> None:
        """One forward of the encoder for all ``rows``, one of the head for those of equally many
        chunks that ask the same."""
        read = self.layers.adapted.read(*_padded([row.state for row in rows], rows[0].bucket))
        starts = np.cumsum([0, *(len(row.state.chunks) for row in rows)])
        by_digest = {q.digest(): a for q, a in found.items() if isinstance(a, Assembled)}
        for (chunks, digests), members in asked.items():
            asking = self._asking(digests, by_digest)
            part = read.at([starts[i] + j for i in members for j in range(chunks)])
            pooled = _mean(part.pooled(), chunks)
            states = [(rows[i].row.state, rows[i].state) for i in members]
            given = asking.answers(part.joined(chunks), pooled, states)
            for i, of_row in zip(members, given, strict=True):
                answers[i].update(zip((q.question for q in asking.questions), of_row, strict=True))
            guards = tuple(d for d in digests if guards_chunks(by_digest[d].question))
            if chunks > 1 and guards:
                alone = self._asking(guards, by_digest).answers(
                    part, part.pooled(), [state for state in states for _ in range(chunks)]
                )
                for at, i in enumerate(members):
                    for of_chunk in alone[at * chunks : (at + 1) * chunks]:
                        _raise(answers[i], self._asking(guards, by_digest), of_chunk)

    def asking(self, asked: Iterable[Question]) -> Asking:
        """What asks these questions together."""
        found = self.known.assembled([(list(asked), {})])
        return Asking(self.layers.head, [a for a in found.values() if isinstance(a, Assembled)])

    def _asking(self, digests: tuple[bytes, ...], known: Mapping[bytes, Assembled]) -> Asking:
        asking = self._askings.get(digests)
        if asking is None:
            asking = Asking(self.layers.head, [known[digest] for digest in digests])
            if all(digest in self.known for digest in digests):
                self._askings.put(digests, asking, asking.memory)
        return asking

    def _errors(
        self, row: EmbeddedRow, found: Mapping[Question, Assembled | ErrorAnswer]
    ) -> dict[Question, Answer]:
        errors: dict[Question, Answer] = {}
        unread = row.state.unread_share > UNREAD_SHARE
        for question in row.row.questions:
            of_question = found[question]
            if unread and question.guards:
                message = "most of the state is nothing that the model can read"
                errors[question] = ErrorAnswer(AnswerError.INVALID_INPUT, message)
            elif isinstance(of_question, ErrorAnswer):
                errors[question] = of_question
        return errors


def _raise(answers: dict[Question, Answer], asking: Asking, of_chunk: Sequence[Answer]) -> None:
    """A guard's answer about a state is at least that about each of its chunks."""
    for assembled, given in zip(asking.questions, of_chunk, strict=True):
        known = answers[assembled.question]
        if isinstance(known, NoulAnswer) and isinstance(given, NoulAnswer):
            answers[assembled.question] = max(known, given, key=lambda of: of.probability)


def _asked(questions: Iterable[Question], tokens: int) -> int:
    """What options cost in tokens encoded: the head computes about a sixth of a token for each,
    and a seven-thousandth for each token that it attends to."""
    options = sum(max(2, len(question.options)) for question in questions)
    return int(options * (0.18 + tokens / 7_000))


def _padded(
    states: Sequence[Tokens], bucket: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids, lengths and rows of the features' table of the states' chunks, in order."""
    ids, lengths = marked([chunk for state in states for chunk in state.chunks], bucket)
    features = np.zeros((*ids.shape, 3), dtype=np.int64)
    features[:, :, 1] = SHAPES
    features[:, :, 2] = SHAPES + OCCURRENCES
    at = 0
    for state in states:
        edges = bounds(state.count)
        for first, last in pairwise(edges):
            if state.layout is not None and last > first:
                found = (state.layout.shapes, state.layout.occurrences, state.layout.forms)
                for kind, values in enumerate(found):
                    features[at, 1 : last - first + 1, kind] += values[first:last]
            at += 1
    return ids, lengths, features


def _mean(pooled: Tensor, chunks: int) -> Tensor:
    """``(n, width)`` unit vectors of states from those of their chunks."""
    if chunks == 1:
        return pooled
    return torch.nn.functional.normalize(pooled.view(-1, chunks, pooled.shape[-1]).mean(1), dim=-1)
