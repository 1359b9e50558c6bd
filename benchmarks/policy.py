"""What the policy itself costs a request: twenty rules, every answer there at once.

    python benchmarks/policy.py [--rounds N] [--requests N] [--json FILE]

Prints the median of the rounds' medians and their spread, in microseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import time
from pathlib import Path
from typing import Any

from models.cards.schema import Card
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    Span,
    SpanAnswer,
)
from serve_app.asking.call import Call, Reply
from serve_app.config.schema.document import Config
from serve_app.flow import route
from serve_app.message import Counts, Message, Role, Turn
from serve_app.recipe import CompiledRecipe, compile_recipe
from serve_app.scan.speed import Speeds

OWN = 6
"""How many of the twenty rules are the user's own questions."""


def recipe() -> CompiledRecipe:
    """Every section but ``modality``, twenty rules, two states, ten decisions."""
    signals = {
        "domains": [{"name": "math", "labels": ["math"]}, {"name": "law", "labels": ["law"]}],
        "jailbreak": [{"name": "attack"}, {"name": "attack_history", "input": {"history": True}}],
        "safety": [{"name": "harm"}, {"name": "weapons", "labels": ["weapons"]}],
        "pii": [{"name": "personal"}],
        "complexity": [{"name": "difficulty"}],
        "fact_check": [{"name": "facts"}],
        "turn_relation": [{"name": "correction", "labels": ["correction"]}],
        "systemone": [
            {
                "name": f"own_{i}",
                "question": {"type": "noul", "instructions": f"Is this about topic {i}?"},
            }
            for i in range(OWN)
        ],
        "keywords": [{"name": "urgent", "keywords": ["urgent", "asap"]}],
        "context": [{"name": "long", "min_tokens": 4000}],
        "conversation": [{"name": "tools", "count": "tool_calls", "predicate": {"gte": 1}}],
        "metadata": [{"name": "gold", "key": "tier", "equals": "gold"}],
    }
    leaves = [
        {"type": "jailbreak", "name": "attack"},
        {"type": "jailbreak", "name": "attack_history"},
        {"type": "safety", "name": "harm"},
        {"type": "safety", "name": "weapons"},
        {"type": "pii", "name": "personal"},
        {"type": "domain", "name": "math"},
        {"type": "domain", "name": "law"},
        {"type": "complexity", "name": "difficulty", "label": "hard"},
        {"type": "fact_check", "name": "facts"},
        {"type": "turn_relation", "name": "correction"},
        *({"type": "systemone", "name": f"own_{i}"} for i in range(OWN)),
        {"type": "keywords", "name": "urgent"},
        {"type": "context", "name": "long"},
        {"type": "conversation", "name": "tools"},
        {"type": "metadata", "name": "gold"},
    ]
    assert len(leaves) == sum(map(len, signals.values())) == 20
    decisions: list[dict[str, Any]] = [
        {
            "name": f"decision_{i}",
            "priority": 100 - i,
            "rules": {
                "operator": "AND" if i % 2 else "OR",
                "conditions": leaves[2 * i : 2 * i + 2],
            },
            "modelRefs": [{"model": "general"}],
        }
        for i in range(10)
    ]
    config = Config.model_validate(
        {
            "version": "v1",
            "providers": {
                "defaults": {"default_model": "general"},
                "models": [
                    {"name": "general", "backends": [{"base_url": "http://127.0.0.1:9/v1"}]}
                ],
            },
            "entrypoints": [{"model_names": ["auto"], "recipe": "default"}],
            "recipes": [{"name": "default", "signals": signals, "decisions": decisions}],
        }
    )
    card = Card(
        name="instant",
        revision="1",
        family="instant",
        release_date="2026-01-01",
        question_types=frozenset(QuestionType),
        calibrated=False,
        max_input_tokens=4096,
        reads_state_once=True,
        licence="Apache-2.0",
    )
    return compile_recipe(config.recipes[0], config, {"primary": card})


def no(question: Question) -> Answer:
    """An answer of the right shape that matches no rule, so that every decision is tried."""
    keys = tuple(option.key for option in question.options)
    match question.type:
        case QuestionType.NOUL:
            return NoulAnswer(0.1)
        case QuestionType.CHOICE:
            return ChoiceAnswer(
                keys, tuple(0.9 if i == 0 else 0.1 / (len(keys) - 1) for i in range(len(keys)))
            )
        case QuestionType.SCORE:
            return ScoreAnswer(keys, (1.0, *(0.0 for _ in keys[1:])))
        case QuestionType.SET:
            return SetAnswer(keys, tuple(0.1 for _ in keys))
        case QuestionType.SPAN:
            return SpanAnswer((Span(keys[0], 0, 1, "x", 0.1),))


class Instant:
    """Answers at once with replies made before."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}

    async def __call__(self, call: Call) -> Reply:
        reply = self._replies.get(call.deployment)
        if reply is None:
            reply = self._replies[call.deployment] = Reply(
                {
                    name: {id: no(question) for id, question in entry.questions.items()}
                    for name, entry in call.entries.items()
                }
            )
        return reply


async def measure(rounds: int, requests: int, explain: bool) -> list[float]:
    """Each round's median time of one ``route``, in microseconds."""
    compiled, ask = recipe(), Instant()
    message = Message(
        "Summarise the attached minutes of the board meeting in five sentences, please.",
        earlier=(Turn(Role.USER, "Hello"), Turn(Role.ASSISTANT, "Hello, how can I help?")),
        counts=Counts(user=2, assistant=1),
        tokens=40,
    )
    medians = []
    for _ in range(rounds + 1):
        times = []
        for _ in range(requests):
            start = time.perf_counter_ns()
            await route(
                message,
                compiled,
                ask=ask,
                clock=time.monotonic,
                rng=lambda: 0.5,
                speeds=Speeds(),
                deadline_s=None,
                config_version="benchmark",
                explain=explain,
            )
            times.append((time.perf_counter_ns() - start) / 1000)
        medians.append(statistics.median(times))
    return medians[1:]  # the first round warms up


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    record: dict[str, Any] = {"machine": platform.processor() or platform.machine()}
    for name, explain in (("route", False), ("route, explained", True)):
        medians = asyncio.run(measure(options.rounds, options.requests, explain))
        record[name] = {
            "p50_us": statistics.median(medians),
            "lowest_us": min(medians),
            "highest_us": max(medians),
        }
        print(
            f"{name:18} p50 {statistics.median(medians):7.1f} µs"
            f"   rounds {min(medians):.1f} to {max(medians):.1f}"
        )
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
