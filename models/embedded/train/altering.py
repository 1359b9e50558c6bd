"""Authored items altered so that their labels follow: other values, other keys, other details."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

from models.embedded.train.personal import Inventor
from models.questions.types import JsonValue

_MARK: Final = re.compile(r"\[\[([A-Z_]+)\|(.+?)\]\]", re.S)
_NUMBER: Final = re.compile(r"(?<![\w\[.,])\d{1,6}(?![\w\]]|[.,]\d)")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})?\b")
_FOLLOWS: Final = re.compile(
    r"\b(so|thus|hence|therefore|in all|total|which|left|more|less|than)\b"
)
_KEYS: Final = {
    "request": ("query", "question", "prompt", "user", "message"),
    "candidate": ("passage", "document", "text", "other", "second"),
    "answer": ("response", "reply", "output", "assistant"),
    "context": ("source", "documents", "passage", "evidence"),
}

ASKED: Final = 0.6
"""Share of the times that an item with questions of its own is left as it is, and asked them."""


class Altering:
    """Deterministic to ``rng``. ``tools``: those of all items."""

    def __init__(self, rng: Random, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        self._rng = rng
        self._tools = tools
        self._inventor = Inventor(rng)

    def altered(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        state = item["state"]
        ask = item.get("ask", {})
        if ask and item.get("questions") and self._rng.random() > ASKED:
            item = {**item, "questions": []}  # what is altered may not answer them as it did
        if item.get("questions"):
            return item
        if "pii" in ask:
            state = self._with_other_values(state)
        elif "hallucination" in ask:
            state = self._with_other_details(state)
        elif isinstance(state, str):
            plain = self._rng.random() > 0.1
            return item if plain else {**item, "state": self._typed(state)}
        if isinstance(state, dict):
            state = self._with_other_keys(state, ask)
        altered = {**item, "state": state}
        if item.get("tools") and self._tools and self._rng.random() < 0.6:
            altered["tools"] = self._more_tools(item["tools"])
        return altered

    def _more_tools(self, tools: Mapping[str, Any]) -> dict[str, Any]:
        """Some tools of other items besides, in any order: none of them was meant."""
        others = {
            name: text
            for some in self._rng.sample(self._tools, min(3, len(self._tools)))
            for name, text in some.items()
            if name not in tools and self._rng.random() < 0.4
        }
        members = [*tools.items(), *others.items()]
        self._rng.shuffle(members)
        return dict(members)

    def _typed(self, text: str) -> str:
        """As typed in a hurry."""
        lowered = text.lower()
        return lowered.rstrip(".?!") if self._rng.random() < 0.5 else lowered

    def _with_other_values(self, state: JsonValue) -> JsonValue:
        if self._rng.random() < 0.2:
            return state
        values: dict[tuple[str, str], str] = {}

        def other(match: re.Match[str]) -> str:
            label, text = match.groups()
            if self._rng.random() < 0.25:
                values.setdefault((label, text), text)
            elif (label, text) not in values:
                values[label, text] = self._inventor.value(label)
            return f"[[{label}|{values[label, text]}]]"

        return _mapped(state, lambda text: _MARK.sub(other, text))

    def _with_other_details(self, state: dict[str, Any]) -> dict[str, Any]:
        """A number or a name of the answer, which the context has, becomes another one."""
        if self._rng.random() < 0.45:
            return state
        answer, context = state["answer"], _text(state["context"])
        if _FOLLOWS.search(answer) or len(_NUMBER.findall(answer)) > 1:
            return state  # something else in it may follow from the detail
        found = [
            match
            for pattern in (_NUMBER, _NAME)
            for match in pattern.finditer(answer)
            if match[0] in context and not _marked(answer, match.start())
        ]
        if not found:
            return state
        match = self._rng.choice(found)
        other = self._other(match[0], context)
        if other is None or other in context:
            return state
        changed = f"{answer[: match.start()]}[[{other}]]{answer[match.end() :]}"
        return {**state, "answer": changed}

    def _other(self, text: str, context: str) -> str | None:
        if text.isdigit():
            value = int(text)
            size = max(2, value // 3)
            return str(max(0, value + self._rng.choice([-1, 1]) * self._rng.randint(1, size)))
        label = "PERSON" if " " in text else self._rng.choice(["GPE", "PERSON"])
        name = self._inventor.value(label)
        return name if name[0].isupper() and "," not in name and name not in context else None

    def _with_other_keys(self, state: dict[str, Any], ask: Mapping[str, Any]) -> dict[str, Any]:
        rng = self._rng
        if "turn_relation" in ask or "user_feedback" in ask:
            turns = state.get("previous_turns", [])
            if len(turns) > 1 and ask.get("turn_relation") != "repeat" and rng.random() < 0.3:
                return {**state, "previous_turns": turns[-1:]}
            return state
        if "same_request" in ask and rng.random() < 0.4:
            state = {"request": state["candidate"], "candidate": state["request"]}
        if rng.random() < 0.8 or set(state) - set(_KEYS):
            return state
        members = [
            (key if rng.random() < 0.4 else rng.choice(_KEYS[key]), value)
            for key, value in state.items()
        ]
        if "same_request" not in ask and rng.random() < 0.3:
            rng.shuffle(members)
        return dict(members) if len(dict(members)) == len(state) else state


def _marked(text: str, at: int) -> bool:
    return text.count("[[", 0, at) > text.count("]]", 0, at)


def _text(value: JsonValue) -> str:
    parts: list[str] = []
    _mapped(value, lambda text: parts.append(text) or text)  # type: ignore[func-returns-value]
    return " ".join(parts)


def _mapped(value: JsonValue, of: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return of(value)
    if isinstance(value, dict):
        return {key: _mapped(member, of) for key, member in value.items()}
    return [_mapped(member, of) for member in value] if isinstance(value, list) else value
