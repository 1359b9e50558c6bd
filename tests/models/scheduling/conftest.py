from __future__ import annotations

import pytest

from tests.doubles.bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def make_bench() -> type[Bench]:
    return Bench
