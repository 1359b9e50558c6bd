"""Texts that say the same: SRV-19."""

import pytest

from models.embedded.train.duplicates import near_duplicates, shared_runs, texts_of


def texts(*states):
    return texts_of((str(i), {"state": state}) for i, state in enumerate(states))


def test_eight_words_in_a_row_in_two_texts_are_found_in_whatever_case():
    """SRV-19"""
    found = shared_runs(
        texts(
            "one two three four five six seven eight!",
            {"a": "x One two, three four five six seven eight y"},
        )
    )
    assert [run for _, _, run in found] == ["one two three four five six seven eight"]


@pytest.mark.parametrize(
    "other", ["one two three four five six seven", "eight seven six five four three two one"]
)
def test_fewer_or_in_another_order_are_not(other):
    """SRV-19"""
    assert shared_runs(texts("one two three four five six seven eight", other)) == []


def test_texts_with_most_words_in_common_are_near_duplicates():
    """SRV-19"""
    alike = texts("what is the price of a cup of tea", "what is the price of a pot of tea", "no")
    assert len(near_duplicates(alike)) == 1
    assert near_duplicates(texts("say hello", "Say hello!"))


def test_variants_are_one_text():
    """SRV-19: they share their words by intent, and with other texts none"""
    items = [("00", {"state": f"one two three four five six seven {i}", "of": "a"}) for i in "89"]
    assert list(texts_of(items)) == ["00:a"]
    assert near_duplicates(texts_of(items)) == shared_runs(texts_of(items)) == []
    assert len(shared_runs(texts_of([*items, ("01", {"state": items[1][1]["state"]})]))) == 1


def test_a_text_that_shares_a_phrase_is_none():
    """SRV-19"""
    different = texts(
        "what is the price of tea in Spain today", "what is the price we all pay for war"
    )
    assert near_duplicates(different) == []
