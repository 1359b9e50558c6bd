"""Encoder and head as one differentiable model, and the loss of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.embedded.described import LEARNED_NAMES
from models.embedded.features import FORMS, OCCURRENCES, SHAPES
from models.embedded.head import DecisionHead, Queries
from models.embedded.train.batches import IGNORED, Batch, Encoded
from models.embedded.train.encoder import TrainedEncoder

DROPPED: Final = 0.25
"""Share of learned vectors left out in training, so that a preset's text alone says enough."""


ANCHORED: Final = 0.5
"""Weight of how far a state's direction has moved from the frozen encoder's: options that were
never trained on are told apart by the cosine prior, which lives by that direction."""

OUTSIDE: Final = 0.3
"""Weight of a token outside all spans in what a span question's loss is divided by: spans are
rare, and the mean over all tokens would be that of silence."""


@dataclass(frozen=True)
class Read:
    """``tokens`` ``(n, t, width)`` and ``pooled`` ``(n, width)`` unit vectors of encoded states."""

    tokens: Tensor
    mask: Tensor
    pooled: Tensor


class DecisionModel(nn.Module):
    def __init__(
        self,
        weights: Mapping[str, Tensor],
        rank: int,
        dropout: float,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.encoder = TrainedEncoder(weights, rank, SHAPES, OCCURRENCES, FORMS, dtype)
        self.encoder.dropout = dropout
        self.head = DecisionHead(len(LEARNED_NAMES) - 1, dropout)

    def read(self, encoded: Encoded) -> Read:
        mask = encoded.mask
        looks = (encoded.shapes, encoded.occurrences, encoded.forms)
        tokens = self.encoder(encoded.ids, mask, *looks)
        pooled = functional.normalize((tokens * mask[..., None]).sum(1), dim=-1)
        return Read(tokens, mask, pooled)

    def logits(self, read: Read, asked: Queries) -> tuple[Tensor, Tensor]:
        """Option logits ``(n, o)`` and the options' queries ``(n, o, width)``."""
        if self.training:
            kept = torch.rand(asked.learned.shape[0], 1) >= DROPPED
            asked = replace(asked, learned=asked.learned * kept)
        queries = self.head.queries(asked)
        return self.head.logits(read.tokens, read.mask, read.pooled, asked, queries), queries

    def tensors(self) -> dict[str, Tensor]:
        """What was trained, under the names of ``models.embedded.weights``."""
        head = {f"head.{name}": tensor for name, tensor in self.head.state_dict().items()}
        return {**self.encoder.tensors(), **head}

    def loss(self, batch: Batch, smoothing: float = 0.0) -> Tensor:
        read = self.read(batch.encoded)
        loss = self.loss_of(read, batch, smoothing)
        if batch.anchors is not None:
            loss = loss + ANCHORED * (1 - (read.pooled * batch.anchors).sum(-1)).mean()
        return loss

    def loss_of(self, read: Read, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The loss of ``batch`` whose states were ``read``."""
        logits, queries = self.logits(read, batch.queries)
        flat = logits.reshape(-1)
        total = flat.new_zeros(())
        weight = 1e-6
        if len(batch.choices.target):
            chosen = gathered(flat, batch.choices.index)
            losses = functional.cross_entropy(chosen, batch.choices.target, reduction="none")
            if smoothing:
                log_p = chosen.log_softmax(-1)
                real = batch.choices.index >= 0
                even = -(log_p.masked_fill(~real, 0.0)).sum(-1) / real.sum(-1)
                losses = (1 - smoothing) * losses + smoothing * even
            total = total + (losses * batch.choices.weight).sum()
            weight += float(batch.choices.weight.sum())
        if len(batch.labels.target):
            losses = functional.binary_cross_entropy_with_logits(
                flat[batch.labels.index], batch.labels.target, reduction="none"
            )
            total = total + (losses * batch.labels.weight).sum()
            weight += float(batch.labels.weight.sum())
        for tags in batch.tags:
            row = slice(tags.row, tags.row + 1)
            scores = self.head.span_logits(
                read.tokens[row], queries[row, tags.first : tags.first + tags.count]
            )[0]
            losses = functional.cross_entropy(
                scores, tags.target, ignore_index=IGNORED, reduction="none"
            )
            counted = (tags.target > 0).sum() + (tags.target == 0).sum() * OUTSIDE
            loss = losses.sum() / counted.clamp(min=OUTSIDE)  # a state may have no token
            total = total + loss * tags.weight
            weight += tags.weight
        return total / weight


def gathered(flat: Tensor, index: Tensor) -> Tensor:
    """``flat[index]`` with -inf in the place of -1."""
    return flat[index.clamp(min=0)].masked_fill(index < 0, -1e4)
