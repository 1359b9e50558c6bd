"""What is written beside what the model reads: SIZE-1, SIZE-2."""

from __future__ import annotations

import pytest

from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import ENVIRON, changed, errors, loaded

FIRST = "global.model_catalog.deployments.first"
SHORT = ABLE.model_copy(update={"max_input_tokens": 9_216, "validated_input_tokens": None})
"""Reads 8,192 bytes for certain."""


def warnings(new: str) -> list[tuple[str, str]]:
    text, _ = changed("max_queue_s: 5", new)
    found = loaded(text, card=SHORT, environ=ENVIRON).warnings
    return [(w.path, w.message) for w in found if w.path.startswith(FIRST)]


@pytest.mark.parametrize(
    ("section", "field", "tokens"),
    [
        ("routing_view", "max_tokens", 2_049),
        ("scan_window", "tokens", 2_049),
        ("scan_window", "max_tokens", 8_193),
    ],
)
def test_a_written_size_above_what_the_model_reads_is_told(section, field, tokens) -> None:
    """SIZE-1: it is clamped, and the check says so"""
    ((path, message),) = warnings(f"{section}: {{{field}: {tokens}}}")
    assert path == f"{FIRST}.{section}.{field}"
    assert "8192 bytes" in message


@pytest.mark.parametrize("new", ["max_queue_s: 6", "scan_window: {tokens: 2048, overlap: 1000}"])
def test_defaults_and_what_fits_are_clamped_in_silence(new) -> None:
    """SIZE-1"""
    assert warnings(new) == []


def test_a_written_overlap_that_a_shortened_window_cuts_is_told() -> None:
    """SIZE-1: a quarter of the window"""
    found = dict(warnings("scan_window: {overlap: 600}"))
    assert "2048 bytes" in found[f"{FIRST}.scan_window.overlap"]


def test_a_window_of_wrong_tokens_is_one_error() -> None:
    """SIZE-2, CFG-1: what the file says beside it fits no default"""
    text, _ = changed("max_queue_s: 5", "scan_window: {tokens: 100, overlap: 60, max_tokens: 512}")
    (problem,) = errors(text)
    assert problem.path == f"{FIRST}.scan_window.tokens"
    assert problem.message.startswith("out of range: 256 to 1048576")
