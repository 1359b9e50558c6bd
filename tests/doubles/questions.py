"""Valid questions to draw from."""

from hypothesis import strategies as st

from models.questions.limits import OPTION_LIMITS
from models.questions.types import Option, Question, QuestionType

KEYS = st.text(min_size=1, max_size=6)
TEXTS = st.text(max_size=12)
SAID = st.text(min_size=1, max_size=12)


def _described(least: int, most: int) -> st.SearchStrategy[tuple[Option, ...]]:
    pairs = st.dictionaries(KEYS, st.none() | SAID, min_size=least, max_size=most)
    return pairs.map(lambda given: tuple(Option(k, t) for k, t in given.items()))


@st.composite
def questions(draw: st.DrawFn, types: tuple[QuestionType, ...] = tuple(QuestionType)) -> Question:
    """Of few options, texts of every kind."""
    kind = draw(st.sampled_from(types))
    least, most = OPTION_LIMITS[kind]
    if kind is QuestionType.NOUL:
        sides = draw(st.sets(st.sampled_from(["true", "false"])))
        options = tuple(Option(side, draw(SAID)) for side in ("true", "false") if side in sides)
        return Question(kind, draw(TEXTS if options else SAID), options)
    if kind is QuestionType.SCORE:
        levels = draw(st.lists(TEXTS, min_size=least, max_size=most))
        options = tuple(Option(str(i), text) for i, text in enumerate(levels))
    else:
        options = draw(_described(least, min(most, 5)))
    return Question(kind, draw(TEXTS), options)


QUESTIONS = questions()
