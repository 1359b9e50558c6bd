"""What a run measured, as values that become JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.harness.statistics import Spread


@dataclass(frozen=True, slots=True)
class Cell:
    """One contestant in one round at one number of callers.

    Times are milliseconds; ``cpu_ms`` is the CPU time of all its processes for one request by
    command, ``idle_cpu_ms`` what those processes would have used in the same time without a
    request. ``foreign`` is the share of the machine that neither it, nor the load generator,
    nor the benchmark used.
    """

    contestant: str
    callers: int
    round: int
    requests: int
    failed: int
    rate: float
    p50: float
    p95: float
    p99: float
    cpu_ms: Mapping[str, float] = field(default_factory=dict)
    idle_cpu_ms: float = 0.0
    generator_cpu_ms: float = 0.0
    foreign: float = 0.0

    @property
    def own_cpu_ms(self) -> float:
        """CPU milliseconds of a request, the idle rate subtracted."""
        return sum(self.cpu_ms.values()) - self.idle_cpu_ms


@dataclass(frozen=True, slots=True)
class Contest:
    """The contestants that share an engine. ``idle_cores``: processors that each server keeps
    busy without a request. ``note`` says what the engine is.
    """

    engine: str
    note: str
    cells: tuple[Cell, ...]
    idle_cores: Mapping[str, float] = field(default_factory=dict)

    def of(self, contestant: str, callers: int) -> list[Cell]:
        """Its cells in the order of the rounds."""
        return [
            cell for cell in self.cells if cell.contestant == contestant and cell.callers == callers
        ]

    @property
    def contestants(self) -> list[str]:
        return list(dict.fromkeys(cell.contestant for cell in self.cells))

    @property
    def callers(self) -> list[int]:
        return sorted({cell.callers for cell in self.cells})


@dataclass(frozen=True, slots=True)
class Record:
    """One run. ``machine`` and ``settings``: name -> text. ``policy_ms``: what of the policy
    alone, with 20 rules, was measured -> its p50 in milliseconds.
    """

    date: str
    command: str
    machine: Mapping[str, str]
    settings: Mapping[str, str]
    contests: tuple[Contest, ...]
    policy_ms: Mapping[str, Spread] = field(default_factory=dict)

    def contest(self, engine: str) -> Contest | None:
        return next((c for c in self.contests if c.engine == engine), None)
