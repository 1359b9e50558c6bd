"""The formats that clients and chat providers speak, by name (API-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from serve_app.errors import WireFormat
from serve_app.wire.anthropic.format import ANTHROPIC
from serve_app.wire.chat.format import CHAT
from serve_app.wire.format import Format
from serve_app.wire.responses.format import RESPONSES

FORMATS: Final[Mapping[WireFormat, Format]] = {
    format.name: format for format in (CHAT, RESPONSES, ANTHROPIC)
}
