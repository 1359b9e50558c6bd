"""API-1: what could not be carried is named, and the list is bounded."""

from __future__ import annotations

import http_sf
from hypothesis import given
from hypothesis import strategies as st

from serve_app.wire.untranslated import HEADER, MAX_BYTES, untranslated_headers

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=64), max_size=40)


def read(value: str) -> list[str]:
    return [str(item) for item, _ in http_sf.parse(value.encode(), tltype="list")]


@given(NAMES)
def test_every_name_that_fits_can_be_read_again(names: list[str]) -> None:
    """API-1"""
    headers = untranslated_headers(names)
    if not names:
        assert headers == {}
        return
    value = headers[HEADER]
    assert value.isascii()
    assert value.isprintable()
    assert len(value) <= MAX_BYTES
    once = list(dict.fromkeys(names))
    found = read(value)
    if len(found) < len(once) or found != once:
        assert value.endswith("truncated")
        found = found[:-1]
    assert found == once[: len(found)]


def test_a_list_that_is_cut_says_so() -> None:
    """API-1"""
    value = untranslated_headers(f"messages[{i}].content[0].audio" for i in range(99))[HEADER]
    assert value.startswith('"messages[0].content[0].audio", "messages[1]')
    assert value.endswith(", truncated")
    assert untranslated_headers(["truncated"])[HEADER] == '"truncated"'
