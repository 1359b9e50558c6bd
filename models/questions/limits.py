"""How many options a question may have (LIM-1)."""

from __future__ import annotations

from typing import Final

from models.questions.types import QuestionType

OPTION_LIMITS: Final[dict[QuestionType, tuple[int, int]]] = {
    QuestionType.NOUL: (0, 2),
    QuestionType.CHOICE: (2, 255),
    QuestionType.SCORE: (2, 10),
    QuestionType.SET: (1, 255),
    QuestionType.SPAN: (1, 255),
}
"""Type -> (fewest, most). A client's single choice option is answered with 1.0."""
