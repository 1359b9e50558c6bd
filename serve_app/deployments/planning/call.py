"""What Ingress and the request stage say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serve_app.errors import Code
from serve_app.message import Message


@dataclass(frozen=True)
class PlanCall:
    """One request for the planner. ``remaining_s``: until the request's own deadline, measured
    when it was sent. ``version``: of the configuration it is decided by. ``explain``: with every
    decision's tree (API-9). ``user_config``: that configuration itself, for a planner that said
    that it has none of that version.
    """

    message: Message
    recipe: str
    version: str
    remaining_s: float | None = None
    explain: bool = False
    user_config: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class NotPlanned:
    """The planner has no configuration of that version (any more, or yet)."""

    code: Code = Code.NOT_READY
