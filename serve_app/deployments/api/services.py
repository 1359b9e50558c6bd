"""What Ingress needs of the graph behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from models.cards.schema import Card
from models.engine import ModelDescription
from models.scheduling.messages import ModelCall, ModelReply, Refusal
from serve_app.asking.call import Call, Reply
from serve_app.config.schema.document import Config
from serve_app.message import Message
from serve_app.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Readiness:
    """``reason`` says what is missing, ``""`` when nothing is. ``model``: what a decision model's
    replica says of itself.
    """

    ready: bool
    reason: str = ""
    model: ModelDescription | None = None


class Services(Protocol):
    """The rest of the graph, whether behind Serve handles or in the same process.

    ``cards``: by deployment of the catalog. ``shown``: the configuration without secrets.
    Ingress bounds each wait by the request's own deadline and cancels it when the client leaves;
    both must reach the callee.
    """

    @property
    def config(self) -> Config: ...
    @property
    def config_version(self) -> str: ...
    @property
    def shown(self) -> Mapping[str, Any]: ...
    @property
    def cards(self) -> Mapping[str, Card]: ...

    async def plan(
        self, message: Message, recipe: str, remaining_s: float | None, *, explain: bool
    ) -> Outcome:
        """The request stage. ``explain`` asks for ``decisions`` with their trees (API-9).

        ``RouterError`` ``NOT_READY`` or ``OVERLOADED`` if nobody can run it: the request is then
        not forwarded (law 1).
        """

    async def answer_systemone(self, deployment: str, call: ModelCall) -> ModelReply | Refusal:
        """One hop to the model (SRV-2). No replica to ask is a ``Refusal``, ``NOT_READY``."""

    async def ask_remote(self, call: Call) -> Reply:
        """A call to a remote deployment. It never raises for a failed call: each question of it
        has an ``ErrorAnswer`` then.
        """

    async def aclose(self) -> None:
        """Ends the connections to remote models; no request may be open."""

    async def readiness(self) -> Mapping[str, Readiness]:
        """By Serve deployment, without waiting until any is ready."""
