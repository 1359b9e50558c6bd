"""What is remembered is bounded in entries and in bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.lru import ENTRY_BYTES, Lru


def test_it_drops_what_was_used_longest_ago() -> None:
    """SRV-17, CACHE-1"""
    kept: Lru[str, int] = Lru(2, 2**20, 2**20)
    kept.put("a", 1, 0)
    kept.put("b", 2, 0)
    assert kept.get("a") == 1
    kept.put("c", 3, 0)
    assert len(kept) == 2
    assert "b" not in kept
    assert kept.get("a") == 1


def test_without_entries_it_keeps_nothing() -> None:
    """CACHE-1"""
    kept: Lru[str, int] = Lru(0, 0, 2**20)
    kept.put("a", 1, 0)
    assert (len(kept), kept.memory) == (0, 0)


def test_what_is_too_large_is_not_kept_and_pushes_nothing_out() -> None:
    kept: Lru[str, int] = Lru(10, 100_000, 10_000)
    for i in range(10):
        kept.put(f"{i}", i, 1)
    kept.put("large", 0, 10_000)
    kept.put("0", 0, 10_000)
    assert "large" not in kept
    assert [f"{i}" in kept for i in range(10)] == [False] + [True] * 9


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5_000)), max_size=60))
def test_its_bytes_are_those_of_its_entries_and_never_more_than_it_may_have(
    puts: list[tuple[int, int]],
) -> None:
    kept: Lru[int, int] = Lru(6, 8_000, 4_000)
    for key, size in puts:
        kept.put(key, size, size)
        sizes = [size for key in range(10) if (size := kept.get(key)) is not None]
        assert kept.memory == sum(sizes) + ENTRY_BYTES * len(kept) <= 8_000
        assert len(kept) == len(sizes) <= 6
