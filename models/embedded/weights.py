"""The project's trained tensors: what they are, and how they join the encoder's (SRV-17).

``decision.safetensors`` holds, in half precision, the adapters of the encoder's linear layers
(``adapters.<layer>.<part>.down|up``), the tables of token features (``shapes``, ``occurrences``,
``forms``)
and the head (``head.*``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from models.embedded.described import LEARNED_NAMES
from models.embedded.encoder import LAYERS
from models.embedded.head import DecisionHead

FILE: Final = "decision.safetensors"
PATH: Final = Path(__file__).with_name(FILE)

ADAPTED: Final = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""The encoder's linear layers that have an adapter."""


@dataclass(frozen=True)
class Trained:
    """``adapters``: layer of the encoder -> down ``(rank, in)`` and up ``(out, rank)``;
    ``features``: the tables one below the other, what a token's looks add to it."""

    adapters: Mapping[str, tuple[Tensor, Tensor]]
    features: Tensor
    head: DecisionHead

    def adapted(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The encoder's weights with the adapters in them: merged, they cost nothing."""
        merged = dict(weights)
        for name, (down, up) in self.adapters.items():
            merged[f"{name}.weight"] = weights[f"{name}.weight"] + up.float() @ down.float()
        return merged


def save(path: Path, named: Mapping[str, Tensor]) -> None:
    """Writes the trained tensors by name, in half precision."""
    half = {name: tensor.detach().half().contiguous() for name, tensor in named.items()}
    save_file(half, path, metadata={"learned": "\n".join(LEARNED_NAMES)})


def load(path: Path = PATH) -> Trained:
    """The tensors at ``path``; ``RuntimeError`` if they were trained for other presets."""
    return assembled(tensors(path))


def tensors(path: Path = PATH) -> dict[str, Tensor]:
    """By name, in single precision."""
    with safe_open(path, framework="pt") as file:
        if (file.metadata() or {}).get("learned") != "\n".join(LEARNED_NAMES):
            raise RuntimeError(f"{path.name} was trained for other presets: run make train")
        return {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118


def assembled(named: Mapping[str, Tensor]) -> Trained:
    """The layers that tensors of these names are."""
    head = DecisionHead(len(LEARNED_NAMES) - 1)
    head.load_state_dict(
        {name.removeprefix("head."): t for name, t in named.items() if name.startswith("head.")}
    )
    head.requires_grad_(False)
    head.eval()
    names = [f"encoder.layer.{i}.{part}" for i in range(LAYERS) for part in ADAPTED]
    adapters = {
        name: (named[f"adapters.{name}.down"], named[f"adapters.{name}.up"]) for name in names
    }
    table = torch.cat([named["shapes"], named["occurrences"], named["forms"]])
    return Trained(adapters, table, head)


def random(trained: Mapping[str, Tensor], seed: int, std: float = 0.02) -> dict[str, Tensor]:
    """The same tensors drawn from N(0, ``std``): what no training leaves."""
    generator = torch.Generator().manual_seed(seed)
    return {n: torch.randn(t.shape, generator=generator) * std for n, t in trained.items()}
