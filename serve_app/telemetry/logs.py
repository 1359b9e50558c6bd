"""Log lines that operators search for. No request text, ever (law 5)."""

from __future__ import annotations

import logging
import traceback

import orjson

from serve_app.outcome import Outcome

logger = logging.getLogger("vsr")


def signal_failed_closed(outcome: Outcome, request_id: str) -> None:
    """One line per guard that counts as a match because it has no answer (UNK-3)."""
    for rule in outcome.rules:
        if rule.failed_closed:
            event = {
                "event": "signal_failed_closed",
                "rule": f"{rule.type}:{rule.name}",
                "deployment": rule.deployment,
                "reason": rule.reason,
                "recipe": outcome.recipe,
                "request_id": request_id,
            }
            logger.warning(orjson.dumps(event).decode())


def internal_error(error: BaseException, request_id: str) -> None:
    """What failed and where. The exception's own text stays out: it may quote a request."""
    frames = traceback.extract_tb(error.__traceback__)
    event = {
        "event": "internal_error",
        "type": type(error).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        "request_id": request_id,
    }
    logger.error(orjson.dumps(event).decode())
