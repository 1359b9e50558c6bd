"""The model that ships with the project: MiniLM and zero-shot scoring (SRV-12, SRV-17)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from sys import getsizeof
from typing import Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from models.cards.schema import Card
from models.embedded.dtype import choose
from models.embedded.encoder import Encoder
from models.embedded.files import verified_files
from models.embedded.remembered import scorers, vectors
from models.embedded.scoring import Scorer, Vectors, texts_of
from models.embedded.tokenizer import END, PAD, START, ChunkTokenizer, Tokens
from models.engine import PreparedRow, RejectedInput, Row, Runtime
from models.questions.types import Answer, AnswerError, ErrorAnswer, Question

UNKNOWN_SHARE: Final = 0.2
"""Share of unknown tokens above which a text counts as unread."""

FORWARD_TOKENS: Final = 8_192
"""Padded tokens of question texts encoded at a time, to bound memory."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddedRow:
    """A prepared row. ``texts``: those of each question that is not assembled, tokenised, or
    ``None`` where they are too long. ``cost`` has no padding in it: the encoder packs it away."""

    row: Row
    state: Tokens
    texts: Mapping[Question, Mapping[str, Tokens] | None]
    tokens: int
    cost: int
    bucket: int


class EmbeddedEngine:
    """Conforms to ``models.engine.Engine`` and tells its ``runtime``."""

    def __init__(self, card: Card, encoder: Encoder, tokenizer: ChunkTokenizer) -> None:
        self.card = card
        self.runtime = Runtime(
            device=encoder.device.type,
            dtype=str(encoder.dtype).removeprefix("torch."),
            threads=torch.get_num_threads(),
        )
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._vectors = vectors()
        self._scorers = scorers()
        background = json.loads(files(__package__).joinpath("background.json").read_bytes())
        texts = {t: tokenizer.tokens(t, card.max_input_tokens) for t in background["texts"]}
        self._background = np.stack(list(self._encoded(texts).values()))

    def prepare(self, row: Row) -> EmbeddedRow:
        most = self.card.max_input_tokens
        state = self._tokenizer.tokens(row.state, most)
        if not state.complete:
            message = f"the state is longer than {most} tokens"
            raise RejectedInput(AnswerError.MAX_LENGTH_EXCEEDED, message)
        texts = {
            question: self._tokens_of(question)
            for question in row.questions
            if question.type in self.card.question_types and question.digest() not in self._scorers
        }
        new = {
            text: tokens
            for of_question in texts.values()
            for text, tokens in (of_question or {}).items()
            if text not in self._vectors
        }
        cost = sum(tokens.computed for tokens in (state, *new.values()))
        return EmbeddedRow(row, state, texts, state.count, max(1, cost), state.bucket)

    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        mine = [row for row in rows if isinstance(row, EmbeddedRow)]
        if len(mine) != len(rows) or len({row.bucket for row in mine}) > 1:
            raise ValueError("a forward takes rows that this engine prepared, of one bucket")
        scorers = self._scorers_of(mine)
        chunks = [chunk for row in mine for chunk in row.state.chunks]
        vectors = self._encode(chunks, mine[0].bucket)
        answers = []
        start = 0
        for row in mine:
            end = start + len(row.state.chunks)
            answers.append(self._answers(row, vectors[start:end], scorers))
            start = end
        return answers

    def _answers(
        self, row: EmbeddedRow, chunks: Vectors, scorers: Mapping[Question, Scorer | ErrorAnswer]
    ) -> tuple[Answer, ...]:
        unread = row.state.unknown_share > UNKNOWN_SHARE
        answers: list[Answer] = []
        for question in row.row.questions:
            scorer = scorers[question]
            if unread and question.guards:
                message = "most of the state is in a script that the model does not read"
                answers.append(ErrorAnswer(AnswerError.INVALID_INPUT, message))
            elif isinstance(scorer, ErrorAnswer):
                answers.append(scorer)
            else:
                answers.append(scorer.answer(chunks))
        return tuple(answers)

    def _tokens_of(self, question: Question) -> dict[str, Tokens] | None:
        """The question's texts, tokenised, or ``None`` if they have together more tokens than
        the model reads: their vectors are computed in one forward (SRV-6). An empty text and one
        that stands there again count as a token, for each place has a vector of its own."""
        texts: dict[str, Tokens] = {}
        left = self.card.max_input_tokens
        for text in texts_of(question):
            new = text not in texts
            if new:
                texts[text] = self._tokenizer.tokens(text, left)
            left -= max(1, texts[text].count) if new else 1
            if left < 0:
                return None
        return texts

    def _scorers_of(self, rows: Iterable[EmbeddedRow]) -> dict[Question, Scorer | ErrorAnswer]:
        found: dict[Question, Scorer | ErrorAnswer] = {}
        new: dict[Question, Mapping[str, Tokens]] = {}
        for row in rows:
            for question in row.row.questions:
                if question in found or question in new:
                    continue
                if question.type not in self.card.question_types:
                    message = f"this model answers no {question.type} question"
                    found[question] = ErrorAnswer(AnswerError.INVALID_QUESTION, message)
                elif (scorer := self._scorers.get(question.digest())) is not None:
                    found[question] = scorer
                else:
                    known = question in row.texts
                    texts = row.texts[question] if known else self._tokens_of(question)
                    if texts is None:
                        most = self.card.max_input_tokens
                        message = f"the texts of the question are longer than {most} tokens"
                        found[question] = ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED, message)
                    else:
                        new[question] = texts
        found.update(self._assembled(new))
        return found

    def _assembled(
        self, questions: Mapping[Question, Mapping[str, Tokens]]
    ) -> dict[Question, Scorer]:
        texts = {t: tokens for of_one in questions.values() for t, tokens in of_one.items()}
        vectors = self._encoded(texts)
        assembled: dict[Question, Scorer] = {}
        for question in questions:
            scorer = Scorer(question, vectors.__getitem__, self._background)
            self._scorers.put(question.digest(), scorer, scorer.memory)
            assembled[question] = scorer
        return assembled

    def _encoded(self, texts: Mapping[str, Tokens]) -> dict[str, Vectors]:
        """Text -> vector, the mean direction of its chunks, from the cache or encoded now."""
        vectors: dict[str, Vectors] = {}
        by_bucket: dict[int, dict[str, Tokens]] = {}
        for text, tokens in texts.items():
            if (known := self._vectors.get(text)) is not None:
                vectors[text] = known
            else:
                by_bucket.setdefault(tokens.bucket, {})[text] = tokens
        for bucket, batch in by_bucket.items():
            chunks = [chunk for tokens in batch.values() for chunk in tokens.chunks]
            step = max(1, FORWARD_TOKENS // bucket)
            parts = [
                self._encode(chunks[i : i + step], bucket) for i in range(0, len(chunks), step)
            ]
            encoded = np.concatenate(parts)
            start = 0
            for text, tokens in batch.items():
                mean = encoded[start : start + len(tokens.chunks)].mean(axis=0)
                start += len(tokens.chunks)
                vectors[text] = mean / np.linalg.norm(mean)
                size = getsizeof(text) + getsizeof(vectors[text])
                self._vectors.put(text, vectors[text], size)
        return vectors

    def _encode(self, chunks: Sequence[tuple[int, ...]], bucket: int) -> Vectors:
        ids: NDArray[np.int64] = np.full((len(chunks), bucket), PAD, dtype=np.int64)
        lengths = np.empty(len(chunks), dtype=np.int64)
        for i, chunk in enumerate(chunks):
            ids[i, : len(chunk) + 2] = (START, *chunk, END)
            lengths[i] = len(chunk) + 2
        return self._encoder.encode(ids, lengths)


def load(
    card: Card,
    *,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int | None = None,
    dtype: Literal["auto", "float32", "bfloat16"] = "auto",
) -> EmbeddedEngine:
    """The engine of ``card``, its files checked first.

    ``threads`` of one forward on a CPU is a setting of the whole process. Raises
    ``ModelFileMismatch``, or ``RuntimeError`` where the package, the device or the dtype is not
    to be had.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("no CUDA device is available")
    paths = verified_files(card.sha256)
    weights = load_file(paths["model.safetensors"])
    encoder = choose(weights, torch.device(device), dtype)
    tokenizer = ChunkTokenizer(paths["tokenizer.json"])
    engine = EmbeddedEngine(card, encoder, tokenizer)
    _log.info("loaded %s on %s in %s", card.name, device, engine.runtime.dtype)
    return engine
