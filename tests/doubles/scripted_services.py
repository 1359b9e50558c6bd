"""The graph behind Ingress, played: outcomes and answers that a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from models.cards.schema import Card
from models.engine import Row
from models.questions.types import (
    Answer,
    ChoiceAnswer,
    NoulAnswer,
    Question,
    QuestionType,
    ScoreAnswer,
    SetAnswer,
    SpanAnswer,
)
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.asking.call import Call, Reply
from serve_app.config.cards import cards_of
from serve_app.config.schema.document import Config
from serve_app.config.shown import shown_config
from serve_app.deployments.api.services import Readiness
from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.message import Message
from serve_app.outcome import Outcome

VERSION = "0123456789abcdef"

CARD = Card(
    name="scripted-1.0",
    revision="1",
    family="scripted",
    description="Answers that tests write",
    release_date="2026-01-02",
    question_types=frozenset(QuestionType),
    calibrated=False,
    max_input_tokens=9216,
    reads_state_once=True,
    licence="Apache-2.0",
)


def hashed_answer(row: Row, question: Question) -> Answer:
    """A valid answer that depends on the state and the question's content alone."""
    words = Row(row.state, (question,)).state.encode("utf-8", "surrogatepass")
    seed = int.from_bytes(question.digest()[:4]) ^ (sum(words) * 2654435761 & 0xFFFFFFFF)
    weights = [1 + (seed >> (i % 24)) % 97 for i in range(max(1, len(question.options)))]
    shares = tuple(w / sum(weights) for w in weights)
    keys = tuple(option.key for option in question.options)
    match question.type:
        case QuestionType.NOUL:
            return NoulAnswer((seed % 1000) / 1000)
        case QuestionType.CHOICE:
            return ChoiceAnswer(keys, shares)
        case QuestionType.SCORE:
            return ScoreAnswer(tuple(option.text or "" for option in question.options), shares)
        case QuestionType.SET:
            return SetAnswer(keys, tuple(w / 98 for w in weights))
        case QuestionType.SPAN:
            return SpanAnswer(())


class ScriptedServices:
    """Local models are played, remote ones are asked where they are.

    ``plan_with`` and ``reply_with`` may be set by a test; ``planned`` and ``asked`` hold what
    came; with ``hold`` each waits for it. ``entered`` and ``cancelled`` say that one did, and that
    one's wait was cancelled.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        cards: Mapping[str, Card] | None = None,
        shown: Mapping[str, Any] | None = None,
    ) -> None:
        self.config = Config.model_validate(config)
        self.shown = shown or shown_config(self.config)
        self.config_version = VERSION
        catalog = self.config.global_.model_catalog
        self.cards: Mapping[str, Card] = cards or cards_of(catalog, {"embedded": CARD})
        self.remote = RemoteModels(catalog, env={})
        self.planned: list[tuple[Message, str, float | None]] = []
        self.asked: list[tuple[str, ModelCall]] = []
        self.ready = {"DecisionModel:primary": Readiness(True)}
        self.plan_with: Callable[[Message, str], Outcome] | None = None
        self.reply_with: ModelReply | Refusal | None = None
        self.hold: asyncio.Event | None = None
        self.entered = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.explained: bool | None = None

    async def plan(
        self, message: Message, recipe: str, remaining_s: float | None, *, explain: bool
    ) -> Outcome:
        self.planned.append((message, recipe, remaining_s))
        self.explained = explain
        await self._held()
        if self.plan_with is not None:
            return self.plan_with(message, recipe)
        return Outcome(recipe, VERSION, decision="everything", models=("general",))

    async def answer_systemone(self, deployment: str, call: ModelCall) -> ModelReply | Refusal:
        self.asked.append((deployment, call))
        await self._held()
        if self.reply_with is not None:
            return self.reply_with
        answers = tuple(tuple(hashed_answer(r, q) for q in r.questions) for r in call.rows)
        tokens = tuple(len(row.state.split()) for row in call.rows)
        return ModelReply(answers, tokens, queue_ms=0.25, tokenize_ms=0.5, forward_ms=1.5)

    async def aclose(self) -> None:
        await self.remote.aclose()

    async def ask_remote(self, call: Call) -> Reply:
        return await self.remote.ask(call)

    async def connected(self) -> None:
        """It always is."""

    async def readiness(self) -> Mapping[str, Readiness]:
        return self.ready

    async def _held(self) -> None:
        self.entered.set()
        if self.hold is not None:
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
