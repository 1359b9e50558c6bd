"""Prometheus metrics under their exact names (API-12).

With ``PROMETHEUS_MULTIPROC_DIR`` set before a process starts, each process of a node writes its
values into files there, and any of them renders the sum; without, a process shows its own.
No label holds anything of a request: labels are names of the configuration and closed sets.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from models.scheduling.messages import ModelReply, Refusal
from serve_app.asking.call import Timings
from serve_app.outcome import Outcome, Truth

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY: Final = CollectorRegistry()

_SECONDS: Final = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120),
)

REQUESTS = Counter(
    "vsr_requests_total", "Requests answered.", ["route", "status"], registry=REGISTRY
)
DURATION = Histogram(
    "vsr_request_duration_seconds",
    "From a request's first byte to the last of its response.",
    ["route"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
DECISIONS = Counter(
    "vsr_decisions_total",
    "Requests by the decision taken.",
    ["recipe", "decision"],
    registry=REGISTRY,
)
UNKNOWN = Counter(
    "vsr_signal_unknown_total",
    "Rules without an answer.",
    ["signal", "reason"],
    registry=REGISTRY,
)
FAILED_CLOSED = Counter(
    "vsr_signal_failed_closed_total",
    "Guards that matched for want of an answer.",
    ["signal"],
    registry=REGISTRY,
)
SCAN_COVERAGE = Counter(
    "vsr_signal_scan_coverage_total",
    "Rules that read a long input in windows, by how much of it they read.",
    ["signal", "result"],
    registry=REGISTRY,
)
SCAN_RATIO = Histogram(
    "vsr_signal_scan_coverage_ratio",
    "The share of the windows that were read.",
    ["signal"],
    buckets=[i / 10 for i in range(11)],
    registry=REGISTRY,
)
SCAN_DECIDED = Counter(
    "vsr_signal_scan_decided_total",
    "Rules that a window decided before the others were read.",
    ["signal"],
    registry=REGISTRY,
)
CALLS = Counter(
    "vsr_signal_calls_total",
    "Calls of the request stage.",
    ["deployment", "form"],
    registry=REGISTRY,
)
PROVIDER_ATTEMPTS = Counter(
    "vsr_provider_attempts_total",
    "Attempts at chat providers.",
    ["model", "outcome"],
    registry=REGISTRY,
)
REMOTE_ATTEMPTS = Counter(
    "vsr_remote_attempts_total",
    "Attempts at remote decision models.",
    ["deployment", "outcome"],
    registry=REGISTRY,
)
QUEUE = Histogram(
    "vsr_model_queue_seconds",
    "A call's wait in a model's queue.",
    ["deployment"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
FORWARD = Histogram(
    "vsr_model_forward_seconds",
    "A call's longest forward.",
    ["deployment"],
    buckets=_SECONDS,
    registry=REGISTRY,
)
REFUSALS = Counter(
    "vsr_model_refusals_total",
    "Calls that a model took nothing of.",
    ["deployment", "reason"],
    registry=REGISTRY,
)
_TOTALS: Final[Mapping[str, Counter]] = {
    name: Counter(f"vsr_model_{name}_total", text, ["deployment"], registry=REGISTRY)
    for name, text in {
        "calls": "Calls admitted.",
        "questions": "Questions in them.",
        "cached": "Questions answered from the cache.",
        "shared": "Questions that joined a computation in flight.",
        "expired": "Questions dropped unread, out of time.",
        "cancelled": "Questions dropped unread, given up.",
        "forwards": "Forwards.",
        "failed_forwards": "Forwards that failed.",
        "rows": "Rows computed in forwards.",
        "tokens": "Tokens computed, padding included.",
    }.items()
}
OPEN_CALLS = Gauge(
    "vsr_model_open_calls",
    "Calls without an answer yet.",
    ["deployment"],
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
QUEUED = Gauge(
    "vsr_model_queued_seconds",
    "Predicted seconds of the work that waits or runs.",
    ["deployment"],
    multiprocess_mode="livesum",
    registry=REGISTRY,
)


def observe_request(route: str, status: int, seconds: float) -> None:
    REQUESTS.labels(route, str(status)).inc()
    DURATION.labels(route).observe(seconds)


def observe_signals(outcome: Outcome) -> None:
    """What the request stage asked, and what it got no answer to: rules, and the selector."""
    for rule in outcome.rules:
        if rule.verdict is Truth.UNKNOWN and rule.reason is not None:
            UNKNOWN.labels(rule.type, rule.reason.value).inc()
        if rule.failed_closed:
            FAILED_CLOSED.labels(rule.type).inc()
        if rule.coverage is not None:
            SCAN_COVERAGE.labels(rule.type, rule.coverage.result).inc()
            SCAN_RATIO.labels(rule.type).observe(rule.coverage.read / rule.coverage.planned)
            if rule.coverage.decided:
                SCAN_DECIDED.labels(rule.type).inc()
    for call in outcome.calls:
        CALLS.labels(call.deployment, call.form).inc(call.attempts)
        if call.timings is not None:
            _observe_timings(call.deployment, call.timings)
        if call.stage == "selector":
            for reasons in call.unanswered.values():
                for reason in reasons.values():
                    UNKNOWN.labels("selector", reason.value).inc()


def observe_decision(outcome: Outcome) -> None:
    DECISIONS.labels(outcome.recipe, outcome.decision or "").inc()


def observe_reply(deployment: str, reply: ModelReply) -> None:
    """For a reply of a replica."""
    _observe_timings(deployment, Timings(reply.queue_ms, reply.tokenize_ms, reply.forward_ms))


def observe_refusal(deployment: str, refusal: Refusal) -> None:
    """For whoever asked: what a router refuses for a full replica counts like the replica's own."""
    REFUSALS.labels(deployment, refusal.error.value).inc()


def observe_provider(model: str, outcome: str) -> None:
    PROVIDER_ATTEMPTS.labels(model, outcome).inc()


def observe_remote(deployment: str, outcome: str) -> None:
    REMOTE_ATTEMPTS.labels(deployment, outcome).inc()


class ModelTotals:
    """A replica's own totals as counters: what grew since they were last published."""

    def __init__(self, deployment: str) -> None:
        self._deployment = deployment
        self._published: dict[str, int] = {}

    def publish(self, totals: Mapping[str, int], *, open_calls: int, queued_s: float) -> None:
        """``totals`` since the replica started, by name; names without a metric are left out."""
        for name, counter in _TOTALS.items():
            if grown := totals.get(name, 0) - self._published.get(name, 0):
                counter.labels(self._deployment).inc(grown)
        self._published = dict(totals)
        OPEN_CALLS.labels(self._deployment).set(open_calls)
        QUEUED.labels(self._deployment).set(queued_s)


def render() -> bytes:
    """The exposition text: of all processes that share the directory, or of this one."""
    directory = os.environ.get(DIRECTORY)
    if not directory:
        return generate_latest(REGISTRY)
    _forget_dead(Path(directory))
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=directory)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _forget_dead(directory: Path) -> None:
    """Drops the live gauges of processes that ended without a word; their counters stay."""
    pids = {path.stem.rpartition("_")[2] for path in directory.glob("gauge_live*_*.db")}
    for pid in pids:
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            mark_process_dead(int(pid), str(directory))  # type: ignore[no-untyped-call]


def _observe_timings(deployment: str, timings: Timings) -> None:
    QUEUE.labels(deployment).observe(timings.queue_ms / 1e3)
    FORWARD.labels(deployment).observe(timings.forward_ms / 1e3)
