from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from models.cards.shipped import shipped_card
from models.embedded.encoder import Encoder
from models.embedded.files import encoder_files
from models.embedded.tokenizer import ChunkTokenizer
from models.embedded.train.fit import Reader


@pytest.fixture(scope="session")
def paths():
    return encoder_files(shipped_card("embedded").sha256)


@pytest.fixture(scope="session")
def base(paths) -> Mapping[str, Tensor]:
    """The encoder's own weights."""
    return load_file(paths["model.safetensors"])


@pytest.fixture(scope="session")
def frozen(base) -> Encoder:
    return Encoder(base, torch.device("cpu"), torch.float32)


@pytest.fixture(scope="session")
def tokenizer(paths) -> ChunkTokenizer:
    return ChunkTokenizer(paths["tokenizer.json"])


@pytest.fixture(scope="session")
def reader(tokenizer, frozen) -> Reader:
    return Reader(tokenizer, frozen)
