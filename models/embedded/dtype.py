"""Which number format the encoder runs in (SRV-12, SRV-13)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

L = TypeVar("L")
P: TypeAlias = NDArray[np.float64]

TOLERANCE: Final = 1e-4
"""How far an answer may move with its batch (SRV-12)."""

_BATCHES: Final = (1, 2, 3, 16, 64)
_BUCKETS: Final = (32, 64, 256)
_PROBED: Final = 2_048  # padded tokens of the largest batch

_log = logging.getLogger(__name__)


def choose(
    layers: Callable[[torch.dtype], L],
    device: torch.device,
    dtype: Literal["auto", "float32", "bfloat16"],
    dependence: Callable[[L], float],
) -> L:
    """``layers`` in ``dtype``.

    ``auto`` is bfloat16 on hardware with matrix units for it (a GPU, AMX) where answers do not
    depend on the batch in it, as ``dependence`` tells; else float32. AVX512-BF16 alone computes
    no faster than float32 and converts besides. Hardware decides and never a timing: replicas
    must not differ by noise (law 3). ``RuntimeError`` if bfloat16 is asked for and not to be had,
    or if answers would depend on the batch in it.
    """
    supported = _supported(device)
    if dtype == "bfloat16" and not supported:
        raise RuntimeError("this device has no bfloat16")
    exact = layers(torch.float32)
    if dtype == "float32" or (dtype == "auto" and not (supported and _matrix_units(device))):
        return exact
    half = layers(torch.bfloat16)
    moved = dependence(half)
    if moved <= TOLERANCE:
        return half
    if dtype == "bfloat16":
        raise RuntimeError(f"in bfloat16 answers move by {moved:.1e} with their batch here")
    _log.info("float32 it is: in bfloat16 answers move by %.1e with their batch here", moved)
    return exact


def batch_dependence(probabilities: Callable[[NDArray[np.int64], NDArray[np.int64]], P]) -> float:
    """The most that an answer moves between a row alone and the row in batches of several sizes,
    over several padded lengths. ``probabilities``: ``(n, answers)`` of ``(n, padded)`` token ids
    and their ``(n,)`` lengths."""
    moved = 0.0
    for bucket in _BUCKETS:
        rows = _PROBED // bucket
        ids, lengths = _rows(rows, bucket)
        alone = np.concatenate([probabilities(ids[i : i + 1], lengths[i : i + 1]) for i in (0, 1)])
        for size in _BATCHES:
            if size <= rows:
                batched = probabilities(ids[:size], lengths[:size])[:2]
                moved = max(moved, float(np.abs(batched - alone[: len(batched)]).max()))
    return moved


def _supported(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _matrix_units(device: torch.device) -> bool:
    return device.type == "cuda" or bool(torch.cpu._is_amx_tile_supported())


def _rows(count: int, bucket: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    lengths = random.integers(3, bucket + 1, count)
    ids = random.integers(1_000, 30_000, (count, bucket))
    ids[np.arange(bucket) >= lengths[:, None]] = 0
    return ids, lengths
