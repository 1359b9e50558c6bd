"""What a router's model counted, from its ``/metrics``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from http.client import HTTPConnection
from time import monotonic, sleep

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.harness.calls import Call


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the router started, over all its replicas.

    ``questions``: in ``calls``, of which ``cached`` were answered from the result cache and
    ``shared`` joined a computation in flight; ``rows``: computed in ``forwards``.
    """

    calls: int
    questions: int
    cached: int
    shared: int
    forwards: int
    rows: int

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, f.name)} {f.name}" for f in fields(self))

    @classmethod
    def parse(cls, exposition: str) -> Counters:
        """A counter that does not stand in the text has counted nothing."""
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(exposition):
            for sample in family.samples:
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
        return cls(**{f.name: int(found.get(f"vsr_model_{f.name}_total", 0)) for f in fields(cls)})

    @classmethod
    def computed(cls, calls: Sequence[Call]) -> Counters:
        """Of ``calls`` one after the other, each read and computed once and nothing cached."""
        n = len(calls)
        return cls(n, sum(len(call.questions) for call in calls), 0, 0, n, n)


def read(port: int) -> Counters:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        return Counters.parse(connection.getresponse().read().decode())
    finally:
        connection.close()


def expect(port: int, expected: Counters, limit_s: float = 30) -> None:
    """Waits until the router has counted that; ``RuntimeError`` if it counted anything else.

    A replica publishes at its health checks and once a second while it is called.
    """
    end = monotonic() + limit_s
    while (found := read(port)) != expected:
        if monotonic() > end:
            raise RuntimeError(f"the router computed {found}, not {expected}")
        sleep(0.5)
