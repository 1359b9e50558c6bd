"""Which backend is tried first (API-5)."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from serve_app.config.schema.providers import Backend
from serve_app.providers.backends import order


def backend(weight: float) -> Backend:
    return Backend.model_validate({"base_url": "http://127.0.0.1:9/v1", "weight": weight})


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6), st.integers())
def test_every_backend_is_in_the_order_once(weights: list[float], seed: int) -> None:
    """API-5"""
    drawn = order([backend(weight) for weight in weights], Random(seed))
    assert sorted(drawn) == list(range(len(weights)))


def test_the_first_is_drawn_by_weight() -> None:
    """API-5"""
    rng = Random(3)
    backends = [backend(1), backend(3)]
    first = Counter(order(backends, rng)[0] for _ in range(4000))
    assert abs(first[1] / 4000 - 0.75) < 0.03
