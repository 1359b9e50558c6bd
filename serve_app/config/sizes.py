"""How much of an input one question may see, in bytes: what is written, within what the model reads
(SIZE-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from models.cards.schema import Card
from serve_app.config.schema.catalog import Deployment, LocalDeployment, RemoteDeployment

BYTES_A_TOKEN: Final = 4
"""A token of any setting is four bytes of UTF-8."""

KEPT_TOKENS: Final = 1_024
"""Of a model's validated length, for the question."""

LOCAL_TOKENS: Final = 8_192
REMOTE_TOKENS: Final = 4_096
"""Of a view and of a window, where none are written."""

LOCAL_OVERLAP: Final = 512
REMOTE_OVERLAP: Final = 256


@dataclass(frozen=True, slots=True)
class Sizes:
    """The effective sizes of a deployment in bytes.

    ``window``: of head, tail and rereads; ``largest``: of merged windows. ``overlap``: what two
    neighbours share. ``reread_margin``: log-odds below a threshold (SCAN-7).
    """

    view: int
    head_share: float
    window: int
    overlap: int
    largest: int
    max_parallel: int
    reread_margin: float


def window_tokens(deployment: Deployment) -> int:
    """As written, or by default."""
    default = REMOTE_TOKENS if isinstance(deployment, RemoteDeployment) else LOCAL_TOKENS
    return deployment.scan_window.tokens or default


def hard_limit(deployment: Deployment, card: Card) -> int | None:
    """Bytes that the model reads for certain, ``None`` where nothing is known to be too long.

    A byte-level tokenizer never makes more than one token of one byte.
    """
    if isinstance(deployment, LocalDeployment):
        validated = card.validated_input_tokens or card.max_input_tokens
    elif deployment.validated_input_tokens is not None:
        validated = deployment.validated_input_tokens
    else:
        return None
    return validated - KEPT_TOKENS


def sizes_of(deployment: Deployment, card: Card) -> Sizes:
    limit = hard_limit(deployment, card)
    remote = isinstance(deployment, RemoteDeployment)
    view, scan = deployment.routing_view, deployment.scan_window

    def bounded(tokens: int) -> int:
        size = tokens * BYTES_A_TOKEN
        return size if limit is None else min(size, limit)

    tokens = window_tokens(deployment)
    window = bounded(tokens)
    overlap = scan.overlap
    if overlap is None:
        overlap = REMOTE_OVERLAP if remote else LOCAL_OVERLAP
    overlap *= BYTES_A_TOKEN
    if scan.overlap is None or window < tokens * BYTES_A_TOKEN:
        overlap = min(overlap, window // 4)
    largest = scan.max_tokens
    if largest is None:
        largest = tokens if limit is None else max(tokens, limit)
    return Sizes(
        view=bounded(view.max_tokens or (REMOTE_TOKENS if remote else LOCAL_TOKENS)),
        head_share=view.head_share,
        window=window,
        overlap=overlap,
        largest=max(window, bounded(largest)),
        max_parallel=scan.max_parallel,
        reread_margin=scan.reread_margin,
    )
