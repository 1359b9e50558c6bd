"""What calls take by size: SCAN-9."""

import pytest

from serve_app.scan.speed import Speed, Speeds


def test_a_fixed_part_and_a_part_per_byte_are_told_apart():
    """SCAN-9"""
    speed = Speed()
    for size in (1_000, 8_000, 2_000, 4_000, 8_000, 1_000):
        speed.measured(size, 0.1 + size / 10_000)
    assert speed.seconds_for(16_000) == pytest.approx(1.7)
    assert speed.seconds_for(0) == pytest.approx(0.1)


def test_calls_of_one_size_say_nothing_of_another():
    """SCAN-9: nothing is merged on a guess"""
    speed = Speed()
    for _ in range(50):
        speed.measured(8_000, 0.3)
    assert speed.seconds_for(16_000) is None


def test_too_few_calls_say_nothing():
    """SCAN-9"""
    speed = Speed()
    speed.measured(1_000, 0.1)
    speed.measured(8_000, 0.3)
    assert speed.seconds_for(8_000) is None


def test_what_was_measured_long_ago_is_forgotten():
    """SCAN-9"""
    speed = Speed()
    for _ in range(100):
        speed.measured(1_000, 10)
        speed.measured(8_000, 10)
    for _ in range(300):
        speed.measured(1_000, 0.1)
        speed.measured(8_000, 0.8)
    assert speed.seconds_for(4_000) == pytest.approx(0.4, rel=0.05)


def test_larger_calls_that_happened_to_be_faster_are_no_cheaper():
    """SCAN-9: no time is negative"""
    speed = Speed()
    for _ in range(10):
        speed.measured(1_000, 1)
        speed.measured(8_000, 0.1)
    assert speed.seconds_for(100_000) == pytest.approx(0.55, rel=0.1)


def test_a_model_stays_as_fast_under_another_policy() -> None:
    """SRV-20, SCAN-9: what was measured before, and what the policy before still measures"""
    process = Speeds()
    before = process.under({"primary": "1", "second": "1"})
    before.of("primary").measured(1_000, 0.1)
    after = process.under({"primary": "1", "second": "2"})
    assert after.of("primary") == before.of("primary") != Speed()
    before.of("primary").measured(8_000, 0.3)
    assert after.of("primary") == before.of("primary")


def test_another_model_of_the_same_name_is_measured_anew() -> None:
    """SRV-20: and the one before is known when it comes back"""
    process = Speeds()
    process.under({"primary": "1"}).of("primary").measured(1_000, 0.1)
    assert process.under({"primary": "2"}).of("primary") == Speed()
    assert process.under({"second": "1"}).of("second") == Speed()
    assert process.under({"primary": "1"}).of("primary") != Speed()
