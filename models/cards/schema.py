"""What a model says about itself (S1-14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from models.questions.types import QuestionType


class Card(BaseModel):
    """A model card. Lengths are tokens of the model's own tokenizer.

    ``trained_ids``: preset -> question id the model was trained on. ``thresholds`` and
    ``window_thresholds``: preset -> calibrated probability, for another form than the preset's
    own ``preset.type``. ``false_positives``: preset -> share of look-alikes that reach its
    threshold, by which it was chosen. ``temperatures``: type, or preset and type
    (``jailbreak.noul``) -> what logits are divided by. ``quality``: preset -> figure ->
    value, on the held-out data that ``quality_data`` names. ``sha256``: file name -> digest.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    revision: str
    family: str
    description: str = ""
    release_date: str
    question_types: frozenset[QuestionType]
    modalities: frozenset[Literal["text", "image"]] = frozenset({"text"})
    trained_ids: Mapping[str, str] = Field(default_factory=dict)
    thresholds: Mapping[str, float] = Field(default_factory=dict)
    false_positives: Mapping[str, float] = Field(default_factory=dict)
    window_thresholds: Mapping[str, float] = Field(default_factory=dict)
    temperatures: Mapping[str, float] = Field(default_factory=dict)
    quality: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    quality_data: str = ""
    calibrated: bool
    validated_input_tokens: int | None = Field(default=None, ge=1280)
    max_input_tokens: int = Field(ge=1280)
    reads_state_once: bool
    languages: tuple[str, ...] = ()
    licence: str
    sha256: Mapping[str, str] = Field(default_factory=dict)

    @field_serializer("question_types", "modalities", when_used="json")
    def _in_order(self, names: Iterable[str]) -> list[str]:
        """The order of a set differs from process to process, where a card's JSON is compared."""
        return sorted(map(str, names))
