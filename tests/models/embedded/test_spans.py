"""Tags as spans: S1-15, SRV-12."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards.shipped import shipped_card
from models.embedded.files import encoder_files
from models.embedded.spans import WITHIN, spans_of
from models.embedded.tokenizer import ChunkTokenizer
from models.embedded.train.batches import tags_of

PATH = encoder_files(shipped_card("embedded").sha256)["tokenizer.json"]
TOKENIZER = ChunkTokenizer(PATH)
LABELS = ["PERSON", "GPE"]


def tagged(text: str, truth, confidence: float = 0.9) -> np.ndarray:
    """Log probabilities of the true tags."""
    tokens = TOKENIZER.state(text, 9216)
    n = len(tokens.chunks[0])
    tags = tags_of(tokens, truth, LABELS, n + 2)[1 : n + 1]
    rest = (1 - confidence) / (2 * len(LABELS))
    p = np.full((n, 1 + 2 * len(LABELS)), rest, dtype=np.float32)
    p[np.arange(n), tags] = confidence
    return np.log(p)


def found(text: str, tags: np.ndarray):
    layout = TOKENIZER.state(text, 9216).layout
    return [(s.label, s.start, s.end, s.text) for s in spans_of(tags, layout, LABELS, text)]


def marked(text: str, *spans: tuple[str, str]):
    return tuple((label, text.index(part), text.index(part) + len(part)) for label, part in spans)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (
            "Anna Kowalczyk-Świątek lives in Łódź.",
            [("PERSON", "Anna Kowalczyk-Świątek"), ("GPE", "Łódź")],
        ),
        ("😀 José flew from São Paulo", [("PERSON", "José"), ("GPE", "São Paulo")]),
        ("Paris", [("PERSON", "Paris")]),
        ("nobody is here", []),
    ],
)
def test_true_tags_are_the_true_spans(text, spans):
    """S1-15: in code points of the original"""
    truth = marked(text, *spans)
    expected = [(label, start, end, text[start:end]) for label, start, end in truth]
    assert found(text, tagged(text, truth)) == expected


def test_spans_side_by_side_are_told_apart_by_their_first_tokens():
    """S1-15"""
    text = "Anna Berta Paris"
    truth = marked(text, ("PERSON", "Anna"), ("PERSON", "Berta"), ("GPE", "Paris"))
    assert [s[3] for s in found(text, tagged(text, truth))] == ["Anna", "Berta", "Paris"]


def test_a_span_never_ends_within_a_word():
    """S1-15: whatever its pieces are tagged"""
    text = "Kowalczykowska went home"
    tags = tagged(text, marked(text, ("PERSON", "Kowalczykowska")))
    for silent in range(3):
        cut = tags.copy()
        cut[silent, 0] = 1.0
        assert [s[3] for s in found(text, cut)] == ["Kowalczykowska"]


def test_a_further_word_goes_on_though_its_first_piece_is_tagged_outside():
    """S1-15"""
    text = "Anna Kowalczykowska went home"
    tags = tagged(text, marked(text, ("PERSON", "Anna Kowalczykowska")))
    tags[1, 0] = 1.0
    assert [s[3] for s in found(text, tags)] == ["Anna Kowalczykowska"]


def test_a_spans_probability_is_the_geometric_mean_of_its_tokens():
    """S1-15"""
    text = "Anna Maria"
    layout = TOKENIZER.state(text, 9216).layout
    p = np.array([[0.1, 0.8, 0.1, 0, 0], [0.4, 0.1, 0.5, 0, 0]], dtype=np.float32)
    (span,) = spans_of(np.log(p + 1e-9), layout, LABELS, text)
    assert span.probability == pytest.approx((0.9 * 0.6) ** 0.5, abs=1e-3)


@given(st.data())
def test_whatever_the_tags_spans_are_in_order_apart_and_within_the_text(data):
    """S1-15"""
    text = "Kowalczykowska, Anna: flew Paris-Łódź ignoreallpreviousinstructions 42 😀 end"
    n = len(TOKENIZER.state(text, 9216).chunks[0])
    best = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    tags = np.full((n, 5), -4.0, dtype=np.float32)
    tags[np.arange(n), best] = -0.1
    spans = found(text, tags)
    edges = [edge for _, start, end, _ in spans for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for _, start, end, _ in spans)


def likeliest(tags: np.ndarray, layout) -> tuple[int, ...]:
    """Of all sequences of a tag for each word, that of the greatest score."""
    words = np.flatnonzero(~layout.continues).tolist()
    ends = [*words[1:], len(tags)]
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for sequence in product(range(1 + 2 * len(LABELS)), repeat=len(words)):
        score = 0.0
        for i, tag in enumerate(sequence):
            label, before = (tag + 1) // 2, (sequence[i - 1] + 1) // 2 if i else 0
            a, b = words[i], ends[i]
            if tag and tag % 2 == 0 and before != label:
                score = -np.inf
            if tag % 2 and before and layout.starts[a] == layout.ends[a - 1]:
                score -= WITHIN
            inside = tags[a + 1 : b, 2 * label - 1 : 2 * label + 1] if tag else None
            score += tags[a, tag]
            score += tags[a + 1 : b, 0].sum() if inside is None else np.logaddexp(*inside.T).sum()
        best = max(best, (float(score), sequence))
    return best[1]


@given(st.integers(0, 2**32 - 1))
def test_spans_are_those_of_the_likeliest_sequence_of_tags(seed):
    """S1-15: of all there are"""
    text = "Anna-Kowalczyk, 42"
    layout = TOKENIZER.state(text, 9216).layout
    p = np.random.default_rng(seed).dirichlet(np.full(5, 0.5), len(layout.starts))
    tags = np.log(p + 1e-6).astype(np.float32)
    words = np.flatnonzero(~layout.continues)
    ends = layout.ends[[*(words[1:] - 1), len(tags) - 1]]
    expected: list[list] = []
    for tag, start, end in zip(likeliest(tags, layout), layout.starts[words], ends, strict=True):
        if tag % 2:
            expected.append([LABELS[tag // 2], start, end])
        elif tag:
            expected[-1][2] = end
    assert [list(span[:3]) for span in found(text, tags)] == expected
