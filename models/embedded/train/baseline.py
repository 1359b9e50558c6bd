"""The frozen encoder's cosines as an engine: what every trained figure stands beside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import torch
from safetensors.torch import load_file

from models.cards.schema import Card
from models.embedded.encoder import Encoder
from models.embedded.files import encoder_files
from models.embedded.texts import encoded, marked
from models.embedded.tokenizer import ChunkTokenizer, Tokens
from models.embedded.train.zero_shot import Scorer, Vectors, texts_of
from models.engine import PreparedRow, Row
from models.questions.types import Answer, Question, QuestionType, SpanAnswer


@dataclass(frozen=True, slots=True)
class BaselineRow:
    row: Row
    state: Tokens
    tokens: int
    cost: int
    bucket: int


class BaselineEngine:
    """Conforms to ``models.engine.Engine``. It finds no spans."""

    def __init__(self, card: Card) -> None:
        self.card = card
        paths = encoder_files(card.sha256)
        device = torch.device("cpu")
        self._encoder = Encoder(load_file(paths["model.safetensors"]), device, torch.float32)
        self._tokenizer = ChunkTokenizer(paths["tokenizer.json"])
        self._vectors: dict[str, Vectors] = {}
        background = json.loads(files(__package__).joinpath("background.json").read_bytes())
        self._background = np.stack([self._vector(text) for text in background["texts"]])
        self._scorers: dict[bytes, Scorer] = {}

    def prepare(self, row: Row) -> BaselineRow:
        state = self._tokenizer.state(row.state, self.card.max_input_tokens)
        return BaselineRow(row, state, state.count, max(1, state.count), state.bucket)

    def forward(self, rows: Sequence[PreparedRow]) -> list[tuple[Answer, ...]]:
        answers: list[tuple[Answer, ...]] = []
        for row in rows:
            assert isinstance(row, BaselineRow)
            chunks = self._encoder.encode(*marked(row.state.chunks, row.bucket))
            answers.append(tuple(self._answer(question, chunks) for question in row.row.questions))
        return answers

    def _answer(self, question: Question, chunks: Vectors) -> Answer:
        if question.type is QuestionType.SPAN:
            return SpanAnswer(())
        digest = question.digest()
        if digest not in self._scorers:
            for text in texts_of(question):
                self._vector(text)
            self._scorers[digest] = Scorer(question, self._vectors.__getitem__, self._background)
        return self._scorers[digest].answer(chunks)

    def _vector(self, text: str) -> Vectors:
        if text not in self._vectors:
            tokens = self._tokenizer.tokens(text, self.card.max_input_tokens)
            self._vectors.update(encoded(self._encoder, {text: tokens}, tokens.bucket))
        return self._vectors[text]
