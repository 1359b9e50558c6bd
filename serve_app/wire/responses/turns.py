"""``instructions`` and ``input`` as the turns of a conversation (API-1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from serve_app.wire.neutral.conversation import (
    File,
    Image,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from serve_app.wire.responses.fields import Defaults, Fields
from serve_app.wire.responses.items import CALLS, OUTPUTS, ROLES
from serve_app.wire.responses.parts import read_parts
from serve_app.wire.responses.sealing import ReasoningState, unseal

Role: TypeAlias = Literal["system", "user", "assistant"]

SEPARATOR: Final = "\n\n"
"""Between the parts of one item's reasoning."""

_DEFAULTS: Final[Defaults] = {
    "async": (False,),
    "caller": ({"type": "direct"},),
    "status": ("in_progress", "completed", "incomplete"),
}


@dataclass(slots=True)
class Turns:
    """Grows item by item. ``lost`` names what the neutral form has no place for."""

    system: list[Text] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def read(self, fields: Fields) -> None:
        """The whole of a body that ``read_request`` accepted."""
        if instructions := fields.string("instructions"):
            self.system.append(Text(instructions))
        if isinstance(text := fields.take("input"), str):
            self._add("user", [Text(text)])
            return
        for item in fields.objects("input"):
            self._read_item(item)

    def _read_item(self, item: Fields) -> None:
        kind = item.string("type")
        if kind is None and not item.has("role"):
            item.required("id")
            kind = "item_reference"
        if kind is None or kind == "message":
            self._message(item)
        elif kind in CALLS:
            call = ToolCall(
                item.required("call_id"), item.required("name"), item.required(CALLS[kind])
            )
            self._add("assistant", [call])
        elif kind in OUTPUTS:
            self._output(item)
        elif kind == "reasoning":
            self._reasoning(item)
        else:
            self.lost.append(item.place(kind))
            return
        item.take("id")
        self.lost += item.rest(_DEFAULTS)

    def _message(self, item: Fields) -> None:
        role = item.required("role")
        if role not in ROLES:
            raise item.wrong("role", f"must be one of: {', '.join(ROLES)}")
        parts = read_parts(item, "content", self.lost)
        if role == "user":
            self._add("user", [_spoken(part) for part in parts])
        elif role == "assistant":
            self._add("assistant", parts)
        else:
            self._instruct(item, [_spoken(part) for part in parts])

    def _instruct(self, item: Fields, parts: list[Part]) -> None:
        texts = [part for part in parts if isinstance(part, Text)]
        if len(texts) < len(parts):
            self.lost.append(item.place("content"))
        if self.turns:
            self._add("system", texts)
        else:
            self.system += texts

    def _output(self, item: Fields) -> None:
        """Neighbouring results are one turn."""
        call_id = item.required("call_id")
        read = [_spoken(part) for part in read_parts(item, "output", self.lost)]
        parts = tuple(part for part in read if isinstance(part, Text | Image | File))
        item.take("name")  # of the call, which the id tells
        result = ToolResult(call_id, () if parts == (Text(""),) else parts)
        last = self.turns[-1].parts if self.turns else ()
        if last and isinstance(last[-1], ToolResult):
            self.turns[-1] = Turn("user", (*last, result))
        else:
            self._add("user", [result])

    def _reasoning(self, item: Fields) -> None:
        texts = [
            part.text
            for name in ("summary", "content")
            if item.has(name)
            for part in read_parts(item, name, self.lost)
            if isinstance(part, Text)
        ]
        encrypted, id = item.string("encrypted_content"), item.string("id") or ""
        state = unseal(encrypted, id) if encrypted else ReasoningState()
        reasoning = Reasoning(SEPARATOR.join(texts), state.signature, state.hidden, state.origin)
        if reasoning != Reasoning(""):
            self._add("assistant", [reasoning])

    def _add(self, role: Role, parts: Iterable[Part]) -> None:
        """Neighbours of the assistant are one turn."""
        added = tuple(parts)
        if not added:
            return
        if role == "assistant" and self.turns and self.turns[-1].role == role:
            self.turns[-1] = Turn(role, (*self.turns[-1].parts, *added))
        else:
            self.turns.append(Turn(role, added))


def _spoken(part: Part) -> Part:
    """Nobody but the assistant refuses: of others it is a text."""
    return Text(part.text) if isinstance(part, Refusal) else part
