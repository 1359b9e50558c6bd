"""Two readings of a label: SRV-19."""

import json

from hypothesis import given
from hypothesis import strategies as st

from models.embedded.train.examples import item_key
from models.embedded.train.second_reading import Agreement, agreed, blind

ITEM = {
    "state": {"request": "Who?", "context": "Anna did it.", "answer": "[[Berta]] did it."},
    "ask": {"hallucination": True, "domain": "law", "harm": ["hate", "privacy"]},
    "questions": [{"type": "noul", "instructions": "Is it so?", "answer": True}],
}


def reading(**changes):
    return {
        "id": item_key(ITEM),
        "ask": {"domain": "law", "harm": ["hate"]},
        "spans": [["unsupported", "Berta did"]],
        "answers": [True],
        **changes,
    }


def test_the_second_reader_sees_no_label():
    """SRV-19"""
    shown = blind(ITEM)
    assert shown["ask"] == ["domain", "hallucination", "harm"]
    assert shown["state"]["answer"] == "Berta did it."
    assert "answer" not in shown["questions"][0]
    assert "law" not in json.dumps(shown)


def test_what_both_say_is_kept_and_counted():
    """SRV-19"""
    agreement = Agreement()
    kept = agreed(ITEM, reading(), agreement)
    assert kept == ITEM
    assert agreement.read == agreement.agreed
    assert set(agreement.read) == {"hallucination", "domain", "harm", "free.noul"}


def test_what_they_disagree_about_is_dropped():
    """SRV-19: the label alone, not the item"""
    agreement = Agreement()
    kept = agreed(ITEM, reading(ask={"domain": "other", "harm": []}, answers=[False]), agreement)
    assert set(kept["ask"]) == {"hallucination"}
    assert kept["questions"] == []
    assert agreement.agreed["domain"] == 0


def test_an_item_that_was_read_once_is_dropped():
    """SRV-19"""
    assert agreed(ITEM, None, Agreement()) is None


def test_personal_data_agrees_where_all_of_it_does():
    """S1-15"""
    item = {"state": "[[PERSON|Anna]] and [[PERSON|Berta]]", "ask": {"pii": True}}
    both = [["PERSON", "Berta"], ["PERSON", "Anna"]]
    assert agreed(item, {"spans": both}, Agreement())
    assert agreed(item, {"spans": both[:1]}, Agreement()) is None
    assert agreed(item, {"spans": [*both, ["GPE", "and"]]}, Agreement()) is None


@given(
    st.sampled_from(
        [{}, {"ask": {}}, {"answers": []}, {"ask": {"domain": None}, "answers": [None]}]
    )
)
def test_an_unfinished_reading_agrees_with_nothing_that_it_lacks(unfinished):
    """SRV-19"""
    kept = agreed(ITEM, unfinished, Agreement())
    assert kept is None or not {"domain", "harm"} & set(kept["ask"])
