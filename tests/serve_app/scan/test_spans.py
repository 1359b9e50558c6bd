"""Spans of windows as spans of the input: SCAN-4."""

from hypothesis import given, settings
from hypothesis import strategies as st

from models.questions.types import Span, SpanAnswer
from serve_app.config.sizes import Sizes
from serve_app.scan.scan import Piece
from serve_app.scan.spans import joined, moved
from serve_app.scan.text import Text
from serve_app.scan.windows import cut
from tests.doubles.scans import known_speed, rule, scan_of


def span(label: str, start: int, end: int, text: str, probability: float = 0.9) -> Span:
    return Span(label, start, end, text[start:end], probability)


def test_a_span_that_two_windows_found_is_one_as_sure_as_the_surest():
    """SCAN-4: a window may have seen no more than a part of it"""
    text = "call Ana Ruiz today"
    found = [span("PERSON", 5, 13, text, 0.7), span("PERSON", 9, 13, text, 0.9)]
    assert joined(found, text) == (span("PERSON", 5, 13, text, 0.9),)


def test_spans_of_other_labels_and_those_that_only_touch_stay_apart():
    """SCAN-4"""
    text = "Ana Ruiz"
    found = [span("PERSON", 0, 4, text), span("PERSON", 4, 8, text), span("GPE", 4, 8, text)]
    assert joined(found, text) == (found[0], found[2], found[1])


@settings(max_examples=1_000)
@given(
    st.text(st.sampled_from("a😀é漢\u0301\ud800"), min_size=30, max_size=200),
    st.integers(0, 8),
    st.data(),
)
def test_a_span_of_a_window_stands_in_the_input_where_its_words_stand(text, overlap, data):
    """SCAN-4: in code points, whatever the characters take in bytes"""
    whole = Text(text)
    sizes = Sizes(24, 0.25, 24, overlap, 24, 4, 3)
    if whole.size <= sizes.window:
        return
    windows = cut(whole, sizes).windows
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + 3)))
    found: list[Span] = []
    for window in windows:
        piece = whole.between(window.start, window.end)
        first = whole.code_points(window.start)
        a, b = max(0, start - first), min(len(piece), end - first)
        if a < b:  # a model finds as much of it as there is
            found += moved([Span("X", a, b, piece[a:b], 0.5)], first)
    merged = joined(found, text)
    assert all(s.text == text[s.start : s.end] for s in merged)
    covered = {i for s in merged for i in range(s.start, s.end)}
    assert covered == set(range(start, end))
    if len(text[start:end].encode("utf-8", "surrogatepass")) <= overlap:
        assert len(merged) == 1


def found_in(text: str, sought: range, piece: Piece) -> tuple[Span, ...]:
    """What a model finds of the characters ``sought`` of ``text`` in a window of it, whose place
    is told by its bytes alone."""
    before = text.encode("utf-8", "surrogatepass")[: piece.window.start]
    first = len(before.decode("utf-8", "surrogatepass"))
    start, end = max(0, sought.start - first), min(len(piece.text), sought.stop - first)
    return (span("PERSON", start, end, piece.text),) if start < end else ()


@settings(max_examples=1_000)
@given(
    st.text(st.sampled_from("a😀é漢\u0301\ud800"), min_size=60, max_size=400),
    st.integers(0, 8),
    st.sampled_from([24, 72]),
    st.data(),
)
def test_a_scan_tells_spans_in_characters_of_the_whole_input(text, overlap, largest, data):
    """SCAN-4: emoji, Chinese and marks before them, whatever windows are merged"""
    start = data.draw(st.integers(0, len(text) - 1))
    sought = range(start, data.draw(st.integers(start + 1, min(len(text), start + 6))))
    sizes = Sizes(24, 0.25, 24, overlap, largest, 4, 3)
    scan = scan_of(
        text,
        rule("pii", whole=True),
        sizes=sizes,
        speed=known_speed(1.0, 0.001),
        deadline=data.draw(st.sampled_from([8.0, 1e9])),
        point=data.draw(st.floats(0, 1, exclude_max=True)),
    )
    now = 0.0
    while (piece := scan.next(now)) is not None:
        now += 1.0
        scan.answered(piece, {"pii": SpanAnswer(found_in(text, sought, piece))}, seconds=1.0)
    found = scan.found(0)
    assert found.coverage.result == "full"
    assert {i for s in found.spans for i in range(s.start, s.end)} == set(sought)
    assert all(s.text == text[s.start : s.end] for s in found.spans)
    if len(text[start : sought.stop].encode("utf-8", "surrogatepass")) <= overlap:
        assert len(found.spans) == 1
