"""Server-sent events taken apart: API-3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.wire.frames import MAX_FRAME_BYTES, Frame, Frames, FrameTooLongError, frame

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20)


def fed(data: bytes, cuts: list[int]) -> list[Frame]:
    frames, found, start = Frames(), [], 0
    for cut in [*sorted({min(cut, len(data)) for cut in cuts}), len(data)]:
        found += frames.feed(data[start:cut])
        start = cut
    return found


@given(
    st.lists(st.tuples(st.none() | st.sampled_from(["a", "delta"]), st.lists(TEXT, min_size=1))),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 300)),
)
def test_events_are_the_same_however_their_bytes_are_cut(events, end, cuts):
    """API-3"""
    text = ""
    for name, lines in events:
        text += f"event: {name}{end}" if name else f": a comment{end}"
        text += "".join(f"data: {line}{end}" for line in lines) + end
    expected = [Frame(name, "\n".join(lines)) for name, lines in events]
    last = text.encode()
    if end == "\r" and last:
        expected = expected[:-1] if events else expected  # its end may be half of a longer one
    assert fed(last, cuts) == expected


def test_what_is_written_is_read_again():
    """API-3"""
    data = frame(b'{"a": 1}', "delta") + frame(b"[DONE]")
    assert Frames().feed(data) == [Frame("delta", '{"a": 1}'), Frame(None, "[DONE]")]


def test_comments_and_names_alone_are_no_events():
    """API-3: comments keep a connection alive"""
    assert Frames().feed(b": alive\n\nevent: ping\n\nid: 4\nretry: 9\n\n") == []


def test_an_event_without_an_end_is_not_held_for_ever():
    """API-3"""
    frames = Frames()
    frames.feed(b"data: " + b"x" * (MAX_FRAME_BYTES // 2))
    with pytest.raises(FrameTooLongError):
        frames.feed(b"x" * MAX_FRAME_BYTES)
