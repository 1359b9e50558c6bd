"""JSON values to draw from: any, and such as are nearly questions."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from models.questions.presets import PRESETS
from models.questions.types import QuestionType

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
QUESTIONS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*QuestionType, "boolean", 3]) | JSON,
        "instructions": JSON,
        "criteria": JSON | st.dictionaries(st.sampled_from(["true", "false", "a"]), JSON),
        "choices": JSON
        | st.lists(st.fixed_dictionaries({"key": st.text()}, optional={"description": JSON})),
        "levels": JSON | st.lists(st.text(), max_size=12),
        "labels": JSON,
        "preset": st.sampled_from(sorted(PRESETS)) | JSON,
        "threshold": JSON,
        "x_extra": JSON,
    },
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to a value and to everything in it."""
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [way, *(place for key, member in members for place in places(member, (*way, key)))]
