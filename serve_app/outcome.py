"""What the request stage found, whole: written once, shown by headers, trace and preview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from models.questions.types import AnswerError
from serve_app.asking.call import Timings
from serve_app.errors import Code


class Truth(StrEnum):
    """Kleene's three values (UNK-1)."""

    TRUE = "match"
    FALSE = "no_match"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Coverage:
    """What a guard read of a long input: ``read`` of ``planned`` windows, as planned when the scan
    ended; windows read again count in neither (COV-2). ``decided``: some window decided the rule
    before the others were read.
    """

    read: int
    planned: int
    decided: bool = False

    @property
    def result(self) -> Literal["full", "partial", "none"]:
        if self.read == self.planned:
            return "full"
        return "partial" if self.read else "none"

    def __str__(self) -> str:
        """``full``, ``partial n/m`` or ``none`` (COV-4)."""
        result = self.result
        return f"{result} {self.read}/{self.planned}" if result == "partial" else result


@dataclass(frozen=True)
class RuleOutcome:
    """One rule that was read.

    ``value``: what the predicate compared (a probability, an expected level, a count), ``None``
    where there is none. ``option``: the winner of a choice. ``threshold``: the bound that
    decides, ``margin`` = value − threshold (positive: beyond it). ``verdict`` is before, and
    ``effective`` after, the rule's own ``on_unknown`` (UNK-2); ``reason`` says why it is
    unknown. ``question_id`` and ``deployment`` are ``None`` for rules without a model and for
    rules that were not asked. ``coverage``: of a guard that read its input in windows (COV-4).
    """

    type: str
    name: str
    verdict: Truth
    effective: Truth
    value: float | None = None
    option: str | None = None
    threshold: float | None = None
    margin: float | None = None
    reason: AnswerError | None = None
    question_id: str | None = None
    deployment: str | None = None
    labelled: bool = False
    coverage: Coverage | None = None

    @property
    def failed_closed(self) -> bool:
        """A guard that counts as a match because it has no answer (UNK-3)."""
        return self.verdict is Truth.UNKNOWN and self.effective is Truth.TRUE


@dataclass(frozen=True)
class NodeOutcome:
    """A node of a decision's tree. Leaves have ``condition`` (``type:name[:label]``)."""

    truth: Truth
    operator: Literal["AND", "OR", "NOT"] | None = None
    condition: str | None = None
    children: tuple[NodeOutcome, ...] = ()


@dataclass(frozen=True)
class NearestChange:
    """The smallest change of one rule's value that would take a decision (API-9)."""

    rule: str
    value: float
    needed: float

    @property
    def by(self) -> float:
        return self.needed - self.value


@dataclass(frozen=True)
class DecisionOutcome:
    """``truth`` after the tree's policies. ``nearest`` is ``None`` for the decision taken and
    where no single value would take it.
    """

    name: str
    priority: int
    truth: Truth
    tree: NodeOutcome
    taken: bool = False
    nearest: NearestChange | None = None


@dataclass(frozen=True)
class CallOutcome:
    """One call to a decision model. ``questions``: entry name -> question ids; ``unanswered``: why
    some of them have no answer. ``timings`` is ``None`` where no replica of a local model replied.
    ``attempts``: how many times the model was asked: 0 where every answer was kept from before
    (CACHE-2), up to 3 at a remote API (MRG-5).
    """

    stage: Literal["signals", "selector"]
    deployment: str
    form: Literal["standard", "batch"]
    questions: dict[str, tuple[str, ...]]
    ms: float
    timings: Timings | None = None
    attempts: int = 1
    unanswered: Mapping[str, Mapping[str, AnswerError]] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """The request ends in an error that the policy chose."""

    code: Code
    message: str


@dataclass(frozen=True)
class FastAnswer:
    """A decision's own answer, without a provider."""

    message: str
    status: Literal[200, 403]


@dataclass(frozen=True)
class Outcome:
    """What becomes of a request.

    ``models``: logical provider names to try, best first; empty with ``fast`` or ``refused``.
    ``ranking``: candidates with their selection scores. ``confidence``: the least probability
    the taken decision's matched model-backed conditions rest on, ``None`` without one.
    """

    recipe: str
    config_version: str
    decision: str | None = None
    models: tuple[str, ...] = ()
    fallback: bool = False
    output: tuple[str, ...] = ("text",)
    fast: FastAnswer | None = None
    refused: Refused | None = None
    algorithm: str | None = None
    confidence: float | None = None
    ranking: tuple[tuple[str, float], ...] = ()
    rules: tuple[RuleOutcome, ...] = ()
    decisions: tuple[DecisionOutcome, ...] = ()
    calls: tuple[CallOutcome, ...] = ()
    plugins: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stage_ms: dict[str, float] = field(default_factory=dict)
