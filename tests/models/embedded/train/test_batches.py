"""Examples as tensors: SRV-17, SRV-19."""

import pytest
import torch

from models.embedded.head import Kind
from models.embedded.texts import marked
from models.embedded.train.batches import IGNORED, Ask, batch_of, encoded_of, tags_of
from models.questions.types import Option, Question, QuestionType

YES = Question(QuestionType.NOUL, "Is it so?")
COLOUR = Question(QuestionType.CHOICE, "Which?", (Option("red"), Option("green"), Option("blue")))
LEVEL = Question(QuestionType.SCORE, "How?", (Option("0", "low"), Option("1", "high")))
TOPICS = Question(
    QuestionType.SET, "About?", tuple(Option(k) for k in ("tea", "law", "war", "art"))
)
STATES = ["tea", "law " * 60, "war and tea"]
NAMES = Question(QuestionType.SPAN, "Names?", (Option("PERSON"), Option("GPE")))


def batch(reader, *rows: tuple[str, list[Ask]]):
    asks = [ask for _, of_row in rows for ask in of_row]
    reader.describe([ask.question for ask in asks])
    prepared = [reader.prepared("00", {"state": state}, asked) for state, asked in rows]
    return batch_of(prepared, reader.described)


def tags(reader, text: str, *spans: tuple[str, str], padded: int = 40) -> list[int]:
    tokens = reader.prepared("00", {"state": text}).tokens
    truth = [(label, text.index(part), text.index(part) + len(part)) for label, part in spans]
    return tags_of(tokens, truth, ["PERSON", "GPE"], padded).tolist()


def test_tags_stand_where_the_spans_stand(reader):
    """S1-15: the first token of each span, and the further ones"""
    found = tags(reader, "😀 Anna Ruiz saw Paris", ("PERSON", "Anna Ruiz"), ("GPE", "Paris"))
    pieces = reader.prepared("00", {"state": "Anna Ruiz"}).tokens.count
    assert found[: 6 + pieces] == [IGNORED, 0, 1, *[2] * (pieces - 1), 0, 3, IGNORED, IGNORED]


def test_marks_and_padding_have_no_tag(reader):
    """SRV-19"""
    found = tags(reader, "tea", padded=8)
    assert found == [IGNORED, 0, *[IGNORED] * 6]


def test_a_span_of_a_label_that_was_not_asked_is_outside(reader):
    """S1-15"""
    assert set(tags(reader, "Anna paid 40", ("AGE", "40"))) == {IGNORED, 0}


def test_yes_is_the_first_option(reader):
    """S1-3"""
    made = batch(reader, ("tea", [Ask("a", YES, True)]), ("tea", [Ask("a", YES, False)]))
    assert made.queries.kind.tolist() == [[Kind.YES, Kind.NO]] * 2
    assert made.choices.target.tolist() == [0, 1]


def test_indices_lead_to_the_options_of_their_question(reader):
    """S1-4: in rows of unequal length"""
    made = batch(
        reader,
        ("tea", [Ask("a", YES, True), Ask("b", COLOUR, 2), Ask("c", TOPICS, frozenset({1}))]),
        ("law", [Ask("d", LEVEL, 1), Ask("e", NAMES, ()), Ask("b", COLOUR, 0)]),
    )
    assert made.queries.kind.shape == (2, 9)
    assert made.choices.index.tolist() == [[0, 1, -1], [2, 3, 4], [9, 10, -1], [13, 14, 15]]
    assert made.choices.target.tolist() == [0, 2, 1, 0]
    assert made.labels.index.tolist() == [5, 6, 7, 8]
    assert made.labels.target.tolist() == [0, 1, 0, 0]
    (names,) = made.tags
    assert (names.row, names.first, names.count) == (1, 2, 2)
    flat = made.queries.option.reshape(18, -1)
    for first, question in ((2, COLOUR), (5, TOPICS), (9, LEVEL), (11, NAMES), (13, COLOUR)):
        described = reader.described[question.digest()]
        own = torch.from_numpy(described.option)
        assert torch.equal(flat[first : first + len(own)], own)


def test_a_row_of_fewer_options_is_padded_with_nothing(reader):
    """S1-4"""
    made = batch(reader, ("tea", [Ask("a", YES, True)]), ("tea", [Ask("b", COLOUR, 1)]))
    assert not made.queries.option[0, 2].any()
    assert (made.queries.members[0] >= 0).sum() == 1, "what yes says"
    assert 2 not in made.choices.index[0]


def test_the_labels_of_a_set_weigh_together_as_the_root_of_their_number(reader):
    """SRV-19: four of them as much as two questions"""
    made = batch(reader, ("tea", [Ask("a", TOPICS, frozenset({0, 2}), 3.0), Ask("b", YES, True)]))
    assert made.labels.weight.tolist() == pytest.approx([1.5] * 4)
    assert made.choices.weight.tolist() == [1.0]


def test_tokens_stand_between_their_marks_with_their_looks(reader):
    """SRV-17"""
    short, long = (reader.prepared("00", {"state": s}).tokens for s in ("Tea", "Tea " * 12))
    encoded = encoded_of([short, long])
    assert encoded.ids.shape == (2, 16)
    assert encoded.mask.sum(1).tolist() == [3, 14]
    assert encoded.ids[0, :4].tolist() == [101, short.chunks[0][0], 102, 0]
    assert encoded.shapes[0, :3].tolist() == [0, short.layout.shapes[0], 0]
    assert encoded.occurrences[1, 1:13].tolist() == long.layout.occurrences.tolist()
    number = reader.prepared("00", {"state": "tea 42"}).tokens
    assert encoded_of([number]).forms[0, :4].tolist() == [0, *number.layout.forms.tolist(), 0]
    assert number.layout.forms.tolist() == [0, 2]


def test_states_are_anchored_to_the_frozen_encoders_vectors(reader, frozen):
    """SRV-17: each to that of its own chunk, whatever is read beside it"""
    rows = [reader.prepared("00", {"state": s, "ask": {}}, [Ask("a", YES, True)]) for s in STATES]
    reader.describe([YES])
    assert batch_of(rows, reader.described).anchors is None
    anchored = reader.anchored(rows)
    anchors = batch_of(anchored, reader.described).anchors
    for anchor, row in zip(anchors, rows, strict=True):
        own = frozen.encode(*marked(row.tokens.chunks[:1], row.tokens.bucket))[0]
        assert anchor.numpy() == pytest.approx(own, abs=1e-5)
    assert batch_of([anchored[0], rows[1]], reader.described).anchors is None
