"""Looks of tokens that an uncased vocabulary does not tell: S1-15."""

from models.cards.shipped import shipped_card
from models.embedded.features import OCCURRENCES, SHAPES
from models.embedded.files import encoder_files
from models.embedded.tokenizer import ChunkTokenizer

PATH = encoder_files(shipped_card("embedded").sha256)["tokenizer.json"]
TOKENIZER = ChunkTokenizer(PATH)


def looks(text: str) -> dict[str, tuple[int, int]]:
    layout = TOKENIZER.state(text, 9216).layout
    assert layout is not None
    places = zip(layout.starts, layout.ends, strict=True)
    values = zip(layout.shapes.tolist(), layout.occurrences.tolist(), strict=True)
    return {text[a:b]: value for (a, b), value in zip(places, values, strict=True)}


def test_case_digits_and_marks_have_shapes():
    """S1-15"""
    found = looks("Anna sent USA 42 mails, today")
    assert [found[t][0] for t in ("sent", "Anna", "USA", "42", ",")] == [1, 2, 3, 4, 5]


def test_a_token_that_continues_a_word_has_a_shape_of_its_own():
    """S1-15"""
    layout = TOKENIZER.state("Kowalczyk", 9216).layout
    assert layout is not None
    assert layout.continues.tolist() == [False] + [True] * (len(layout.starts) - 1)
    assert layout.shapes[0] == 2
    assert (layout.shapes[1:] > 5).all()


def test_a_token_tells_whether_another_line_has_it():
    """S1-15: what two fields have in common, and what one of them has alone"""
    found = looks("request: order 12 or order 13\ncandidate: order 14")
    assert found["order"][1] == 3
    assert found["12"][1] == 1
    assert looks("one and one")["one"][1] == 2


def test_every_value_is_below_its_bound():
    """S1-15"""
    found = looks("Ünïcödé ABC abc Abc 12 ## !? \n ABC 😀 istanbul İstanbul ŒUVRE ß")
    assert all(0 < shape < SHAPES and 0 < seen < OCCURRENCES for shape, seen in found.values())
