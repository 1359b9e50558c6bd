"""What figures must reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from models.evaluation.figures import FIGURES, LESS_IS_BETTER
from models.evaluation.report import ENOUGH, Report
from models.evaluation.truth import Example
from models.questions.types import QuestionType


@dataclass(frozen=True)
class Floor:
    """``name``: ``<id>.<figure>``, or ``<type>.ece``. Of a figure of which less is better the bound
    is the most."""

    name: str
    bound: float

    @property
    def is_most(self) -> bool:
        return self.name.rpartition(".")[2] in LESS_IS_BETTER


def parse_floor(text: str) -> Floor:
    """Of ``jailbreak.auc=0.9``; ``ValueError``."""
    name, _, bound = text.rpartition("=")
    try:
        value = float(bound)
    except ValueError:
        value = -1.0
    if not name or not 0 <= value < float("inf"):
        raise ValueError(f"a floor is <id>.<figure>=<number>, not {text!r}")
    return Floor(name, value)


def figure_names(examples: Iterable[Example]) -> list[str]:
    """The figures that a report on ``examples`` has, as floors call them."""
    return list(dict.fromkeys(name for example in examples for name in _names(example)))


def _names(example: Example) -> Iterator[str]:
    for id, labelled in example.questions.items():
        kind = labelled.question.type
        yield from (f"{id}.{figure}" for figure in ("answered", *FIGURES[kind]))
        if kind is QuestionType.SPAN:
            yield from (f"{id}.f1.{option.key}" for option in labelled.question.options)
        yield f"{kind.value}.ece"


def missed(
    report: Report, floors: Iterable[Floor], min_auc: float | None = None
) -> tuple[str, ...]:
    """Which are, a sentence each. What is not known reaches nothing. ``min_auc``: of the mean AUC
    of the nouls."""
    said = [line for floor in floors if (line := _missed(report, floor)) is not None]
    if min_auc is not None:
        if report.mean_auc is None:
            said.append(f"mean AUC is not known: no noul has {ENOUGH} answers and both truths")
        elif report.mean_auc < min_auc:
            said.append(f"mean AUC is {report.mean_auc:.3f}, below {min_auc:g}")
    return tuple(said)


def _missed(report: Report, floor: Floor) -> str | None:
    estimate = report.figure(floor.name)
    value = None if estimate is None else estimate.value
    if value is None:
        return f"{floor.name} is not known"
    if floor.is_most:
        return (
            f"{floor.name} is {value:.3f}, above {floor.bound:g}" if value > floor.bound else None
        )
    return f"{floor.name} is {value:.3f}, below {floor.bound:g}" if value < floor.bound else None
