"""Why an answer ended, and what it used: read and written (API-1, API-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from models.questions.types import JsonValue
from serve_app.errors import Code, RouterError
from serve_app.wire.neutral.events import Ended, Stop, Used

_READ: Final[Mapping[str, Stop]] = {
    "stop": Stop.END,
    "length": Stop.LENGTH,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "content_filter": Stop.FILTER,
    # Not OpenAI's: Mistral's, text-generation-inference's, Zhipu's.
    "model_length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "stop_sequence": Stop.SEQUENCE,
    "sensitive": Stop.FILTER,
}

_FAILURES: Final = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""By which OpenRouter, Mistral, vLLM, Zhipu and DeepSeek say that the answer is not whole."""

_WRITTEN: Final[Mapping[Stop, str]] = {
    Stop.END: "stop",
    Stop.LENGTH: "length",
    Stop.TOOLS: "tool_calls",
    Stop.SEQUENCE: "stop",
    Stop.FILTER: "content_filter",
    # Chat has no word for it. ``length`` tells a client that the answer goes on.
    Stop.PAUSE: "length",
}


def read_finish(choice: Mapping[str, JsonValue]) -> Ended | None:
    """``None`` while the answer goes on. A word that nobody knows is an end.

    ``RouterError`` (``provider_failed``) where the provider gave up.
    """
    reason = choice.get("finish_reason")
    if reason is None or reason == "":
        return None
    if not isinstance(reason, str):
        raise failed("the provider's finish_reason is no string")
    if reason in _FAILURES:
        raise failed(f"the provider ended its answer with finish_reason {reason}")
    stop = _READ.get(reason, Stop.END)
    # vLLM and SGLang name the sequence that was met, or its token.
    sequence = choice.get("stop_reason")
    if stop is Stop.END and isinstance(sequence, str) and sequence:
        return Ended(Stop.SEQUENCE, sequence)
    return Ended(stop)


def write_finish(stop: Stop) -> str:
    return _WRITTEN[stop]


def read_usage(given: JsonValue) -> Used | None:
    """Lenient: an answer is worth more than its count. ``None`` where no tokens are told."""
    if not isinstance(given, dict):
        return None
    prompt, completion = _count(given, "prompt_tokens"), _count(given, "completion_tokens")
    if prompt is None and completion is None:
        return None
    details = given.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens")
    return Used(
        input=prompt or 0,
        output=_output(given, prompt or 0, completion or 0),
        # DeepSeek's name for it.
        cached=_count(given, "prompt_cache_hit_tokens") if cached is None else cached,
        written=_count(details, "cache_write_tokens"),
        reasoning=_count(given.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _output(given: Mapping[str, JsonValue], prompt: int, completion: int) -> int:
    """xAI and Gemini leave thinking out of ``completion_tokens`` but not out of the total."""
    total = _count(given, "total_tokens") or 0
    return max(completion, total - prompt)


def _count(given: JsonValue, name: str) -> int | None:
    value = given.get(name) if isinstance(given, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def write_usage(used: Used) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
    }
    prompt = {"cached_tokens": used.cached, "cache_write_tokens": used.written}
    if any(count is not None for count in prompt.values()):
        known = {name: count for name, count in prompt.items() if count is not None}
        usage["prompt_tokens_details"] = known
    if used.reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": used.reasoning}
    return usage


def failed(message: str) -> RouterError:
    """The provider's answer is none."""
    return RouterError(Code.PROVIDER_FAILED, message)
