"""The training loop: authored items, altered and reworded anew in every epoch."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from models.embedded.described import Described, describe, texts_of
from models.embedded.encoder import Encoder
from models.embedded.texts import Vectors, encoded, marked
from models.embedded.tokenizer import ChunkTokenizer, Tokens, bucket_of
from models.embedded.train.altering import Altering
from models.embedded.train.batches import Ask, Prepared, batch_of
from models.embedded.train.encoder import frozen_dtype
from models.embedded.train.examples import example_of
from models.embedded.train.forms import reworded
from models.embedded.train.hard_negatives import hardest
from models.embedded.train.long import GUARDS, ROWS, Fillers, guarded, long_batches, ordinary
from models.embedded.train.model import DecisionModel
from models.embedded.train.within import Within
from models.questions.presets import preset_question
from models.questions.types import Question, QuestionType

MOST_TOKENS: Final = 9_216
PIECE: Final = 240
"""Tokens of a piece of an ordinary text: not quite a chunk, since a cut may make more of them."""

ANCHORS: Final = 64  # states encoded at a time
SPANS: Final = frozenset({"pii", "hallucination", "free.span"})

_log = logging.getLogger(__name__)

Item = tuple[str, Mapping[str, Any]]
"""A brief's name and an authored item."""


@dataclass(frozen=True)
class Settings:
    """``spans_again``: how often span items are read once more in an epoch,
    ``personal_again``: those of personal data, whose values are new each time; ``reworded``: the
    share of a preset's labels that are asked in other words too; ``free``: most questions of no
    preset about an item in an epoch; ``within``, ``within_harmless``: the shares of guarded texts
    that match and that do not which are read in the middle of an ordinary text too; ``plain``: how
    many pieces of ordinary text are read beside each that matches and stands in one, half of them
    the likeliest of ``drawn`` times as many to be taken for a match; ``long``: the
    share of guarded items that are read among ``fillers`` ordinary chunks, beside ``ordinary``
    chunks alone."""

    epochs: int = 4
    batch: int = 24
    rank: int = 24
    encoder_rate: float = 6e-4
    head_rate: float = 4e-4
    weight_decay: float = 0.02
    dropout: float = 0.1
    warm_up: int = 60
    averaged: float = 0.998
    spans_again: int = 1
    personal_again: int = 1
    long: float = 0.12
    ordinary: int = 100
    fillers: int = 96
    reworded: float = 0.35
    free: int = 6
    within: float = 0.8
    within_harmless: float = 0.1
    plain: float = 1.2
    drawn: int = 3
    seed: int = 1


class Reader:
    """Tokenises states and describes questions by the frozen encoder, each text once."""

    def __init__(self, tokenizer: ChunkTokenizer, frozen: Encoder) -> None:
        self._tokenizer = tokenizer
        self._frozen = frozen
        self._vectors: dict[str, Vectors] = {}
        self.described: dict[bytes, Described] = {}

    def prepared(
        self, brief: str, item: Mapping[str, Any], asks: Sequence[Ask] | None = None
    ) -> Prepared:
        example = example_of(brief, item)
        own = asks or [Ask(a.name, a.question, a.truth) for a in example.asked]
        return Prepared(brief, self._tokenizer.state(example.state, MOST_TOKENS), tuple(own))

    def tokens(self, text: str) -> Tokens:
        return self._tokenizer.state(text, MOST_TOKENS)

    def count(self, text: str) -> int:
        return self.tokens(text).count

    def chunks(self, text: str) -> list[Tokens]:
        """``text`` in pieces of one chunk each, however many characters that is."""
        layout = self._tokenizer.state(text, MOST_TOKENS).layout
        if layout is None:
            return []
        words = np.flatnonzero(~layout.continues)
        pieces = []
        first = 0
        while first < len(layout.starts):
            later = words[(words > first) & (words <= first + PIECE)]
            rest = len(layout.starts) - first <= PIECE or not len(later)
            last = len(layout.starts) if rest else int(later[-1])
            pieces.append(text[layout.starts[first] : layout.ends[last - 1]])
            first = last
        read = [self._tokenizer.state(piece, MOST_TOKENS) for piece in pieces]
        return [tokens for tokens in read if tokens.complete and len(tokens.chunks) == 1]

    def anchored(self, rows: Sequence[Prepared]) -> list[Prepared]:
        """``rows`` with the frozen encoder's vectors of their first chunks."""
        by_bucket: dict[int, list[int]] = {}
        for i, row in enumerate(rows):
            by_bucket.setdefault(bucket_of(len(row.tokens.chunks[0])), []).append(i)
        found = list(rows)
        for bucket, members in by_bucket.items():
            for start in range(0, len(members), ANCHORS):
                part = members[start : start + ANCHORS]
                chunks = [rows[i].tokens.chunks[0] for i in part]
                vectors = self._frozen.encode(*marked(chunks, bucket))
                for i, vector in zip(part, vectors, strict=True):
                    found[i] = replace(rows[i], anchor=vector)
        return found

    def describe(self, asked: Sequence[Question]) -> None:
        """Makes ``described`` know these questions."""
        new = {q.digest(): q for q in asked if q.digest() not in self.described}
        texts = {t for q in new.values() for t in texts_of(q)} - self._vectors.keys()
        by_bucket: dict[int, dict[str, Any]] = {}
        for text in sorted(texts):
            tokens = self._tokenizer.tokens(text, MOST_TOKENS)
            by_bucket.setdefault(tokens.bucket, {})[text] = tokens
        for bucket, batch in by_bucket.items():
            self._vectors.update(encoded(self._frozen, batch, bucket))
        for digest, question in new.items():
            self.described[digest] = describe(question, self._vectors.__getitem__)


def fit(
    weights: Mapping[str, Tensor],
    items: Sequence[Item],
    texts: Sequence[str],
    reader: Reader,
    settings: Settings,
) -> DecisionModel:
    """The model trained on ``items`` and on ordinary ``texts``: the average of its weights."""
    torch.manual_seed(settings.seed)
    rng = Random(settings.seed)
    model = DecisionModel(weights, settings.rank, settings.dropout, frozen_dtype())
    model.train()
    averaged = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    chunks = [chunk for text in texts for chunk in reader.chunks(text)]
    fillers = Fillers(chunks)
    within = Within(texts, reader.count, rng)
    scale = _weights(items, reader)
    again = [item for item in items if _has_spans(item[1])] * settings.spans_again
    again += [item for item in items if "pii" in item[1].get("ask", ())] * settings.personal_again
    mixed = _within(items, within, settings, rng)
    count = int(sum(map(_matches, (item for _, item in mixed))) * settings.plain)
    per_epoch = math.ceil((len(items) + len(again) + len(mixed) + count) / settings.batch)
    total = per_epoch * settings.epochs
    optimizer = torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": settings.encoder_rate},
            {"params": model.head.parameters(), "lr": settings.head_rate},
        ],
        weight_decay=settings.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step, total, settings.warm_up)
    )
    began = time.monotonic()
    step = 0

    def descend(loss: Tensor) -> None:
        nonlocal step
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        _average(averaged, model.state_dict(), min(settings.averaged, (1 + step) / (10 + step)))

    for epoch in range(settings.epochs):
        mixed = _within(items, within, settings, rng) if epoch else mixed
        plain = plain_items(count, within, model, reader, settings.drawn if epoch else 1)
        rows = _epoch([*items, *again, *mixed, *plain], reader, scale, settings, rng)
        reader.describe([ask.question for row in rows for ask in row.asks])
        rows = reader.anchored(rows)
        lost = 0.0
        long = _long(rows, chunks, reader, settings, rng)
        if chunks:
            fillers.refresh(model, settings.fillers, rng)
        longs = long_batches(long, model, fillers, reader.described, rng)
        pause = max(1, per_epoch // max(1, len(long) // ROWS))
        for number, batch in enumerate(_batches(rows, settings.batch, rng)):
            loss = model.loss(batch_of(batch, reader.described))
            descend(loss)
            schedule.step()
            lost += float(loss.detach()) * len(batch)
            if number % pause == 0 and (of_long := next(longs, None)) is not None:
                descend(of_long)
        minutes = (time.monotonic() - began) / 60
        _log.info("epoch %d: loss %.4f, %.1f min", epoch + 1, lost / len(rows), minutes)
    model.load_state_dict(averaged)
    model.eval()
    return model


def _epoch(
    items: Sequence[Item],
    reader: Reader,
    scale: Mapping[str, float],
    settings: Settings,
    rng: Random,
) -> list[Prepared]:
    altering = Altering(rng, [item["tools"] for _, item in items if item.get("tools")])
    rows = []
    for brief, item in items:
        row = reader.prepared(brief, altering.altered(item))
        row = replace(row, asks=_some(row.asks, settings.free, rng))
        asks = [replace(ask, weight=scale.get(ask.name, 1.0)) for ask in row.asks]
        words = [reworded(ask, rng) for ask in asks if rng.random() < settings.reworded]
        rows.append(replace(row, asks=tuple([*asks, *(w for w in words if w not in asks)])))
    return rows


def _within(items: Sequence[Item], within: Within, settings: Settings, rng: Random) -> list[Item]:
    """Guarded items in the middle of ordinary texts, drawn anew."""
    found: list[Item] = []
    for brief, item in items:
        if rng.random() < (settings.within if _matches(item) else settings.within_harmless):
            placed = within.placed(item)
            if placed is not None:
                found.append((brief, placed))
    return found


def plain_items(
    count: int, within: Within, model: DecisionModel, reader: Reader, drawn: int
) -> list[Item]:
    """Pieces of ordinary text: half of them any, half the hardest of ``drawn`` times as many."""
    hard = count // 2
    pieces = [within.plain() for _ in range(count - hard + hard * drawn)]
    items = [("ordinary", piece) for piece in pieces if piece is not None]
    drawn_from = items[count - hard :]
    reader.describe([preset_question(name) for name in GUARDS])
    tokens = [reader.tokens(item["state"]) for _, item in drawn_from]
    chosen = hardest(tokens, hard, model, reader.described)
    return items[: count - hard] + [drawn_from[i] for i in chosen]


def _matches(item: Mapping[str, Any]) -> bool:
    ask = item.get("ask", {})
    return bool(ask.get("jailbreak") or ask.get("harm"))


def _some(asks: Sequence[Ask], most: int, rng: Random) -> tuple[Ask, ...]:
    """Those of presets, and ``most`` others."""
    free = [ask for ask in asks if ask.name.startswith("free.")]
    kept = free if len(free) <= most else rng.sample(free, most)
    return tuple([*(ask for ask in asks if not ask.name.startswith("free.")), *kept])


def _long(
    rows: Sequence[Prepared],
    chunks: Sequence[Tokens],
    reader: Reader,
    settings: Settings,
    rng: Random,
) -> list[Prepared]:
    """Guarded rows and ordinary chunks, to be read among fillers."""
    if not chunks:
        return []
    own = guarded(rows)
    plain = ordinary(rng.sample(list(chunks), min(settings.ordinary, len(chunks))), "ordinary")
    reader.describe([ask.question for row in plain[:1] for ask in row.asks])
    return rng.sample(own, int(len(own) * settings.long)) + plain


def _weights(items: Sequence[Item], reader: Reader) -> dict[str, float]:
    """Presets of few labels weigh more, by the root of how few: name -> weight of a label."""
    counts = Counter(ask.name for brief, item in items for ask in reader.prepared(brief, item).asks)
    middle = sorted(counts.values())[len(counts) // 2]
    return {
        name: (middle / count) ** 0.5 * (2.0 if name in SPANS else 1.0)
        for name, count in counts.items()
    }


def _has_spans(item: Mapping[str, Any]) -> bool:
    asked = {"pii", "hallucination"} & set(item.get("ask", ()))
    return bool(asked) or any(q["type"] == QuestionType.SPAN for q in item.get("questions", ()))


def _batches(rows: Sequence[Prepared], size: int, rng: Random) -> Iterator[list[Prepared]]:
    """Rows of like length together, in random order."""
    shuffled = list(rows)
    rng.shuffle(shuffled)
    batches = []
    for start in range(0, len(shuffled), size * 16):
        pool = sorted(
            shuffled[start : start + size * 16], key=lambda row: len(row.tokens.chunks[0])
        )
        batches += [pool[i : i + size] for i in range(0, len(pool), size)]
    rng.shuffle(batches)
    yield from batches


def _rate(step: int, total: int, warm_up: int) -> float:
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, step / total)))
    return min(1.0, (step + 1) / warm_up) * (0.97 * cosine + 0.03)


@torch.no_grad()
def _average(averaged: Mapping[str, Tensor], now: Mapping[str, Tensor], kept: float) -> None:
    """Moves ``averaged`` towards ``now``, of which 1 - ``kept`` counts."""
    torch._foreach_lerp_([averaged[name] for name in now], list(now.values()), 1 - kept)
