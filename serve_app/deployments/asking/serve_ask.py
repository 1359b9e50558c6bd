"""The policy's effect ``Ask`` over Serve handles."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ray.serve.handle import DeploymentHandle

from models.questions.types import AnswerError, ErrorAnswer
from models.scheduling.messages import ModelCall, Refusal
from serve_app.asking.call import Call, Reply, Timings
from serve_app.asking.rows import answers, rows
from serve_app.asking.stage import failed
from serve_app.deployments.asking.handles import heard_of, method, running
from serve_app.deployments.asking.model_client import ask_model
from serve_app.telemetry.metrics import observe_refusal


class ServeAsk:
    """Asks the replicas of local models; ``models``: handle by deployment of the catalog."""

    def __init__(self, models: Mapping[str, DeploymentHandle[Any]]) -> None:
        self._models = {name: method(model, "answer") for name, model in models.items()}

    async def connected(self) -> None:
        """Returns when every model is known to run, a few seconds later if one does not."""
        await heard_of(self._models.values())

    async def __call__(self, call: Call) -> Reply:
        began = time.monotonic()
        model = self._models.get(call.deployment)
        if model is None or not running(model):
            return failed(call, ErrorAnswer(AnswerError.NOT_READY), attempts=0)
        reply = await ask_model(model, ModelCall(rows(call), call.timeout_s))
        elapsed_ms = (time.monotonic() - began) * 1e3
        if isinstance(reply, Refusal):
            observe_refusal(call.deployment, reply)
            return failed(call, ErrorAnswer(reply.error), elapsed_ms)
        timings = Timings(reply.queue_ms, reply.tokenize_ms, reply.forward_ms)
        return Reply(
            answers(call, reply.answers),
            dict(zip(call.entries, reply.tokens, strict=True)),
            elapsed_ms,
            timings if reply.heard else None,
        )
