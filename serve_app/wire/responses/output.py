"""The items of an answer as they grow, and the events that tell of it (API-3).

A payload is an event without its number. Parts that follow one another go as the format has it,
item by item; a text or a thought that goes on after another has begun is an item anew, while calls
stay open side by side until the answer ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, assert_never

from serve_app.errors import WireFormat
from serve_app.wire.neutral.events import (
    CallBegan,
    CallDelta,
    Delta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from serve_app.wire.responses.sealing import ReasoningState, seal

Payload: TypeAlias = dict[str, Any]
Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]
Kind: TypeAlias = Literal["output_text", "refusal"]

_TEXT_OF: Final[dict[Kind, str]] = {"output_text": "text", "refusal": "refusal"}


class Item(ABC):
    """``index``: its place in ``output``."""

    def __init__(self, id: str, index: int) -> None:
        self.id = id
        self.index = index
        self.status: Status = "in_progress"

    @abstractmethod
    def json(self) -> Payload: ...

    @abstractmethod
    def finish(self) -> Iterator[Payload]:
        """What comes before the item is done."""

    def open(self) -> Payload:
        return self._about("response.output_item.added", item=self.json())

    def close(self, status: Status) -> Iterator[Payload]:
        if self.status != "in_progress":
            return
        yield from self.finish()
        self.status = status
        yield self._about("response.output_item.done", item=self.json())

    def event(self, kind: str, **more: Any) -> Payload:
        return {"type": f"response.{kind}", "item_id": self.id, "output_index": self.index, **more}

    def _about(self, kind: str, item: Payload) -> Payload:
        return {"type": kind, "output_index": self.index, "item": item}


@dataclass(slots=True)
class Content:
    kind: Kind
    pieces: list[str] = field(default_factory=list)

    def json(self) -> Payload:
        text = "".join(self.pieces)
        if self.kind == "refusal":
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


class MessageItem(Item):
    """One content is open at a time: the last."""

    def __init__(self, id: str, index: int) -> None:
        super().__init__(id, index)
        self._contents: list[Content] = []

    def json(self) -> Payload:
        contents = [content.json() for content in self._contents]
        head = {"id": self.id, "type": "message", "status": self.status, "role": "assistant"}
        return {**head, "content": contents}

    def begin(self, kind: Kind) -> Iterator[Payload]:
        yield from self.finish()
        self._contents.append(content := Content(kind))
        yield self._of_content("content_part.added", part=content.json())

    def add(self, text: str) -> Payload:
        content = self._contents[-1]
        content.pieces.append(text)
        return self._of_content(f"{content.kind}.delta", delta=text, **_logprobs(content))

    def finish(self) -> Iterator[Payload]:
        if self._contents:
            content = self._contents[-1]
            part, name = content.json(), _TEXT_OF[content.kind]
            said = {name: part[name], **_logprobs(content)}
            yield self._of_content(f"{content.kind}.done", **said)
            yield self._of_content("content_part.done", part=part)

    def _of_content(self, kind: str, **more: Any) -> Payload:
        return self.event(kind, content_index=len(self._contents) - 1, **more)


class ReasoningItem(Item):
    """Its text is one part of the summary, the place where clients look for it."""

    def __init__(self, id: str, index: int) -> None:
        super().__init__(id, index)
        self._pieces: list[str] = []
        self._signature: str | None = None
        self._hidden: str | None = None
        self._origin: WireFormat | None = None

    def json(self) -> Payload:
        summary = [self._part()] if self._pieces else []
        encrypted = seal(ReasoningState(self._signature, self._hidden, self._origin))
        item = {"id": self.id, "type": "reasoning", "summary": summary}
        return item if encrypted is None else {**item, "encrypted_content": encrypted}

    def add(self, delta: ReasoningDelta) -> Iterator[Payload]:
        self._signature = delta.signature or self._signature
        self._hidden = delta.hidden or self._hidden
        self._origin = delta.origin or self._origin
        if not delta.text:
            return
        if not self._pieces:
            yield self._of_summary("part.added", part=self._part())
        self._pieces.append(delta.text)
        yield self._of_summary("text.delta", delta=delta.text)

    def finish(self) -> Iterator[Payload]:
        if self._pieces:
            yield self._of_summary("text.done", text="".join(self._pieces))
            yield self._of_summary("part.done", part=self._part())

    def _part(self) -> Payload:
        return {"type": "summary_text", "text": "".join(self._pieces)}

    def _of_summary(self, kind: str, **more: Any) -> Payload:
        return self.event(f"reasoning_summary_{kind}", summary_index=0, **more)


class CallItem(Item):
    def __init__(self, id: str, index: int, call_id: str, name: str) -> None:
        super().__init__(id, index)
        self._call_id = call_id
        self._name = name
        self._pieces: list[str] = []

    def json(self) -> Payload:
        return {
            "id": self.id,
            "type": "function_call",
            "status": self.status,
            "call_id": self._call_id,
            "name": self._name,
            "arguments": "".join(self._pieces),
        }

    def add(self, arguments: str) -> Payload:
        self._pieces.append(arguments)
        return self.event("function_call_arguments.delta", delta=arguments)

    def finish(self) -> Iterator[Payload]:
        yield self.event("function_call_arguments.done", arguments="".join(self._pieces))


class Output:
    """``suffix``: of the answer's id; it makes those of the items unlike any other's."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._items: list[Item] = []
        self._calls: dict[int, CallItem] = {}
        self._call_ids: set[str] = set()
        self._open: MessageItem | ReasoningItem | None = None
        self._part: tuple[int, str] | None = None

    def json(self) -> list[Payload]:
        return [item.json() for item in self._items]

    def take(self, delta: Delta) -> Iterator[Payload]:
        match delta:
            case TextDelta(part, text):
                yield from self._text(part, "output_text", text)
            case RefusalDelta(part, text):
                yield from self._text(part, "refusal", text)
            case ReasoningDelta():
                yield from self._reasoning(delta)
            case CallBegan():
                yield from self._call(delta)
            case CallDelta(part, arguments):
                if part in self._calls:
                    yield self._calls[part].add(arguments)
            case _:
                assert_never(delta)

    def close(self, status: Status) -> Iterator[Payload]:
        for item in self._items:
            yield from item.close(status)

    def _text(self, part: int, kind: Kind, text: str) -> Iterator[Payload]:
        message = self._open
        if not isinstance(message, MessageItem):
            yield from self._close_open()
            message = self._open = MessageItem(self._id("msg"), len(self._items))
            yield self._added(message)
        if self._part != (part, kind):
            self._part = (part, kind)
            yield from message.begin(kind)
        yield message.add(text)

    def _reasoning(self, delta: ReasoningDelta) -> Iterator[Payload]:
        reasoning = self._open
        if not isinstance(reasoning, ReasoningItem) or self._part != (delta.part, "reasoning"):
            yield from self._close_open()
            reasoning = self._open = ReasoningItem(self._id("rs"), len(self._items))
            self._part = (delta.part, "reasoning")
            yield self._added(reasoning)
        yield from reasoning.add(delta)

    def _call(self, began: CallBegan) -> Iterator[Payload]:
        yield from self._close_open()
        id = self._id("fc")
        # A client answers a call by its id, so each has one of its own, whatever the provider says.
        call_id = began.id if began.id and began.id not in self._call_ids else f"call_{id}"
        self._call_ids.add(call_id)
        call = self._calls[began.part] = CallItem(id, len(self._items), call_id, began.name)
        yield self._added(call)

    def _close_open(self) -> Iterator[Payload]:
        if self._open is not None:
            yield from self._open.close("completed")
        self._open = self._part = None

    def _added(self, item: Item) -> Payload:
        self._items.append(item)
        return item.open()

    def _id(self, kind: str) -> str:
        return f"{kind}_{self._suffix}_{len(self._items)}"


def _logprobs(content: Content) -> Payload:
    return {"logprobs": []} if content.kind == "output_text" else {}
