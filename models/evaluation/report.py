"""Everything that is known of answers to labelled questions, as one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from models.evaluation.calibration import Bin, Ece, reliability
from models.evaluation.figures import claims, figures
from models.evaluation.intervals import RESAMPLES, SEED, Estimate, estimates
from models.evaluation.judged import Judged
from models.evaluation.statistic import Ratio, Statistic
from models.questions.types import ErrorAnswer, QuestionType

ENOUGH: Final = 30
"""Answers that a noul needs for its AUC to say something of the model."""

NO_SKILL: Final = (0.40, 0.60)
"""Mean AUC, both ends included, of a model that knows nothing."""

ALL_TAGS: Final = "tag"
"""Rows by every tag; another name stands for the tags ``name=…``."""


@dataclass(frozen=True)
class Row:
    """The questions of one id, or those of them with one ``tag``.

    ``answers``: how many are no errors; figures are of them alone, but ``answered``, their share
    of all. ``errors``: reason -> how many. ``thresholds``: those that were applied, ascending.
    ``groups``: how many clusters, ``None`` where every answer is its own.
    """

    id: str
    type: QuestionType
    tag: str | None
    answers: int
    errors: Mapping[str, int]
    groups: int | None
    thresholds: tuple[float, ...]
    figures: Mapping[str, Estimate]


@dataclass(frozen=True)
class TypeRow:
    """All questions of a type. ``claims``: how many probabilities its calibration is of; ``bins``
    of equal mass, lowest first."""

    type: QuestionType
    answers: int
    claims: int
    ece: Estimate
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Report:
    """``rows``: by id, in the order of the data. ``mean_auc``: of the nouls ``skilled`` with at
    least ``ENOUGH`` answers, ``None`` where there is none."""

    rows: tuple[Row, ...]
    by_tag: tuple[Row, ...]
    types: tuple[TypeRow, ...]
    mean_auc: float | None
    skilled: tuple[str, ...]
    resamples: int
    seed: int

    @property
    def knows_nothing(self) -> bool:
        """The suite as a whole shows no skill."""
        return self.mean_auc is not None and NO_SKILL[0] <= self.mean_auc <= NO_SKILL[1]

    def figure(self, name: str) -> Estimate | None:
        """Of ``<id>.<figure>``, else of ``<type>.ece``."""
        for row in self.rows:
            if name.startswith(f"{row.id}.") and name[len(row.id) + 1 :] in row.figures:
                return row.figures[name[len(row.id) + 1 :]]
        return next((row.ece for row in self.types if name == f"{row.type}.ece"), None)

    def json(self) -> dict[str, Any]:
        """As JSON data; what is not known is ``None``."""
        return {
            "questions": {row.id: _row_json(row) for row in self.rows},
            "by_tag": [{"id": row.id, **_row_json(row)} for row in self.by_tag],
            "types": {
                row.type.value: {
                    "answers": row.answers,
                    "claims": row.claims,
                    "ece": asdict(row.ece),
                    "bins": [asdict(one) for one in row.bins],
                }
                for row in self.types
            },
            "mean_auc": self.mean_auc,
            "mean_auc_of": list(self.skilled),
            "knows_nothing": self.knows_nothing,
            "intervals": {
                "level": 0.95,
                "resamples": self.resamples,
                "seed": self.seed,
            },
        }


def evaluate(
    judged: Iterable[Judged],
    *,
    by: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """Figures by id, by id and tag where ``by`` names tags, and calibration by type.

    ``ValueError`` for an id of two types.
    """
    every = list(judged)
    by_id: dict[str, list[Judged]] = {}
    by_type: dict[QuestionType, list[Judged]] = {}
    for one in every:
        of_id = by_id.setdefault(one.id, [])
        if of_id and of_id[0].question.type is not one.question.type:
            first, second = of_id[0].question.type, one.question.type
            raise ValueError(f"{one.id} is asked as a {first} and as a {second}")
        of_id.append(one)
        by_type.setdefault(one.question.type, []).append(one)
    how = {"resamples": resamples, "seed": seed}
    rows = tuple(_row(id, None, of, how) for id, of in by_id.items())
    tagged = tuple(
        _row(id, tag, [one for one in of if tag in one.tags], how)
        for id, of in by_id.items()
        for tag in sorted({tag for one in of for tag in tags_of(one.tags, by)})
    )
    types = tuple(_type_row(kind, by_type[kind], how) for kind in QuestionType if kind in by_type)
    aucs = {
        row.id: auc.value
        for row in rows
        if row.answers >= ENOUGH
        and (auc := row.figures.get("auc")) is not None
        and auc.value is not None
    }
    mean = sum(aucs.values()) / len(aucs) if aucs else None
    return Report(rows, tagged, types, mean, tuple(aucs), resamples, seed)


def tags_of(tags: Iterable[str], by: str | None) -> list[str]:
    """Those that ``by`` names."""
    if by is None:
        return []
    return [tag for tag in tags if by == ALL_TAGS or tag.startswith(f"{by}=")]


def _row(id: str, tag: str | None, judged: Sequence[Judged], how: Mapping[str, int]) -> Row:
    kind = judged[0].question.type
    known = [one for one in judged if not one.unknown]
    reasons = Counter(j.answer.error.value for j in judged if isinstance(j.answer, ErrorAnswer))
    answered: dict[str, Statistic] = {"answered": Ratio.share([not j.unknown for j in judged])}
    found = estimates(answered, [j.cluster for j in judged], **how)
    if known:
        found |= estimates(figures(kind, known), [j.cluster for j in known], **how)
    clusters = len({j.cluster for j in judged})
    applied = kind in (QuestionType.NOUL, QuestionType.SET)
    return Row(
        id,
        kind,
        tag,
        len(known),
        dict(sorted(reasons.items())),
        clusters if clusters < len(judged) else None,
        tuple(sorted({j.threshold for j in known})) if applied else (),
        found,
    )


def _type_row(kind: QuestionType, judged: Sequence[Judged], how: Mapping[str, int]) -> TypeRow:
    known = [one for one in judged if not one.unknown]
    if not known:
        return TypeRow(kind, 0, 0, Estimate(None), ())
    claimed = claims(kind, known)
    ece = estimates({"ece": Ece(claimed)}, [j.cluster for j in known], **how)["ece"]
    bins = reliability(claimed) if len(claimed) else ()
    return TypeRow(kind, len(known), len(claimed), ece, bins)


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "type": row.type.value,
        **({} if row.tag is None else {"tag": row.tag}),
        "answers": row.answers,
        "errors": dict(row.errors),
        "groups": row.groups,
        "thresholds": list(row.thresholds),
        "figures": {name: asdict(estimate) for name, estimate in row.figures.items()},
    }
