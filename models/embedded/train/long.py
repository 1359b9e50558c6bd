"""Guards on long texts: an authored text somewhere among ordinary chunks (SRV-17).

The ordinary chunks are encoded once an epoch and without a gradient, so that a state of many chunks
costs about as much as one of a single chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from models.embedded.described import Described
from models.embedded.tokenizer import CHUNK, Tokens
from models.embedded.train.batches import Ask, Prepared, batch_of, encoded_of
from models.embedded.train.model import DecisionModel, Read
from models.questions.presets import preset_question

GUARDS: Final = ("jailbreak", "harm")
ROWS: Final = 6
MOST_FILLERS: Final = 8
PADDED: Final = 256


class Fillers:
    """Ordinary chunks as the model reads them: ``(n, PADDED, width)``, ``(n, PADDED)`` and
    ``(n, width)``."""

    def __init__(self, chunks: Sequence[Tokens]) -> None:
        self._chunks = chunks
        self._read: Read | None = None

    @torch.no_grad()
    def refresh(self, model: DecisionModel, count: int, rng: Random) -> None:
        """Encodes ``count`` of the chunks by ``model`` as it is now."""
        chosen = rng.sample(list(self._chunks), min(count, len(self._chunks)))
        was = model.training
        model.eval()
        parts = [model.read(encoded_of(chosen[i : i + 16])) for i in range(0, len(chosen), 16)]
        model.train(was)
        self._read = Read(
            torch.cat([_wide(part.tokens) for part in parts]),
            torch.cat([_wide(part.mask) for part in parts]),
            torch.cat([part.pooled for part in parts]),
        )

    def around(self, read: Read, rng: Random) -> Read:
        """``read`` with as many fillers at every row, each row's chunk in a place of its own."""
        assert self._read is not None, "refresh first"
        count = 1 + int(MOST_FILLERS * rng.random() ** 3)  # mostly few: they cost
        count = min(count, len(self._read.mask))
        rows = []
        for i in range(len(read.mask)):
            index = torch.tensor(rng.sample(range(len(self._read.mask)), count))
            at = rng.randint(0, count)
            parts = (
                (self._read.tokens[index], _wide(read.tokens[i : i + 1])),
                (self._read.mask[index], _wide(read.mask[i : i + 1])),
                (self._read.pooled[index], read.pooled[i : i + 1]),
            )
            rows.append([torch.cat([many[:at], one, many[at:]]) for many, one in parts])
        tokens, mask, pooled = (torch.stack(part) for part in zip(*rows, strict=True))
        return Read(
            tokens.flatten(1, 2), mask.flatten(1, 2), functional.normalize(pooled.mean(1), dim=-1)
        )


def _wide(tensor: Tensor) -> Tensor:
    missing = PADDED - tensor.shape[1]
    padding = (0, 0, 0, missing) if tensor.dim() == 3 else (0, missing)
    return functional.pad(tensor, padding)


def guarded(rows: Sequence[Prepared]) -> list[Prepared]:
    """Rows of one chunk that a guard has a label for, with that guard's questions alone."""
    kept = []
    for row in rows:
        asks = tuple(ask for ask in row.asks if ask.name in GUARDS)
        if asks and len(row.tokens.chunks) == 1 and row.tokens.count <= CHUNK:
            kept.append(replace(row, asks=asks))
    return kept


def ordinary(chunks: Sequence[Tokens], brief: str) -> list[Prepared]:
    """Chunks of ordinary text: no guard matches them."""
    asks = tuple(Ask(name, preset_question(name), False) for name in GUARDS)
    return [Prepared(brief, chunk, asks) for chunk in chunks]


def long_batches(
    rows: Sequence[Prepared],
    model: DecisionModel,
    fillers: Fillers,
    described: Mapping[bytes, Described],
    rng: Random,
) -> Iterator[Tensor]:
    """The losses of ``rows`` among fillers, some rows at a time."""
    shuffled = list(rows)
    rng.shuffle(shuffled)
    for start in range(0, len(shuffled), ROWS):
        part = shuffled[start : start + ROWS]
        batch = batch_of(part, described)
        read = fillers.around(model.read(batch.encoded), rng)
        yield model.loss_of(read, batch)
