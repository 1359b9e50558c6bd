"""Ordinary texts that a guard is likeliest to take for a match: what it learns most from (SRV-17).

Most ordinary texts are told from attacks at once, and say nothing more (Shrivastava et al. 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch

from models.embedded.described import Described
from models.embedded.tokenizer import Tokens
from models.embedded.train.batches import batch_of
from models.embedded.train.long import GUARDS, ordinary
from models.embedded.train.model import DecisionModel, gathered

AT_A_TIME: Final = 16


@torch.no_grad()
def hardest(
    texts: Sequence[Tokens],
    count: int,
    model: DecisionModel,
    described: Mapping[bytes, Described],
) -> list[int]:
    """Indices of the ``count`` texts that a guard of ``model`` gives the highest odds, the highest
    first; ``described`` knows the guards' questions."""
    rows = ordinary(texts, "ordinary")
    order = sorted(range(len(rows)), key=lambda i: len(texts[i].chunks[0]))
    odds: dict[int, float] = {}
    was = model.training
    model.eval()
    for start in range(0, len(order), AT_A_TIME):
        part = order[start : start + AT_A_TIME]
        batch = batch_of([rows[i] for i in part], described)
        logits, _ = model.logits(model.read(batch.encoded), batch.queries)
        yes, no = gathered(logits.reshape(-1), batch.choices.index).unbind(-1)
        highest = (yes - no).view(len(part), len(GUARDS)).amax(-1)
        odds.update(zip(part, highest.tolist(), strict=True))
    model.train(was)
    return sorted(odds, key=lambda i: (-odds[i], i))[:count]
