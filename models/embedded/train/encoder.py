"""MiniLM with adapters, differentiable: what trains the weights that ``models.embedded.encoder``
runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.embedded.encoder import EPSILON, HEADS, LAYERS, WIDTH
from models.embedded.weights import ADAPTED


class _Frozen(torch.autograd.Function):
    """``x @ weight.T + bias`` by oneDNN on packed weights, one for each direction: a frozen layer
    has no gradient of its own, and this is half as fast again as the portable operations."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, packed: Tensor, transposed: Tensor, bias: Tensor) -> Tensor:
        ctx.transposed = transposed
        return _linear(x, packed, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return _linear(gradient.contiguous(), ctx.transposed, None), None, None, None


def _linear(x: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    ops: Any = torch.ops.mkldnn
    out: Tensor = ops._linear_pointwise.default(x.to(packed.dtype), packed, bias, "none", [], "")
    return out.to(x.dtype)


def frozen_dtype() -> torch.dtype:
    """What frozen layers compute in: half precision where the processor has instructions for it,
    which takes two thirds of the time; adapters and activations stay in single precision."""
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32


class Adapted(nn.Module):
    """A frozen linear layer beside a trained one of low rank (LoRA, Hu et al. 2021).

    ``parts``: how many layers of one input it stands for, each with an adapter of its own.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor, rank: int, dtype: torch.dtype, parts: int = 1
    ) -> None:
        super().__init__()
        ops: Any = torch.ops.mkldnn
        frozen = weight.to(dtype)
        self._packed = ops._reorder_linear_weight(frozen.contiguous(), None)
        self._transposed = ops._reorder_linear_weight(frozen.T.contiguous(), None)
        self.register_buffer("bias", bias.to(dtype), persistent=False)
        wide = weight.shape[1]
        self.down = nn.Parameter(torch.randn(parts * rank, wide) * wide**-0.5)
        self.up = nn.Parameter(torch.zeros(parts, weight.shape[0] // parts, rank))

    def forward(self, x: Tensor) -> Tensor:
        n, t, _ = x.shape
        flat = x.reshape(n * t, -1)
        frozen = _Frozen.apply(flat, self._packed, self._transposed, self.bias)  # type: ignore[no-untyped-call]
        low = flat @ self.down.T
        if len(self.up) == 1:
            added = low @ self.up[0].T
        else:
            ranks = low.view(n * t, len(self.up), -1).transpose(0, 1)
            added = (ranks @ self.up.transpose(1, 2)).transpose(0, 1).reshape(n * t, -1)
        out: Tensor = (frozen + added).view(n, t, -1)
        return out

    def adapter(self, part: int) -> tuple[Tensor, Tensor]:
        """Down ``(rank, in)`` and up ``(out, rank)`` of a part."""
        rank = self.up.shape[2]
        return self.down[part * rank : (part + 1) * rank], self.up[part]


class Layer(nn.Module):
    attention_output_weight: Tensor
    attention_output_bias: Tensor
    output_weight: Tensor
    output_bias: Tensor

    def __init__(
        self, weights: Mapping[str, Tensor], at: str, rank: int, dtype: torch.dtype
    ) -> None:
        super().__init__()

        def adapted(*names: str) -> Adapted:
            weight = torch.cat([weights[f"{at}{name}.weight"] for name in names])
            bias = torch.cat([weights[f"{at}{name}.bias"] for name in names])
            return Adapted(weight, bias, rank, dtype, len(names))

        self.qkv = adapted(*ADAPTED[:3])
        self.out, self.up, self.down = map(adapted, ADAPTED[3:])
        for name in ("attention.output", "output"):
            key = name.replace(".", "_")
            for part in ("weight", "bias"):
                tensor = weights[f"{at}{name}.LayerNorm.{part}"]
                self.register_buffer(f"{key}_{part}", tensor, persistent=False)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        n, t, _ = x.shape
        size = WIDTH // HEADS
        q, k, v = self.qkv(x).view(n, t, 3, HEADS, size).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(2, 3)) * size**-0.5 + bias
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, WIDTH)
        x = functional.layer_norm(
            x + self.out(mixed),
            (WIDTH,),
            self.attention_output_weight,
            self.attention_output_bias,
            EPSILON,
        )
        inner = self.down(functional.gelu(self.up(x)))
        return functional.layer_norm(
            x + inner, (WIDTH,), self.output_weight, self.output_bias, EPSILON
        )

    def adapters(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Layer -> its adapter."""
        qkv = {name: self.qkv.adapter(i) for i, name in enumerate(ADAPTED[:3])}
        others = zip(ADAPTED[3:], (self.out, self.up, self.down), strict=True)
        return {**qkv, **{name: module.adapter(0) for name, module in others}}


class TrainedEncoder(nn.Module):
    """``shapes``, ``occurrences``, ``forms``: how many values those token features have;
    ``dtype``: what frozen layers compute in."""

    words: Tensor
    positions: Tensor
    norm_weight: Tensor
    norm_bias: Tensor

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        rank: int,
        shapes: int,
        occurrences: int,
        forms: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.register_buffer(
            "words", weights["embeddings.word_embeddings.weight"], persistent=False
        )
        positions = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self.register_buffer("positions", positions, persistent=False)
        for part in ("weight", "bias"):
            tensor = weights[f"embeddings.LayerNorm.{part}"]
            self.register_buffer(f"norm_{part}", tensor, persistent=False)
        self.shapes = nn.Embedding(shapes, WIDTH)
        self.occurrences = nn.Embedding(occurrences, WIDTH)
        self.forms = nn.Embedding(forms, WIDTH)
        for table in (self.shapes, self.occurrences, self.forms):
            nn.init.zeros_(table.weight)
        self.layers = nn.ModuleList(
            Layer(weights, f"encoder.layer.{i}.", rank, dtype) for i in range(LAYERS)
        )
        self.dropout = 0.0

    def forward(
        self, ids: Tensor, mask: Tensor, shape: Tensor, occurrence: Tensor, form: Tensor
    ) -> Tensor:
        """``(n, t, WIDTH)`` token vectors of ``(n, t)`` ids; ``mask`` is true for tokens."""
        x = functional.embedding(ids, self.words) + self.positions[: ids.shape[1]]
        x = x + self.shapes(shape) + self.occurrences(occurrence) + self.forms(form)
        x = functional.layer_norm(x, (WIDTH,), self.norm_weight, self.norm_bias, EPSILON)
        x = functional.dropout(x, self.dropout, self.training)
        bias = torch.where(mask, 0.0, -1e4)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def tensors(self) -> dict[str, Tensor]:
        """What was trained, under the names of ``models.embedded.weights``."""
        found: dict[str, Tensor] = {
            "shapes": self.shapes.weight,
            "occurrences": self.occurrences.weight,
            "forms": self.forms.weight,
        }
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            for name, (down, up) in layer.adapters().items():
                found[f"adapters.encoder.layer.{i}.{name}.down"] = down
                found[f"adapters.encoder.layer.{i}.{name}.up"] = up
        return found
