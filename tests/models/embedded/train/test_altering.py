"""Items altered so that their labels follow: SRV-19, S1-15."""

from random import Random

import pytest

from models.embedded.train.altering import Altering
from models.embedded.train.examples import example_of
from models.embedded.train.personal import Inventor, check_digit
from models.questions.presets import preset_question

PII = {
    "state": {
        "mail": "[[TITLE|Dr]] [[PERSON|Ana Ruiz]] paid with [[CREDIT_CARD|4111 1111 1111 1111]]",
        "again": "[[PERSON|Ana Ruiz]], 12 boxes",
    },
    "ask": {"pii": True},
}
SUPPORTED = {
    "state": {"context": "The bridge at Tolosa has 14 arches.", "answer": "There are 14 arches."},
    "ask": {"hallucination": True},
}
PAIR = {"state": {"request": "a b", "candidate": "c d"}, "ask": {"same_request": True}}


def alterations(item, count=60):
    altering = Altering(Random(3))
    return [altering.altered(item) for _ in range(count)]


def test_values_change_and_their_labels_stay():
    """S1-15: equal values alike, and no text around them"""
    labels = [label for label, _, _ in example_of("00", PII).asked[0].truth]
    seen = set()
    for item in alterations(PII):
        example = example_of("00", item)
        truth = example.asked[0].truth
        assert [label for label, _, _ in truth] == labels
        texts = [example.state[a:b] for _, a, b in truth]
        assert texts[1] == texts[3]
        assert " paid with " in example.state
        assert example.state.endswith(", 12 boxes")
        seen.add(texts[2])
    assert len(seen) > 20


def test_a_detail_that_is_changed_is_marked():
    """S1-15: it is no longer what the context says"""
    marked = [item for item in alterations(SUPPORTED) if "[[" in str(item["state"])]
    assert 10 < len(marked) < 60
    for item in marked:
        example = example_of("00", item)
        ((_, start, end),) = example.asked[0].truth
        assert example.state[start:end] not in SUPPORTED["state"]["context"]


def test_exchanged_requests_are_as_alike_as_they_were():
    """S1-13"""
    orders = {tuple(item["state"].values()) for item in alterations(PAIR)}
    assert orders == {("a b", "c d"), ("c d", "a b")}


def test_what_is_asked_of_a_text_is_asked_of_it_as_it_stands():
    """SRV-19: an altered text may answer otherwise, so it keeps its labels alone"""
    question = {"type": "noul", "instructions": "Are there 14 arches?", "answer": True}
    altered = alterations({**SUPPORTED, "questions": [question]})
    assert all(item["state"] == SUPPORTED["state"] for item in altered if item["questions"])
    assert any(item["state"] != SUPPORTED["state"] for item in altered)
    assert {len(item["questions"]) for item in altered} == {0, 1}


def test_a_text_that_has_nothing_but_questions_is_asked_them():
    """SRV-19"""
    item = {"state": "fourteen", "questions": [{"type": "noul", "instructions": "?"}]}
    assert all(altered == item for altered in alterations(item))


def test_the_same_seed_alters_alike():
    """SRV-19"""
    assert alterations(PII) == alterations(PII)


@pytest.mark.parametrize("label", [o.key for o in preset_question("pii").options])
def test_every_label_has_values_without_marks(label):
    """S1-15"""
    inventor = Inventor(Random(1))
    values = {inventor.value(label) for _ in range(50)}
    assert len(values) > 15
    assert all(value.strip() == value != "" and "\n" not in value for value in values)
    assert not any(mark in value for value in values for mark in ("[[", "]]", "|"))


def test_card_numbers_and_ibans_have_valid_check_digits():
    """S1-15: ISO/IEC 7812 and ISO 13616"""
    inventor = Inventor(Random(2))
    for _ in range(50):
        card = inventor.value("CREDIT_CARD").replace(" ", "").replace("-", "")
        assert check_digit(card[:-1]) == int(card[-1])
        iban = inventor.value("IBAN_CODE").replace(" ", "")
        assert int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
