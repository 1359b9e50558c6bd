"""The model that ships with the project: MiniLM with trained decision layers (SRV-12, SRV-17).

Two encoders share their words: the frozen one reads the texts of questions, once per text; the
adapted one reads states, once per state.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from sys import getsizeof
from typing import Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from models.cards.digest import verify
from models.cards.schema import Card
from models.embedded import weights
from models.embedded.asking import Asking, Assembled, assemble
from models.embedded.calibration import Calibration, guards_chunks
from models.embedded.described import describe, texts_of
from models.embedded.dtype import batch_dependence, choose
from models.embedded.encoder import Encoder
from models.embedded.features import OCCURRENCES, SHAPES
from models.embedded.files import encoder_files
from models.embedded.head import DecisionHead
from models.embedded.remembered import KEPT_CHARACTERS, Vectors, askings, questions, vectors
from models.embedded.tokenizer import END, PAD, START, ChunkTokenizer, Tokens, bounds
from models.engine import PreparedRow, RejectedInput, Row, Runtime
from models.questions.presets import preset_question
from models.questions.types import Answer, AnswerError, ErrorAnswer, NoulAnswer, Question

UNREAD_SHARE: Final = 0.2
"""Share of unread tokens above which a text counts as unread."""

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
        self._calibration = Calibration(card.temperatures)
        self._vectors = vectors()
        self._questions = questions()
        self._askings = askings()

    def prepare(self, row: Row) -> EmbeddedRow:
        most = self.card.max_input_tokens
        state = self.tokenizer.state(row.state, most)
        if not state.complete:
            message = f"the state is longer than {most} tokens"
            raise RejectedInput(AnswerError.MAX_LENGTH_EXCEEDED, message)
        texts = {
            question: self._tokens_of(question)
            for question in row.questions
            if question.type in self.card.question_types
            and question.digest() not in self._questions
        }
        new = {
            text: tokens
            for of_question in texts.values()
            for text, tokens in (of_question or {}).items()
            if text not in self._vectors
        }
        cost = sum(tokens.computed for tokens in (state, *new.values()))
        cost += _asked(row.questions, state.count)
        return EmbeddedRow(row, state, texts, state.count, max(1, cost), state.bucket)

    @torch.inference_mode()
    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        mine = [row for row in rows if isinstance(row, EmbeddedRow)]
        if len(mine) != len(rows) or len({row.bucket for row in mine}) > 1:
            raise ValueError("a forward takes rows that this engine prepared, of one bucket")
        found = self._assembled_of(mine)
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
        assembled = self._assembled(
            {question: self._tokens_of(question) or {} for question in asked}
        )
        return Asking(self.layers.head, list(assembled.values()))

    def _asking(self, digests: tuple[bytes, ...], known: Mapping[bytes, Assembled]) -> Asking:
        asking = self._askings.get(digests)
        if asking is None:
            asking = Asking(self.layers.head, [known[digest] for digest in digests])
            if all(digest in self._questions for digest in digests):
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

    def _tokens_of(self, question: Question) -> dict[str, Tokens] | None:
        """The question's texts, tokenised, or ``None`` if they have together more tokens than
        the model reads: their vectors are computed in one forward (SRV-6). An empty text and one
        that stands there again count as a token, for each place has a vector of its own."""
        texts: dict[str, Tokens] = {}
        left = self.card.max_input_tokens
        for text in texts_of(question):
            new = text not in texts
            if new:
                texts[text] = self.tokenizer.tokens(text, left)
            left -= max(1, texts[text].count) if new else 1
            if left < 0:
                return None
        return texts

    def _assembled_of(self, rows: Iterable[EmbeddedRow]) -> dict[Question, Assembled | ErrorAnswer]:
        found: dict[Question, Assembled | ErrorAnswer] = {}
        new: dict[Question, Mapping[str, Tokens]] = {}
        for row in rows:
            for question in row.row.questions:
                if question in found or question in new:
                    continue
                if question.type not in self.card.question_types:
                    message = f"this model answers no {question.type} question"
                    found[question] = ErrorAnswer(AnswerError.INVALID_QUESTION, message)
                elif (known := self._questions.get(question.digest())) is not None:
                    found[question] = known
                else:
                    listed = question in row.texts
                    texts = row.texts[question] if listed else self._tokens_of(question)
                    if texts is None:
                        most = self.card.max_input_tokens
                        message = f"the texts of the question are longer than {most} tokens"
                        found[question] = ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED, message)
                    else:
                        new[question] = texts
        found.update(self._assembled(new))
        return found

    def _assembled(
        self, asked: Mapping[Question, Mapping[str, Tokens]]
    ) -> dict[Question, Assembled]:
        texts = {t: tokens for of_one in asked.values() for t, tokens in of_one.items()}
        encoded = self._encoded(texts)
        assembled: dict[Question, Assembled] = {}
        for question in asked:
            described = describe(question, encoded.__getitem__)
            one = assemble(self.layers.head, question, described, self._calibration)
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
            for text, vector in encoded(self.layers.frozen, batch, bucket).items():
                known[text] = vector
                self._vectors.put(text, vector, getsizeof(text) + getsizeof(vector))
        return known


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


def encoded(encoder: Encoder, texts: Mapping[str, Tokens], bucket: int) -> dict[str, Vectors]:
    """Text -> the mean direction of its chunks, of texts of one bucket."""
    chunks = [chunk for tokens in texts.values() for chunk in tokens.chunks]
    step = max(1, FORWARD_TOKENS // bucket)
    parts = [
        encoder.encode(*marked(chunks[i : i + step], bucket)) for i in range(0, len(chunks), step)
    ]
    together = np.concatenate(parts)
    vectors: dict[str, Vectors] = {}
    start = 0
    for text, tokens in texts.items():
        mean = together[start : start + len(tokens.chunks)].mean(axis=0)
        start += len(tokens.chunks)
        vectors[text] = mean / np.linalg.norm(mean)
    return vectors


def marked(
    chunks: Sequence[tuple[int, ...]], bucket: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(n, bucket)`` ids with their marks, and lengths."""
    ids: NDArray[np.int64] = np.full((len(chunks), bucket), PAD, dtype=np.int64)
    lengths = np.empty(len(chunks), dtype=np.int64)
    for i, chunk in enumerate(chunks):
        ids[i, : len(chunk) + 2] = (START, *chunk, END)
        lengths[i] = len(chunk) + 2
    return ids, lengths


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
    verify(weights.PATH, card.sha256[weights.FILE])
    engine = assembled_engine(card, weights.load(), device=torch.device(device), dtype=dtype)
    _log.info("loaded %s on %s in %s", card.name, device, engine.runtime.dtype)
    return engine


def assembled_engine(
    card: Card,
    trained: weights.Trained,
    *,
    device: torch.device | None = None,
    dtype: Literal["auto", "float32", "bfloat16"] = "auto",
) -> EmbeddedEngine:
    """The engine of ``trained`` layers on the encoder that ``card`` names."""
    place = device or torch.device("cpu")
    paths = encoder_files(card.sha256)
    base = load_file(paths["model.safetensors"])
    head = trained.head.to(place)

    def layers(number_format: torch.dtype) -> Layers:
        frozen = Encoder(base, place, number_format)
        adapted = Encoder(trained.adapted(base), place, number_format, trained.features, frozen)
        return Layers(frozen, adapted, head)

    tokenizer = ChunkTokenizer(paths["tokenizer.json"])

    def dependence(candidate: Layers) -> float:
        return _dependence(EmbeddedEngine(card, candidate, tokenizer))

    return EmbeddedEngine(card, choose(layers, place, dtype, dependence), tokenizer)


def _dependence(engine: EmbeddedEngine) -> float:
    """How far the answers to the request's guards move with the batch of their state."""
    asking = engine.asking(preset_question(name) for name in ("jailbreak", "domain"))

    def probabilities(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        read = engine.layers.adapted.read(ids, lengths)
        return asking.probabilities(read, read.pooled())

    return batch_dependence(probabilities)
