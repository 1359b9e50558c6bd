"""An answer of the router's own: one text, by a decision's ``fast_response`` (65-plugins)."""

from __future__ import annotations

from serve_app.wire.neutral.events import Began, Ended, Event, Stop, TextDelta, Used
from serve_app.wire.neutral.message import estimate_tokens


def fast_events(text: str, prompt_tokens: int) -> tuple[Event, ...]:
    """The events of an answer that says ``text``, with its usage."""
    used = Used(prompt_tokens, estimate_tokens([text]))
    return (Began("", ""), TextDelta(0, text), Ended(Stop.END), used)
