from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
import torch

from models.cards.shipped import shipped_card
from models.embedded.engine import EmbeddedEngine
from models.embedded.loading import load


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Threads of a forward wait for each other: on a busy machine two are slower than one."""
    torch.set_num_threads(1)


@pytest.fixture
def traced() -> Iterator[Callable[[], int]]:
    """Bytes that are allocated and in use since the test began."""

    def in_use() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    yield in_use
    tracemalloc.stop()


@pytest.fixture(scope="session")
def engine() -> EmbeddedEngine:
    """The shipped model in float32."""
    return load(shipped_card("embedded"), device="cpu", threads=1, dtype="float32")


@pytest.fixture(scope="session")
def half_engine() -> EmbeddedEngine:
    """The shipped model in bfloat16."""
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this CPU has no bfloat16")
    try:
        return load(shipped_card("embedded"), device="cpu", threads=1, dtype="bfloat16")
    except RuntimeError as refused:
        pytest.skip(str(refused))  # where it is not exact, nothing is answered in it
