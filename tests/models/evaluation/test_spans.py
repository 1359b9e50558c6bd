"""Spans against spans: S1-15, SRV-19."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.spans import Counts, characters, exact, marks
from models.evaluation.truth import Mark
from models.questions.types import Span

MARKS = st.sets(
    st.builds(
        lambda start, length, label: Mark(start, start + length, label),
        st.integers(0, 20),
        st.integers(1, 6),
        st.sampled_from(["GPE", "PERSON"]),
    ),
    max_size=6,
)


def test_a_span_is_right_with_its_label_and_both_ends() -> None:
    true = [Mark(0, 3, "PERSON"), Mark(10, 13, "GPE")]
    found = [Mark(0, 3, "PERSON"), Mark(10, 13, "PERSON"), Mark(10, 12, "GPE")]
    assert exact(found, true) == Counts(3, 2, 1)
    assert exact(found, true, "GPE") == Counts(1, 1, 0)
    assert exact(found, true, "PERSON") == Counts(2, 1, 1)


def test_half_a_span_is_half_its_characters() -> None:
    assert characters([Mark(0, 4, "GPE")], [Mark(2, 6, "GPE")]) == Counts(4, 4, 2)
    assert characters([Mark(0, 4, "GPE")], [Mark(0, 4, "PERSON")]) == Counts(4, 4, 0)


def test_a_character_under_two_spans_of_a_label_counts_once() -> None:
    assert characters([Mark(0, 4, "GPE"), Mark(2, 6, "GPE")], []) == Counts(6, 0, 0)


def test_a_span_that_is_named_twice_counts_once_at_its_best() -> None:
    twice = [Span("GPE", 0, 3, "Ulm", 0.4), Span("GPE", 0, 3, "Ulm", 0.9)]
    assert marks(twice) == {Mark(0, 3, "GPE"): 0.9}


@given(MARKS, MARKS)
def test_labels_add_up(found: set[Mark], true: set[Mark]) -> None:
    parts = [exact(found, true, label) for label in ("GPE", "PERSON")]
    whole = exact(found, true)
    assert whole.found == sum(part.found for part in parts)
    assert whole.true == sum(part.true for part in parts)
    assert whole.right == sum(part.right for part in parts)


@given(MARKS)
def test_what_is_found_exactly_is_found_to_the_character(true: set[Mark]) -> None:
    for counts in (exact(true, true), characters(true, true)):
        assert counts.found == counts.true == counts.right
