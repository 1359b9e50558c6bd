"""The encoder: SRV-12, SRV-13, SRV-17."""

import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from models.cards.digest import ModelFileMismatch
from models.cards.shipped import shipped_card
from models.embedded.dtype import TOLERANCE, batch_dependence, choose
from models.embedded.encoder import Encoder
from models.embedded.files import PACKAGE, encoder_files

CPU = torch.device("cpu")
HALF = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="this CPU has no bfloat16"
)


@pytest.fixture(scope="module")
def paths():
    digests = shipped_card("embedded").sha256
    return encoder_files(digests)


@pytest.fixture(scope="module")
def weights(paths):
    return load_file(paths["model.safetensors"])


@pytest.fixture(scope="module")
def encoder(weights):
    return Encoder(weights, CPU, torch.float32)


def rows(count, padded, seed=0):
    random = np.random.default_rng(seed)
    lengths = random.integers(3, padded + 1, count)
    ids = random.integers(1_000, 30_000, (count, padded))
    ids[np.arange(padded) >= lengths[:, None]] = 0
    return ids, lengths


def test_vectors_are_those_of_the_reference_implementation(encoder, paths):
    """SRV-17"""
    transformers = pytest.importorskip("transformers")
    reference = transformers.BertModel.from_pretrained(paths["config.json"].parent).eval()
    ids, lengths = rows(4, 48)
    mask = torch.arange(48)[None] < torch.from_numpy(lengths)[:, None]
    with torch.inference_mode():
        hidden = reference(torch.from_numpy(ids), attention_mask=mask.long()).last_hidden_state
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        expected = torch.nn.functional.normalize(mean, dim=-1).numpy()
    assert np.abs(encoder.encode(ids, lengths) - expected).max() < 1e-5


def test_the_portable_layers_give_the_same_vectors(weights, encoder, monkeypatch):
    """SRV-13"""
    monkeypatch.setattr(torch._C, "_has_mkldnn", False)
    portable = Encoder(weights, CPU, torch.float32)
    ids, lengths = rows(3, 32)
    assert np.abs(portable.encode(ids, lengths) - encoder.encode(ids, lengths)).max() < 1e-5


@pytest.mark.parametrize(
    ("size", "padded"), [(2, 16), (3, 16), (16, 16), (64, 16), (2, 32), (16, 32), (3, 48), (2, 256)]
)
def test_a_row_alone_is_the_row_in_a_batch(encoder, size, padded):
    """SRV-12"""
    ids, lengths = rows(size, padded)
    alone = [encoder.encode(ids[i : i + 1], lengths[i : i + 1])[0] for i in range(size)]
    assert np.abs(encoder.encode(ids, lengths) - np.stack(alone)).max() < 1e-6


def test_padding_is_never_read(encoder):
    """SRV-12"""
    ids, lengths = rows(4, 32)
    other = np.where(ids == 0, 7_777, ids)
    assert np.array_equal(encoder.encode(ids, lengths), encoder.encode(other, lengths))


def dependence(encoder):
    return batch_dependence(lambda ids, lengths: encoder.encode(ids, lengths).astype(np.float64))


def test_the_probe_finds_no_dependence_on_the_batch(encoder):
    """SRV-12, SRV-13"""
    assert dependence(encoder) < TOLERANCE


def test_the_probe_finds_what_depends_on_the_batch():
    """SRV-12: rows that see how many they are"""

    def leaking(ids, lengths):
        return np.full((len(ids), 1), len(ids) * 1e-3)

    assert batch_dependence(leaking) > TOLERANCE


def chosen(weights, dtype, moved):
    return choose(lambda of: Encoder(weights, CPU, of), CPU, dtype, lambda _: moved).dtype


@HALF
def test_bfloat16_is_taken_where_the_probe_finds_it_exact_and_nowhere_else(weights, monkeypatch):
    """SRV-12, SRV-13: AMX picks its kernels by the batch, so it is not exact everywhere"""
    monkeypatch.setattr("models.embedded.dtype._matrix_units", lambda _: True)
    assert chosen(weights, "bfloat16", 0.0) is torch.bfloat16
    assert chosen(weights, "auto", 1e-2) is torch.float32
    with pytest.raises(RuntimeError, match="move"):
        chosen(weights, "bfloat16", 1e-2)


@HALF
@pytest.mark.parametrize(("units", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_auto_takes_bfloat16_where_it_is_exact_and_has_units(weights, monkeypatch, units, dtype):
    """SRV-13: told by the hardware, so that equal machines answer alike"""
    monkeypatch.setattr("models.embedded.dtype._matrix_units", lambda _: units)
    assert chosen(weights, "auto", 0.0) is dtype


def test_the_packages_code_is_never_imported(paths):
    """SRV-11, SRV-17"""
    assert set(paths) == {"model.safetensors", "tokenizer.json", "config.json"}
    assert PACKAGE not in sys.modules


def test_a_file_that_differs_is_not_loaded():
    """SRV-11"""
    with pytest.raises(ModelFileMismatch, match=r"tokenizer\.json"):
        encoder_files({"tokenizer.json": "0" * 64})


def test_another_version_of_the_package_is_refused(monkeypatch):
    """SRV-17"""
    monkeypatch.setattr("models.embedded.files.VERSION", "9.9.9")
    with pytest.raises(RuntimeError, match=r"9\.9\.9 is needed"):
        encoder_files({})


def test_a_dtype_that_the_device_lacks_is_refused(weights, monkeypatch):
    """SRV-13"""
    monkeypatch.setattr("models.embedded.dtype._supported", lambda _: False)
    assert chosen(weights, "auto", 0.0) is torch.float32
    with pytest.raises(RuntimeError, match="no bfloat16"):
        chosen(weights, "bfloat16", 0.0)
