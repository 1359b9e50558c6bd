"""The card's part of training: S1-14, SRV-19."""

from random import Random

import pytest

from models.embedded.train.cards import WINDOW_FALSE_POSITIVES, window_threshold


@pytest.mark.parametrize("count", [1_000, 1_220, 5_000])
def test_one_ordinary_window_in_a_thousand_lies_above_a_windows_threshold(count):
    """S1-14: between the last that does and the first that does not"""
    rng = Random(count)
    ordered = sorted(rng.betavariate(1, 40) for _ in range(count))
    found = window_threshold(ordered[::-1])
    above = sum(p > found for p in ordered)
    assert above in (int(WINDOW_FALSE_POSITIVES * count), int(WINDOW_FALSE_POSITIVES * count) + 1)
    assert ordered[count - above - 1] <= found + 1e-6 <= ordered[count - above] + 2e-6


def test_no_threshold_is_made_up_without_ordinary_windows():
    """S1-14"""
    with pytest.raises(ValueError, match="must not match"):
        window_threshold([])
