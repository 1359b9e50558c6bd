"""The encoder that trains: SRV-17, SRV-19."""

import numpy as np
import pytest
import torch

from models.embedded.described import LEARNED_NAMES
from models.embedded.encoder import WIDTH, Encoder
from models.embedded.features import FORMS, OCCURRENCES, SHAPES
from models.embedded.head import DecisionHead
from models.embedded.train.encoder import TrainedEncoder
from models.embedded.weights import assembled

IDS = np.random.default_rng(0).integers(1_000, 30_000, (3, 24))
LENGTHS = np.array([24, 9, 17])
IDS[np.arange(24) >= LENGTHS[:, None]] = 0
MASK = torch.from_numpy(np.arange(24) < LENGTHS[:, None])
SHAPE = torch.from_numpy(np.random.default_rng(1).integers(0, SHAPES, (3, 24)))
OCCURRENCE = torch.from_numpy(np.random.default_rng(2).integers(0, OCCURRENCES, (3, 24)))
FORM = torch.from_numpy(np.random.default_rng(3).integers(0, FORMS, (3, 24)))
LOOKS = (SHAPE, OCCURRENCE, FORM)


@pytest.fixture
def trained(base) -> TrainedEncoder:
    torch.manual_seed(0)
    return TrainedEncoder(base, 4, SHAPES, OCCURRENCES, FORMS)


def drawn(encoder: TrainedEncoder) -> TrainedEncoder:
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return encoder


def vectors(encoder: TrainedEncoder) -> torch.Tensor:
    return encoder(torch.from_numpy(IDS), MASK, *LOOKS)


def apart(first: torch.Tensor, second: torch.Tensor) -> float:
    return float((first - second)[MASK].abs().max())


def test_it_begins_as_the_frozen_encoder(trained, frozen):
    """SRV-17: adapters and features add nothing yet"""
    with torch.inference_mode():
        assert apart(vectors(trained), frozen.read(IDS, LENGTHS).vectors) < 1e-4


def test_half_precision_reads_nearly_alike(trained, base):
    """SRV-19: what may differ is what a faster processor rounds"""
    half = TrainedEncoder(base, 4, SHAPES, OCCURRENCES, FORMS, torch.bfloat16)
    with torch.inference_mode():
        assert 0 < apart(vectors(half), vectors(trained)) < 0.1
    vectors(half)[MASK].square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in half.parameters())


def test_merged_adapters_and_features_read_as_those_beside_the_encoder(trained, base):
    """SRV-17: what is served is what was trained"""
    head = {f"head.{n}": t for n, t in DecisionHead(len(LEARNED_NAMES) - 1).state_dict().items()}
    tensors = {name: t.detach() for name, t in drawn(trained).tensors().items()}
    layers = assembled({**tensors, **head})
    merged = Encoder(layers.adapted(base), torch.device("cpu"), torch.float32, layers.features)
    firsts = (0, SHAPES, SHAPES + OCCURRENCES)
    features = torch.stack([i + looks for i, looks in zip(firsts, LOOKS, strict=True)], -1).numpy()
    with torch.inference_mode():
        own = vectors(trained)
        assert apart(own, merged.read(IDS, LENGTHS, features).vectors) < 1e-3
        assert apart(own, merged.read(IDS, LENGTHS).vectors) > 1e-2


def test_gradients_reach_adapters_and_features_and_nothing_else(trained, base):
    """SRV-17: the encoder's own weights never change"""
    before = {name: tensor.clone() for name, tensor in base.items()}
    optimizer = torch.optim.SGD(drawn(trained).parameters(), lr=0.1)
    vectors(trained)[MASK].square().mean().backward()
    names = {name.split(".")[-1] for name, _ in trained.named_parameters()}
    assert names == {"down", "up", "weight"}
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in trained.parameters())
    optimizer.step()
    assert all(torch.equal(before[name], base[name]) for name in base)


def test_the_gradient_through_packed_layers_is_that_of_the_portable_ones(trained, base):
    """SRV-19: the fused operations have a backward of their own"""
    layer = trained.layers[0].out
    x = torch.randn(1, 3, WIDTH, requires_grad=True)
    direction = torch.randn(1, 3, WIDTH)
    (layer(x) * direction).sum().backward()
    weight = base["encoder.layer.0.attention.output.dense.weight"]
    assert torch.allclose(x.grad, direction @ weight, atol=1e-4)


def test_padding_is_never_read(trained):
    """SRV-12"""
    drawn(trained)
    with torch.inference_mode():
        own = vectors(trained)
        other = torch.from_numpy(np.where(IDS == 0, 7_777, IDS))
        assert apart(own, trained(other, MASK, *LOOKS)) < 1e-5
