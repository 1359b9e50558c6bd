"""MiniLM-L6: token ids to unit vectors, in as few operations as it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

LAYERS: Final = 6
WIDTH: Final = 384
HEADS: Final = 12
EPSILON: Final = 1e-12

_MASKED: Final = -1e4
_Apply = Callable[[Tensor], Tensor]
_ApplyAdd = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class _Layer:
    qkv: _Apply
    out: _ApplyAdd
    out_norm: tuple[Tensor, Tensor]
    up: _Apply
    down: _ApplyAdd
    down_norm: tuple[Tensor, Tensor]


class Encoder:
    """The encoder on one device in one dtype.

    On a CPU with oneDNN the linear layers' weights are packed once and GELU and the residual sum
    are fused into them. The word table stays in float32, since a row of it is all that is read,
    and is shared with ``words_of``. ``features``: what a token's looks add to it.
    """

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        device: torch.device,
        dtype: torch.dtype,
        features: Tensor | None = None,
        words_of: Encoder | None = None,
    ) -> None:
        self.device = device
        self.dtype = dtype
        self._features = None if features is None else features.to(device, torch.float32)
        linear = _Packed if device.type == "cpu" and torch._C._has_mkldnn else _Plain

        def place(name: str, to: torch.dtype = dtype) -> Tensor:
            return weights[name].to(device, to).contiguous()

        def pair(prefix: str, to: torch.dtype = dtype) -> tuple[Tensor, Tensor]:
            return place(prefix + ".weight", to), place(prefix + ".bias", to)

        self._words: Tensor = (
            place("embeddings.word_embeddings.weight", torch.float32)
            if words_of is None
            else words_of._words
        )
        self._positions = (
            place("embeddings.position_embeddings.weight", torch.float32)
            + place("embeddings.token_type_embeddings.weight", torch.float32)[0]
        )
        self._norm = pair("embeddings.LayerNorm", torch.float32)
        self._layers: list[_Layer] = []
        for i in range(LAYERS):
            at = f"encoder.layer.{i}."
            parts = [pair(f"{at}attention.self.{n}") for n in ("query", "key", "value")]
            self._layers.append(
                _Layer(
                    linear(
                        torch.cat([w for w, _ in parts]), torch.cat([b for _, b in parts])
                    ).plain,
                    linear(*pair(at + "attention.output.dense")).add,
                    pair(at + "attention.output.LayerNorm"),
                    linear(*pair(at + "intermediate.dense")).gelu,
                    linear(*pair(at + "output.dense")).add,
                    pair(at + "output.LayerNorm"),
                )
            )

    @torch.inference_mode()
    def encode(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """``(n, 384)`` unit vectors of ``n`` chunks.

        ``ids``: ``(n, padded)`` with the marks; ``lengths``: ``(n,)``, marks counted, padding not.
        """
        vectors: NDArray[np.float32] = self.read(ids, lengths).pooled().cpu().numpy()
        return vectors

    @torch.inference_mode()
    def read(
        self,
        ids: NDArray[np.int64],
        lengths: NDArray[np.int64],
        features: NDArray[np.int64] | None = None,
    ) -> TokenVectors:
        """The tokens of ``n`` chunks; ``features``: ``(n, padded, k)`` rows of the features' table,
        whose sum a token gets."""
        n, padded = ids.shape
        mask = np.arange(padded) < lengths[:, None]
        real = torch.from_numpy(mask).to(self.device)
        bias = torch.where(real, 0.0, _MASKED).to(self.dtype)[:, None, None, :]
        x = functional.embedding(torch.from_numpy(ids).to(self.device), self._words)
        x = x + self._positions[:padded]
        if features is not None and self._features is not None:
            rows = torch.from_numpy(features).to(self.device)
            x = x + functional.embedding(rows, self._features).sum(2)
        x = functional.layer_norm(x, (WIDTH,), *self._norm, EPSILON)
        x = x.to(self.dtype).view(n * padded, WIDTH)
        packing = _Packing.of(mask, self.device)
        x = packing.pack(x)
        for layer in self._layers:
            mixed = _attention(packing.spread(layer.qkv(x)), bias, n, padded)
            mixed = packing.pack(mixed)
            x = functional.layer_norm(layer.out(mixed, x), (WIDTH,), *layer.out_norm, EPSILON)
            x = functional.layer_norm(
                layer.down(layer.up(x), x), (WIDTH,), *layer.down_norm, EPSILON
            )
        return TokenVectors(packing.spread(x).view(n, padded, WIDTH).float(), real)


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """``vectors``: ``(n, t, 384)`` of tokens, ``mask``: ``(n, t)``, false for padding."""

    vectors: Tensor
    mask: Tensor

    def pooled(self) -> Tensor:
        """``(n, 384)`` directions of the mean token."""
        # The mean's divisor cancels in the norm. Batched so, a row is summed as it is alone.
        total = torch.bmm(self.mask.float()[:, None, :], self.vectors)[:, 0]
        return functional.normalize(total, dim=-1)

    def joined(self, chunks: int) -> TokenVectors:
        """The tokens of every ``chunks`` successive rows as one row."""
        n, t, width = self.vectors.shape
        return TokenVectors(
            self.vectors.view(n // chunks, chunks * t, width),
            self.mask.view(n // chunks, chunks * t),
        )

    def at(self, rows: Sequence[int]) -> TokenVectors:
        index = torch.tensor(rows, device=self.mask.device)
        return TokenVectors(self.vectors[index], self.mask[index])


def _attention(qkv: Tensor, bias: Tensor, n: int, padded: int) -> Tensor:
    q, k, v = qkv.view(n, padded, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
    mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return mixed.transpose(1, 2).reshape(n * padded, WIDTH)


@dataclass(frozen=True, slots=True)
class _Packing:
    """Tokens without their padding, for the layers that read each token alone.

    A token comes out of such a layer the same whichever tokens are beside it, so this saves work
    and moves no answer; attention always sees the padded row. The packed count is a multiple of
    ``STEP``, since oneDNN prepares anew for every count that it has not seen.
    """

    STEP: ClassVar[int] = 16

    kept: Tensor | None
    slots: Tensor | None

    @classmethod
    def of(cls, mask: NDArray[np.bool_], device: torch.device) -> _Packing:
        flat = mask.reshape(-1)
        kept = np.flatnonzero(flat)
        size = -(-len(kept) // cls.STEP) * cls.STEP
        if size >= flat.size:
            return cls(None, None)
        slots = np.cumsum(flat) - 1  # padding takes the place of some real token, and is masked
        kept = np.pad(kept, (0, size - len(kept)))
        return cls(torch.from_numpy(kept).to(device), torch.from_numpy(slots).to(device))

    def pack(self, x: Tensor) -> Tensor:
        return x if self.kept is None else x.index_select(0, self.kept)

    def spread(self, x: Tensor) -> Tensor:
        return x if self.slots is None else x.index_select(0, self.slots)


class _Plain:
    """A linear layer by the portable operations."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self._weight, self._bias = weight, bias

    def plain(self, x: Tensor) -> Tensor:
        return functional.linear(x, self._weight, self._bias)

    def gelu(self, x: Tensor) -> Tensor:
        return functional.gelu(self.plain(x))

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.plain(x) + residual


class _Packed:
    """The same by oneDNN's fused operations on a weight in its own blocked order."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        ops: Any = torch.ops.mkldnn
        self._weight = ops._reorder_linear_weight(weight, None)
        self._bias = bias
        self._linear = ops._linear_pointwise.default
        self._linear_add = ops._linear_pointwise.binary

    def plain(self, x: Tensor) -> Tensor:
        y: Tensor = self._linear(x, self._weight, self._bias, "none", [], "")
        return y

    def gelu(self, x: Tensor) -> Tensor:
        y: Tensor = self._linear(x, self._weight, self._bias, "gelu", [], "none")
        return y

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        y: Tensor = self._linear_add(x, residual, self._weight, self._bias, "add")
        return y
