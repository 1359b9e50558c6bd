"""The questions of a row, ready for states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.embedded.calibration import Calibration
from models.embedded.described import Described, queries_of
from models.embedded.encoder import TokenVectors
from models.embedded.head import DecisionHead, Queries
from models.embedded.odds import probability
from models.embedded.spans import spans_of
from models.embedded.tokenizer import Tokens, bounds
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)

_ATTENDED: Final = 2**22
"""Most options times tokens that attend at a time: 100 MB of scores."""

_COMPUTED: Final = 2**12
"""Most options times states at a time: 130 MB of features."""

_ALTERNATIVES: Final = 2**18
"""Most options times alternatives side by side: 11 MB."""


@dataclass(frozen=True)
class Assembled:
    """A question as the head asks it: ``queries`` is ``(1, o, width)``."""

    question: Question
    described: Described
    queries: Tensor
    temperature: float

    @property
    def memory(self) -> int:
        """Bytes that it takes, with its question."""
        d = self.described
        arrays = (d.option, d.instructions, d.kind, d.learned, d.place, d.elements, d.spans)
        tensors = sum(array.nbytes for array in arrays) + self.queries.nbytes
        return tensors + self.question.memory + 2048


def assemble(
    head: DecisionHead, question: Question, described: Described, calibration: Calibration
) -> Assembled:
    asked = queries_of([[described]], _device(head))
    return Assembled(question, described, head.queries(asked), calibration.temperature(question))


class Asking:
    """Questions that are asked of a state together. Each is answered on its own (S1-4): they share
    the work, and nothing else."""

    def __init__(self, head: DecisionHead, questions: Sequence[Assembled]) -> None:
        self._head = head
        self.questions = tuple(questions)
        self._parts = tuple(_Part(head, part) for part in _parts(questions))

    @property
    def memory(self) -> int:
        """Bytes that it takes, with the questions that it holds."""
        return sum(part.memory for part in self._parts) + sum(q.memory for q in self.questions)

    def answers(
        self, read: TokenVectors, pooled: Tensor, states: Sequence[tuple[str, Tokens]]
    ) -> list[tuple[Answer, ...]]:
        """The answers about ``n`` states of equally many chunks: ``read`` their tokens side by
        side, ``pooled`` ``(n, width)``, ``states`` each one's text and tokens."""
        given: list[list[Answer]] = [[] for _ in states]
        for part in self._parts:
            logits = part.logits(read, pooled)
            for asked, columns in part.asked:
                for row, (text, tokens) in enumerate(states):
                    if asked.question.type is QuestionType.SPAN:
                        of = self._spans(asked, read.at([row]), text, tokens)
                    else:
                        of = _answer(asked, logits[row, columns])
                    given[row].append(of)
        return [tuple(answers) for answers in given]

    def probabilities(self, read: TokenVectors, pooled: Tensor) -> NDArray[np.float64]:
        """``(n, options)``: of every option as if it were one of a set."""
        logits = np.concatenate([part.logits(read, pooled) for part in self._parts], 1)
        odds: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
        return odds

    def _tags(self, asked: Assembled, read: TokenVectors) -> NDArray[np.float32]:
        scores = self._head.span_logits(read.vectors, asked.queries) / asked.temperature
        tags: NDArray[np.float32] = scores.log_softmax(-1)[0].cpu().numpy()
        return tags

    def _spans(self, asked: Assembled, read: TokenVectors, text: str, tokens: Tokens) -> Answer:
        layout = tokens.layout
        if layout is None or not tokens.count:
            return SpanAnswer(())
        tags = self._tags(asked, read)
        padded = len(tags) // len(tokens.chunks)
        kept = np.concatenate(
            [
                np.arange(last - first) + 1 + i * padded
                for i, (first, last) in enumerate(pairwise(bounds(tokens.count)))
            ]
        )
        labels = [option.key for option in asked.question.options]
        return SpanAnswer(spans_of(tags[kept], layout, labels, text))


class _Part:
    """Some questions whose options are computed side by side."""

    def __init__(self, head: DecisionHead, questions: Sequence[Assembled]) -> None:
        self._head = head
        starts = (0, *accumulate(len(q.described.kind) for q in questions))
        self.asked = tuple(zip(questions, (slice(*at) for at in pairwise(starts)), strict=True))
        self._silent = all(q.question.type is QuestionType.SPAN for q in questions)
        self._asked = queries_of([[q.described for q in questions]], _device(head))
        self._queries = torch.cat([q.queries for q in questions], 1)

    @property
    def memory(self) -> int:
        asked = self._asked
        tensors = (asked.option, asked.instructions, asked.kind, asked.learned, asked.place)
        return sum(t.nbytes for t in (*tensors, asked.members, asked.elements, self._queries))

    def logits(self, read: TokenVectors, pooled: Tensor) -> NDArray[np.float64]:
        """``(n, options)``; zeros where all of them are labels of spans."""
        n, t = read.mask.shape
        total = self._queries.shape[1]
        if self._silent:
            return np.zeros((n, total))
        step = max(1, min(_ATTENDED // (n * t), _COMPUTED // n))
        computed = []
        for start in range(0, total, step):
            end = min(start + step, total)
            asked = _slice(self._asked, start, end, n)
            queries = self._queries[:, start:end].expand(n, -1, -1)
            computed.append(self._head.logits(read.vectors, read.mask, pooled, asked, queries))
        logits: NDArray[np.float64] = torch.cat(computed, 1).cpu().numpy().astype(np.float64)
        return logits


def _parts(questions: Sequence[Assembled]) -> Iterator[list[Assembled]]:
    """Questions in order, so many that their options times the most alternatives of one of them,
    to which they are padded, stay within ``_ALTERNATIVES``; or a single question."""
    part: list[Assembled] = []
    options = most = 0
    for question in questions:
        spans = question.described.spans
        options += len(spans)
        most = max(most, int(spans[:, 1].max(initial=1)))
        if part and options * most > _ALTERNATIVES:
            yield part
            part, options, most = [], len(spans), int(spans[:, 1].max(initial=1))
        part.append(question)
    if part:
        yield part


def _answer(asked: Assembled, row: NDArray[np.float64]) -> Answer:
    logits = row / asked.temperature
    keys = tuple(option.key for option in asked.question.options)
    match asked.question.type:
        case QuestionType.NOUL:
            return NoulAnswer(probability(float(logits[0] - logits[1])))
        case QuestionType.SET:
            return SetAnswer(keys, tuple(probability(x) for x in logits.tolist()))
        case QuestionType.SCORE:
            levels = tuple(option.text or option.key for option in asked.question.options)
            return ScoreAnswer(levels, _softmax(logits))
        case _:
            return ChoiceAnswer(keys, _softmax(logits))


def _slice(asked: Queries, start: int, end: int, n: int) -> Queries:
    def part(tensor: Tensor) -> Tensor:
        return tensor[:, start:end].expand(n, *[-1] * (tensor.dim() - 1))

    return Queries(
        part(asked.option),
        part(asked.instructions),
        part(asked.kind),
        part(asked.learned),
        part(asked.place),
        asked.elements,
        part(asked.members),
    )


def _device(head: DecisionHead) -> torch.device:
    return head.bias.weight.device


def _softmax(logits: NDArray[np.float64]) -> tuple[float, ...]:
    weights = np.exp(logits - logits.max())
    return tuple((weights / weights.sum()).tolist())
