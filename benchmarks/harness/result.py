"""What one contestant did in one stretch of time."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Result:
    """``latencies_ms`` of the requests that were answered well within the measured
    ``seconds``. ``sent`` counts every request of the job, the unmeasured ones before and after
    too, ``failed`` those answered otherwise or not at all.
    """

    latencies_ms: list[float] = field(default_factory=list)
    seconds: float = 0.0
    sent: int = 0
    failed: int = 0
