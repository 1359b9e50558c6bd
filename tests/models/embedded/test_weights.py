"""The trained tensors: SRV-11, SRV-17."""

import pytest
import torch
from safetensors.torch import load_file

from models.cards.digest import ModelFileMismatch
from models.cards.shipped import shipped_card
from models.embedded import loading as module
from models.embedded import weights
from models.embedded.encoder import LAYERS
from models.embedded.files import encoder_files


def test_the_shipped_tensors_are_small_and_those_of_the_card():
    """SRV-17"""
    assert weights.PATH.stat().st_size <= 16 * 2**20
    assert all(torch.isfinite(tensor).all() for tensor in weights.tensors().values())


def test_tensors_that_differ_from_the_card_are_not_loaded(monkeypatch):
    """SRV-11"""
    card = shipped_card("embedded")
    other = card.model_copy(update={"sha256": {**card.sha256, weights.FILE: "0" * 64}})
    with pytest.raises(ModelFileMismatch, match="decision"):
        module.load(other)


def test_tensors_that_were_trained_for_other_presets_are_refused(monkeypatch):
    """SRV-17: their vectors would belong to other options"""
    monkeypatch.setattr(weights, "LEARNED_NAMES", ("", "another"))
    with pytest.raises(RuntimeError, match="other presets"):
        weights.load()


def test_adapters_are_merged_and_nothing_else_changes():
    """SRV-17"""
    digests = shipped_card("embedded").sha256
    paths = encoder_files(digests)
    base = load_file(paths["model.safetensors"])
    merged = weights.load().adapted(base)
    changed = {name for name in base if not torch.equal(base[name], merged[name])}
    assert changed == {
        f"encoder.layer.{i}.{part}.weight" for i in range(LAYERS) for part in weights.ADAPTED
    }


def test_tensors_are_written_and_read_in_half_precision(tmp_path):
    """SRV-17"""
    tensors = weights.tensors()
    weights.save(tmp_path / "copy.safetensors", tensors)
    again = weights.tensors(tmp_path / "copy.safetensors")
    assert all(torch.equal(tensors[name], again[name]) for name in tensors)
    assert (tmp_path / "copy.safetensors").read_bytes() == weights.PATH.read_bytes()


def test_random_tensors_depend_on_their_seed_alone():
    """SRV-19"""
    tensors = weights.tensors()
    first, again, other = (weights.random(tensors, seed) for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in tensors)
    assert not any(torch.equal(first[name], other[name]) for name in tensors)
