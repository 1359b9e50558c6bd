"""Thinking and sampling for a provider of Messages, which forbids some of one with the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from serve_app.wire.anthropic.accepts import Accepts
from serve_app.wire.neutral.conversation import Conversation, Sampling

MIN_BUDGET: Final = 1024
"""The smallest budget that Messages accepts for thinking."""

MIN_THINKING_TOP_P: Final = 0.95

SHARES: Final[Mapping[str, float]] = {"minimal": 0.1, "low": 0.2, "medium": 0.5, "high": 0.8}
"""The share of ``max_tokens`` that each effort may think; what is left is for the answer."""

_EFFORTS: Final = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}


@dataclass(frozen=True, slots=True)
class WrittenThinking:
    """``config``: the member ``thinking``; ``effort``: that of ``output_config``."""

    config: dict[str, Any] | None = None
    effort: str | None = None

    @property
    def has_budget(self) -> bool:
        return self.config is not None and "budget_tokens" in self.config


def write_thinking(
    conversation: Conversation,
    accepted: Accepts,
    max_tokens: int,
    messages: list[dict[str, Any]],
    lost: list[str],
) -> WrittenThinking:
    """A budget below ``max_tokens``, or an effort where the model takes no budget. ``thinking`` is
    lost where Messages would refuse the request for it.
    """
    thinking = conversation.thinking
    if thinking.off:
        return WrittenThinking({"type": "disabled"})
    if thinking.effort is None and thinking.budget_tokens is None:
        return WrittenThinking()
    forced = conversation.tool_choice.mode in ("required", "tool")
    effort = _EFFORTS.get(thinking.effort or "")
    if not accepted.budget and effort is not None:
        return WrittenThinking(None if forced else {"type": "adaptive"}, effort)
    budget = thinking.budget_tokens
    if budget is None and effort is not None:
        budget = max(MIN_BUDGET, int(max_tokens * SHARES[thinking.effort or ""]))
    fits = budget is not None and MIN_BUDGET <= budget < max_tokens
    if not fits or not accepted.budget or forced or _goes_on_without_thinking(messages):
        lost.append("thinking")
        return WrittenThinking()
    return WrittenThinking({"type": "enabled", "budget_tokens": budget})


def write_sampling(
    sampling: Sampling, accepted: Accepts, has_budget: bool, lost: list[str]
) -> dict[str, Any]:
    """The members that are not lost, ``None`` for one that is not there."""
    temperature, top_p, top_k = sampling.temperature, sampling.top_p, sampling.top_k
    if temperature is not None and temperature > 1:
        temperature = 1.0
        lost.append("temperature")
    # At its default each says nothing, and some models refuse both at once.
    if top_p == 1:
        top_p = None
    if temperature == 1 and (top_p is not None or not accepted.sampling):
        temperature = None
    if temperature is not None and (not accepted.sampling or (has_budget and temperature != 1)):
        temperature = None
        lost.append("temperature")
    least = MIN_THINKING_TOP_P if has_budget else 0.0
    if top_p is not None and (not accepted.sampling or top_p < least):
        top_p = None
        lost.append("top_p")
    if top_k is not None and (not accepted.sampling or has_budget):
        top_k = None
        lost.append("top_k")
    for name in ("seed", "frequency_penalty", "presence_penalty"):
        if getattr(sampling, name) not in (None, 0):
            lost.append(name)
    stop = [text for text in sampling.stop if text.strip()]
    lost += [f"stop[{i}]" for i, text in enumerate(sampling.stop) if not text.strip()]
    return {"temperature": temperature, "top_p": top_p, "top_k": top_k, "stop_sequences": stop}


def _goes_on_without_thinking(messages: list[dict[str, Any]]) -> bool:
    """Whether the model gets results of calls that it made without thinking, as those of another
    model are: a turn that thinks with a budget begins with it.
    """
    if messages[-1]["content"][0]["type"] != "tool_result" or len(messages) < 2:
        return False
    return bool("thinking" not in messages[-2]["content"][0]["type"])
