"""The decision head: options attend to a state that was encoded once (COST-2).

Every option is a query of its own. It is made of the frozen encoder's vectors of its text and of
the question's instructions, reads the state's tokens in ``BLOCKS`` blocks of cross-attention and
gets one logit. No option sees another, its place or its key: a choice is equivariant to order, and
the softmax of fewer options is the conditional distribution of more. A noul is two options, a set
one option per label. A span's labels are scored against each token instead.

The same module trains and serves.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH: Final = 384
BLOCKS: Final = 2
HEADS: Final = 6
INNER: Final = 768
SPAN_WIDTH: Final = 192
KAPPA: Final = 25.0
"""Concentration of the prior's mixtures (see ``scoring``)."""


class Kind(IntEnum):
    """What an option is to its question."""

    YES = 0
    """Of a noul, where the outcome is not described."""
    NO = 1
    OUTCOME = 2
    """Of a noul, by its description."""
    OPTION = 3
    LEVEL = 4
    LABEL = 5
    SPAN = 6


@dataclass(frozen=True)
class Queries:
    """Options of ``n`` states, ``o`` each, padded.

    ``option``, ``instructions``: ``(n, o, WIDTH)`` unit vectors or zeros; ``kind``, ``learned``:
    ``(n, o)``; ``place``: ``(n, o)``, of a level from -1 to 1; ``elements``: ``(u, WIDTH)`` unit
    vectors and ``members``: ``(n, o, m)`` indices into them of the alternatives that describe
    an option, -1 for none.
    """

    option: Tensor
    instructions: Tensor
    kind: Tensor
    learned: Tensor
    place: Tensor
    elements: Tensor
    members: Tensor


class Block(nn.Module):
    """Cross-attention from options to tokens, then a layer of its own for each option."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key_value = nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.inner_norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)

    def forward(self, x: Tensor, tokens: Tensor, bias: Tensor) -> Tensor:
        n, o, _ = x.shape
        t = tokens.shape[1]
        size = WIDTH // HEADS
        q = self.query(self.norm(x)).view(n, o, HEADS, size).transpose(1, 2)
        k, v = self.key_value(tokens).view(n, t, 2, HEADS, size).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) * size**-0.5 + bias
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, o, WIDTH)
        x = x + self.out(mixed)
        out: Tensor = x + self.down(functional.gelu(self.up(self.inner_norm(x))))
        return out


class DecisionHead(nn.Module):
    """``learned``: how many options have a vector of their own, from 1 on; 0 is none."""

    def __init__(self, learned: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.kinds = nn.Embedding(len(Kind), WIDTH)
        self.learned = nn.Embedding(learned + 1, WIDTH)
        self.place = nn.Linear(2, WIDTH, bias=False)
        self.option = nn.Linear(WIDTH, WIDTH)
        self.instructions = nn.Linear(WIDTH, WIDTH)
        self.merge_up = nn.Linear(3 * WIDTH, INNER)
        self.merge_down = nn.Linear(INNER, WIDTH)
        self.query_norm = nn.LayerNorm(WIDTH)
        self.token_norm = nn.LayerNorm(WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(WIDTH)
        self.match = nn.Linear(WIDTH, WIDTH)
        self.logit_up = nn.Linear(4 * WIDTH, WIDTH)
        self.logit_down = nn.Linear(WIDTH, 1)
        self.bias = nn.Embedding(len(Kind), 1)
        self.prior = nn.Embedding(len(Kind), 1)
        self.span_token_up = nn.Linear(WIDTH, WIDTH)
        self.span_token = nn.Linear(WIDTH, SPAN_WIDTH)
        self.span_first = nn.Linear(WIDTH, SPAN_WIDTH)
        self.span_inside = nn.Linear(WIDTH, SPAN_WIDTH)
        self.span_outside = nn.Linear(WIDTH, 1)
        self._start()

    @torch.no_grad()
    def _start(self) -> None:
        """Begins as the prior: what a block adds is zero, a query is its option's vector."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.03)
                if module.bias is not None:
                    module.bias.zero_()
        for table in (self.kinds, self.learned):
            nn.init.normal_(table.weight, std=0.02)
        self.learned.weight.zero_()
        nn.init.eye_(self.option.weight)
        nn.init.eye_(self.match.weight)
        for block in self.blocks:
            assert isinstance(block, Block)
            block.out.weight.zero_()
            block.down.weight.zero_()
        self.merge_down.weight.zero_()
        self.logit_down.weight.zero_()
        self.bias.weight.zero_()
        self.prior.weight.fill_(0.4)
        self.prior.weight[Kind.LABEL] = 0.4

    def queries(self, asked: Queries) -> Tensor:
        """``(n, o, WIDTH)``: depends on the question alone, so it can be kept."""
        option = self.option(asked.option)
        about = self.instructions(asked.instructions)
        together = torch.cat([option, about, asked.option * asked.instructions * WIDTH**0.5], -1)
        merged = self.merge_down(functional.gelu(self.merge_up(together)))
        place = torch.stack([asked.place, asked.place.square()], -1)
        query: Tensor = (
            option
            + about
            + merged
            + self.kinds(asked.kind)
            + self.learned(asked.learned)
            + self.place(place) * (asked.kind == Kind.LEVEL)[..., None]
        )
        return query

    def logits(
        self, tokens: Tensor, mask: Tensor, pooled: Tensor, asked: Queries, queries: Tensor
    ) -> Tensor:
        """``(n, o)`` logits. ``tokens``: ``(n, t, WIDTH)``; ``mask``: ``(n, t)``, true for
        tokens; ``pooled``: ``(n, WIDTH)`` unit vectors of the states."""
        bias = torch.where(mask, 0.0, -1e4)[:, None, None, :]
        read = self.token_norm(tokens)
        start = self.query_norm(queries)
        x = start
        for block in self.blocks:
            x = self.dropout(block(x, read, bias))
        x = self.norm(x)
        state = self.match(pooled)[:, None, :].expand_as(x)
        match = queries * state * WIDTH**0.5
        features = torch.cat([x, start * x, match, (queries - state).abs()], -1)
        hidden = functional.gelu(self.logit_up(self.dropout(features)))
        logit: Tensor = self.logit_down(hidden) + self.bias(asked.kind)
        near: Tensor = self.prior(asked.kind)[..., 0] * prior(pooled, asked)
        return logit[..., 0] + near

    def span_logits(self, tokens: Tensor, queries: Tensor) -> Tensor:
        """``(n, t, 1 + 2 o)``: outside, then for each label its first token and a further one."""
        seen = functional.gelu(self.span_token_up(self.token_norm(tokens)))
        at = self.span_token(self.dropout(seen))
        labels = self.query_norm(queries)
        first = at @ self.span_first(labels).transpose(1, 2)
        inside = at @ self.span_inside(labels).transpose(1, 2)
        both = torch.stack([first, inside], -1).flatten(2) * SPAN_WIDTH**-0.25
        outside: Tensor = self.span_outside(seen)
        return torch.cat([outside, both], -1)


def prior(pooled: Tensor, asked: Queries) -> Tensor:
    """``(n, o)``: the log density of the state under each option's mixture, as in ``scoring``,
    about zero for a state that is not near it; 0 where no text describes the option."""
    described = asked.members >= 0
    cosines = pooled @ asked.elements.T
    members = asked.members.clamp(min=0)
    n, o, m = members.shape
    near = cosines.gather(1, members.view(n, o * m)).view(n, o, m)
    scaled = (near * KAPPA).masked_fill(~described, -1e4)
    count = described.sum(-1)
    mixture = scaled.logsumexp(-1) - count.clamp(min=1).log()
    return torch.where(count > 0, mixture - 0.25 * KAPPA, 0.0)
