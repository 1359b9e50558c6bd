"""The shipped model from its files: checked, joined, placed (SRV-12, SRV-13, SRV-17)."""

from __future__ import annotations

import logging
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from models.cards.digest import verify
from models.cards.schema import Card
from models.embedded import weights
from models.embedded.dtype import batch_dependence, choose
from models.embedded.encoder import Encoder
from models.embedded.engine import EmbeddedEngine, Layers
from models.embedded.files import encoder_files
from models.embedded.tokenizer import ChunkTokenizer
from models.questions.presets import preset_question

_log = logging.getLogger(__name__)


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
