"""Which state a rule's question is about, and what of a message that takes (SIG-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from models.questions.types import JsonValue
from serve_app.config.schema.signals import Input
from serve_app.message import Message, Role, Turn

_SPEAKERS: Final = (Role.USER, Role.ASSISTANT)


class StateKind(NamedTuple):
    """A rule's input. The order of kinds is the order of a batch's entries (SIG-4)."""

    history: bool = False
    previous_turns: int = 0
    tool_results: bool = False
    images: bool = False

    @classmethod
    def of(cls, reads: Input) -> StateKind:
        return cls(reads.history, reads.previous_turns, reads.tool_results, reads.images)

    def state(self, message: Message) -> dict[str, JsonValue]:
        """The state, its keys oldest first: the request stands last."""
        state: dict[str, JsonValue] = {}
        if self.history:
            state["history"] = _turns(message.earlier)
        if self.previous_turns:
            state["previous_turns"] = _turns(previous_turns(message, self.previous_turns))
        if self.tool_results:
            state["tool_results"] = list(message.tool_results)
        if self.images:
            state["images"] = list(message.images)
        state["request"] = message.text
        return state


def joined(state: Mapping[str, JsonValue]) -> str:
    """The texts of a state as the one text that guards read in windows (SCAN-1)."""
    texts: list[str] = []
    for key in ("history", "previous_turns"):
        texts += [turn["text"] for turn in state.get(key, ())]
    return "\n".join([*texts, *state.get("tool_results", ()), state["request"]])


def previous_turns(message: Message, count: int) -> list[Turn]:
    """The last ``count`` user and assistant turns before the latest user message."""
    turns: list[Turn] = []
    for turn in reversed(message.earlier):
        if len(turns) == count:
            break
        if turn.role in _SPEAKERS:
            turns.append(turn)
    return turns[::-1]


def has_earlier_turn(message: Message) -> bool:
    return any(turn.role in _SPEAKERS for turn in message.earlier)


def _turns(turns: Iterable[Turn]) -> list[JsonValue]:
    return [{"role": turn.role.value, "text": turn.text} for turn in turns]


@dataclass(frozen=True, slots=True)
class Reads:
    """What a recipe reads of a message, beside its latest text, counts and kinds of parts.

    ``metadata``: keys of ``Message.metadata``.
    """

    history: bool = False
    previous_turns: int = 0
    tool_results: bool = False
    images: bool = False
    metadata: frozenset[str] = frozenset()

    def narrow(self, message: Message) -> Message:
        """The message with what is read alone: all that travels to the planner (SRV-3)."""
        earlier = message.earlier
        if not self.history:
            earlier = tuple(previous_turns(message, self.previous_turns))
        return replace(
            message,
            earlier=earlier,
            tool_results=message.tool_results if self.tool_results else (),
            images=message.images if self.images else (),
            metadata={k: v for k, v in message.metadata.items() if k in self.metadata},
        )
