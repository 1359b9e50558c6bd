"""What the policy reads of a conversation, put together from what its messages say (SIG-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from models.questions.types import JsonValue
from serve_app.message import Counts, Message, Modality, Role, Turn


@dataclass(slots=True)
class Content:
    """``texts``: those of a message's parts and the arguments of its tool calls, in order."""

    texts: list[str] = field(default_factory=list)
    image_urls: list[str] = field(default_factory=list)
    modalities: set[Modality] = field(default_factory=set)
    tool_calls: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def images(self) -> tuple[str, ...]:
        return tuple(self.image_urls)

    def add_text(self, text: str) -> None:
        self.texts.append(text)
        self.modalities.add(Modality.TEXT)


class Said(NamedTuple):
    """One message."""

    role: Role
    content: Content


def message_of(
    said: Sequence[Said],
    headers: Mapping[str, str],
    *,
    metadata: JsonValue,
    tool_definitions: int,
) -> Message:
    """The conversation of ``said``, oldest first.

    ``headers``: those that rules read, in lower case and without credentials. ``metadata``: the
    body's, whatever it is.
    """
    latest = max((i for i, (role, _) in enumerate(said) if role is Role.USER), default=-1)
    before = said[:latest] if latest >= 0 else said
    turns = [Turn(role, content.text) for role, content in before if role is not Role.SYSTEM]
    system = [Turn(role, content.text) for role, content in said if role is Role.SYSTEM]
    users = [content for role, content in said if role is Role.USER]
    return Message(
        text=said[latest].content.text if latest >= 0 else "",
        earlier=(*system, *turns),
        tool_results=tuple(content.text for role, content in said if role is Role.TOOL),
        images=said[latest].content.images if latest >= 0 else (),
        modalities=frozenset[Modality]().union(*(content.modalities for content in users)),
        counts=_counts(said, tool_definitions),
        tokens=estimate_tokens(content.text for _, content in said),
        metadata=_metadata(metadata, headers),
    )


def message_of_text(text: str, headers: Mapping[str, str]) -> Message:
    """A conversation of one user message."""
    said = Said(Role.USER, Content())
    said.content.add_text(text)
    return message_of([said], headers, metadata=None, tool_definitions=0)


def estimate_tokens(texts: Iterable[str]) -> int:
    """4 bytes of UTF-8 a token, rounded up (API-6)."""
    size = sum(len(t) if t.isascii() else len(t.encode("utf-8", "surrogatepass")) for t in texts)
    return -(-size // 4)


def length(value: Any) -> int:
    """How many there are; of what is no list, none."""
    return len(value) if isinstance(value, list) else 0


def _counts(said: Iterable[Said], tool_definitions: int) -> Counts:
    of_role = dict.fromkeys(Role, 0)
    calls = images = 0
    for role, content in said:
        of_role[role] += 1
        calls += content.tool_calls
        images += len(content.image_urls)
    return Counts(
        system=of_role[Role.SYSTEM],
        user=of_role[Role.USER],
        assistant=of_role[Role.ASSISTANT],
        tool=of_role[Role.TOOL],
        tool_definitions=tool_definitions,
        tool_calls=calls,
        images=images,
    )


def _metadata(given: JsonValue, headers: Mapping[str, str]) -> dict[str, str]:
    members = given.items() if isinstance(given, dict) else ()
    metadata = {name: value for name, value in members if isinstance(value, str)}
    # Written last: a member of the body named like a header does not stand for one.
    metadata = {k: v for k, v in metadata.items() if not k.startswith("header.")}
    return metadata | {f"header.{name}": value for name, value in headers.items()}
