"""Answers of a remote API that are kept for a while (CACHE-2, CACHE-3)."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from sys import getsizeof
from typing import Final

from models.questions.types import (
    Answer,
    ChoiceAnswer,
    ErrorAnswer,
    JsonValue,
    NoulAnswer,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)
from serve_app.asking.call import Call, Entry
from serve_app.asking.stage import Clock

KEPT_S: Final = 600.0
KEPT_ANSWERS: Final = 4096

KEPT_BYTES: Final = 32_768
"""Most that one kept answer takes, roughly: all together stay below 128 MB. A choice of 255
options fits; the spans of a text full of them may not, and are asked again."""

Key = tuple[bytes, bytes]
"""A state's hash and a question's digest: no id, and no threshold, label or predicate of a rule,
which are the asker's to apply (CACHE-3)."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What of a call is kept, and what is left to ask, under the names of the call."""

    kept: Mapping[str, Mapping[str, Answer]]
    left: Mapping[str, Entry]
    keys: Mapping[str, Mapping[str, Key]]
    epoch: int


class RemoteCache:
    """Of one remote deployment: its endpoint and model are in no key.

    The least recently asked of more than ``size`` go first; an answer that is asked for is not
    kept for longer. States are hashed, so that a kept answer is small whatever it is about.
    """

    def __init__(self, clock: Clock, ttl_s: float = KEPT_S, size: int = KEPT_ANSWERS) -> None:
        self._clock = clock
        self._ttl_s = min(ttl_s, KEPT_S)
        self._size = size
        self._kept: OrderedDict[Key, tuple[float, Answer]] = OrderedDict()
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._kept)

    def look_up(self, call: Call) -> Lookup:
        kept: dict[str, dict[str, Answer]] = {}
        left: dict[str, Entry] = {}
        keys: dict[str, dict[str, Key]] = {}
        for name, entry in call.entries.items():
            state = _hashed(entry.state)
            keys[name] = {id: (state, q.digest()) for id, q in entry.questions.items()}
            found = {id: self._fresh(key) for id, key in keys[name].items()}
            kept[name] = {id: answer for id, answer in found.items() if answer is not None}
            unknown = {id: q for id, q in entry.questions.items() if id not in kept[name]}
            if unknown:
                left[name] = Entry(entry.state, unknown)
        return Lookup(kept, left, keys, self._epoch)

    def keep(self, lookup: Lookup, answers: Mapping[str, Mapping[str, Answer]]) -> None:
        """Keeps the answers to what ``lookup`` left, save errors, and all if they were asked for
        before a ``clear``."""
        if lookup.epoch != self._epoch:
            return
        now = self._clock()
        for name, by_id in answers.items():
            for id, answer in by_id.items():
                if not isinstance(answer, ErrorAnswer) and _bytes(answer) <= KEPT_BYTES:
                    self._kept[lookup.keys[name][id]] = (now, answer)
                    self._kept.move_to_end(lookup.keys[name][id])
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything: the configuration changed (CACHE-2)."""
        self._kept.clear()
        self._epoch += 1

    def _fresh(self, key: Key) -> Answer | None:
        found = self._kept.get(key)
        if found is None:
            return None
        since, answer = found
        if self._clock() - since >= self._ttl_s:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return answer


def _hashed(state: JsonValue) -> bytes:
    """Of the state as it is sent, members in their order: a model may read them in it.

    32 bytes: states are strangers' texts, and nobody may find two with one hash.
    """
    return blake2b(json.dumps(state, separators=(",", ":")).encode(), digest_size=32).digest()


def _bytes(answer: Answer) -> int:
    """What an answer takes, with the names it shares with its question."""
    match answer:
        case ChoiceAnswer(names, _) | ScoreAnswer(names, _) | SetAnswer(names, _):
            return sum(32 + getsizeof(name) for name in names)
        case SpanAnswer(spans):
            return sum(256 + getsizeof(span.label) + getsizeof(span.text) for span in spans)
        case NoulAnswer() | ErrorAnswer():
            return 0
