"""Texts of the corpus that say the same: each is to be written anew (SRV-19)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from models.embedded.train.examples import item_key
from models.embedded.train.second_reading import blind
from models.questions.types import JsonValue

RUN: Final = 8
"""Words that may not stand in a row in two texts."""

LIKE: Final = 0.6
"""Share of two texts' words in common from which they are near-duplicates."""

_HINT: Final = 4
_COMMON: Final = 200  # texts that share a run of words: above that it is a turn of speech
_WORD: Final = re.compile(r"\w+")

Texts = Mapping[str, tuple[str, ...]]
"""Name of a text -> its words, in lower case."""


def texts_of(items: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, tuple[str, ...]]:
    """``brief:key`` -> the words of the state, and of its variants: those are one text."""
    found: dict[str, tuple[str, ...]] = {}
    for brief, item in items:
        name = f"{brief}:{item.get('of') or item_key(item)}"
        words = _WORD.findall(" ".join(_strings(blind(item)["state"])).lower())
        found[name] = (*found.get(name, ()), *words)
    return found


def shared_runs(texts: Texts) -> list[tuple[str, str, str]]:
    """Pairs of texts with ``RUN`` words in a row in common, and the words."""
    first: dict[tuple[str, ...], str] = {}
    found: dict[tuple[str, str], str] = {}
    for name, words in texts.items():
        for run in _runs(words, RUN):
            other = first.setdefault(run, name)
            if other != name:
                found.setdefault((other, name), " ".join(run))
    return [(a, b, run) for (a, b), run in found.items()]


def near_duplicates(texts: Texts) -> list[tuple[str, str]]:
    """Pairs of texts that share ``LIKE`` of their words (Jaccard), among those that have a few
    words in a row in common or are shorter than that."""
    by_run: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, words in texts.items():
        for run in set(_runs(words, _HINT)) or {words}:
            by_run[run].add(name)
    candidates = {
        pair
        for names in by_run.values()
        if len(names) < _COMMON
        for pair in combinations(sorted(names), 2)
    }
    return sorted((a, b) for a, b in candidates if _alike(set(texts[a]), set(texts[b])))


def _alike(first: set[str], second: set[str]) -> bool:
    return len(first & second) >= LIKE * len(first | second)


def _runs(words: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    return (words[i : i + length] for i in range(len(words) - length + 1))


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
