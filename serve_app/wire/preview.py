"""The preview: a request's outcome in full, as JSON (API-9, HDR-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from models.questions.types import JsonValue
from serve_app.errors import TABLE, WireFormat
from serve_app.outcome import CallOutcome, DecisionOutcome, NodeOutcome, Outcome, RuleOutcome
from serve_app.wire.format import Format
from serve_app.wire.formats import FORMATS
from serve_app.wire.places import invalid
from serve_app.wire.telling import CONVERSATIONS, format_of


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """Either ``text``, or a ``body`` of ``format``. ``model``: ``None`` where a text names none."""

    model: str | None
    text: str | None = None
    format: Format | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


def read_preview(body: JsonValue, headers: Mapping[str, str]) -> PreviewRequest:
    """``headers``: the client's, by which Anthropic's clients are known too."""
    if isinstance(body, dict) and "text" in body and not CONVERSATIONS & body.keys():
        text, model = body["text"], body.get("model")
        if not isinstance(text, str):
            raise invalid("text must be a string", ("text",))
        if model is not None and (not isinstance(model, str) or not model):
            raise invalid("model must be a name", ("model",))
        return PreviewRequest(model, text=text)
    format = FORMATS[format_of(body, headers)]
    request = format.read_request(body)
    return PreviewRequest(request.model, format=format, body=request.body)


def preview_body(outcome: Outcome, path: str) -> dict[str, Any]:
    """What the request would do. ``path`` is its ``x-vsr-response-path``; times are in ms."""
    return {
        "recipe": outcome.recipe or None,
        "decision": outcome.decision,
        "model": outcome.models[0] if outcome.models else None,
        "models": outcome.models,
        "fallback": outcome.fallback,
        "output": outcome.output,
        "plugins": outcome.plugins,
        "response_path": path,
        "fast_response": _fast(outcome),
        "error": _refused(outcome),
        "algorithm": outcome.algorithm,
        "confidence": outcome.confidence,
        "ranking": [{"model": model, "score": score} for model, score in outcome.ranking],
        "warnings": outcome.warnings,
        "scan_coverage": scan_coverage(outcome),
        "rules": [_rule(rule) for rule in outcome.rules],
        "decisions": [_decision(decision) for decision in outcome.decisions],
        "calls": [_call(call) for call in outcome.calls],
        "stage_ms": outcome.stage_ms,
        "config_version": outcome.config_version,
    }


def scan_coverage(outcome: Outcome) -> dict[str, str]:
    """``type:name`` -> ``full``, ``partial n/m`` or ``none``, of scanned guards (COV-4)."""
    return {
        f"{rule.type}:{rule.name}": str(rule.coverage)
        for rule in outcome.rules
        if rule.coverage is not None
    }


def _fast(outcome: Outcome) -> dict[str, Any] | None:
    fast = outcome.fast
    return None if fast is None else {"message": fast.message, "status": fast.status}


def _refused(outcome: Outcome) -> dict[str, Any] | None:
    refused = outcome.refused
    if refused is None:
        return None
    status = TABLE[refused.code][WireFormat.CHAT].status
    return {"code": refused.code, "status": status, "message": refused.message}


def _rule(rule: RuleOutcome) -> dict[str, Any]:
    """``verdict`` is what the answer says, ``effective`` what counts after ``on_unknown``."""
    return {
        "type": rule.type,
        "name": rule.name,
        "value": rule.value,
        "option": rule.option,
        "threshold": rule.threshold,
        "margin": rule.margin,
        "verdict": rule.verdict,
        "effective": rule.effective,
        "reason": rule.reason,
        "question_id": rule.question_id,
        "deployment": rule.deployment,
    }


def _decision(decision: DecisionOutcome) -> dict[str, Any]:
    nearest = decision.nearest
    return {
        "name": decision.name,
        "priority": decision.priority,
        "truth": decision.truth,
        "taken": decision.taken,
        "tree": _node(decision.tree),
        "nearest": None
        if nearest is None
        else {
            "rule": nearest.rule,
            "value": nearest.value,
            "needed": nearest.needed,
            "by": nearest.by,
        },
    }


def _node(node: NodeOutcome) -> dict[str, Any]:
    if node.operator is None:
        return {"condition": node.condition, "truth": node.truth}
    children = [_node(child) for child in node.children]
    return {"operator": node.operator, "truth": node.truth, "conditions": children}


def _call(call: CallOutcome) -> dict[str, Any]:
    timings = call.timings
    return {
        "stage": call.stage,
        "deployment": call.deployment,
        "form": call.form,
        "states": len(call.questions),
        "questions": call.questions,
        "unanswered": call.unanswered,
        "attempts": call.attempts,
        "ms": call.ms,
        "queue_ms": None if timings is None else timings.queue_ms,
        "tokenize_ms": None if timings is None else timings.tokenize_ms,
        "forward_ms": None if timings is None else timings.forward_ms,
    }
