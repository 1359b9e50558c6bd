"""Effective sizes: SIZE-1."""

from typing import Any

import pytest

from models.cards.schema import Card
from models.cards.shipped import shipped_card
from serve_app.config.schema.catalog import LocalDeployment, RemoteDeployment
from serve_app.config.sizes import Sizes, sizes_of


def card(tokens: int, validated: int | None = None) -> Card:
    update = {"max_input_tokens": tokens, "validated_input_tokens": validated}
    return shipped_card("embedded").model_copy(update=update)


def local(tokens: int, **settings: Any) -> Sizes:
    fields = {"provider": "model_runtime", "artifact": "embedded", **settings}
    return sizes_of(LocalDeployment.model_validate(fields), card(tokens))


def remote(**settings: Any) -> Sizes:
    fields = {"provider": "systemone", "endpoint": "http://127.0.0.1:9", "model": "m", **settings}
    return sizes_of(RemoteDeployment.model_validate(fields), card(1_280))


def test_a_model_of_32768_tokens_reads_31744_bytes_and_no_larger_windows():
    """SIZE-1: one byte per token, less 1,024 for the question"""
    sizes = local(32_768)
    assert (sizes.view, sizes.window, sizes.largest) == (31_744, 31_744, 31_744)
    assert sizes.overlap == 2_048


def test_a_validated_length_goes_before_the_greatest():
    """SIZE-1"""
    fields = {"provider": "model_runtime", "artifact": "embedded"}
    deployment = LocalDeployment.model_validate(fields)
    assert sizes_of(deployment, card(32_768, validated=5_120)).window == 4_096


def test_the_embedded_models_windows_have_6144_new_bytes():
    """SIZE-1, SCAN-6: at most a quarter of the window overlaps where the limit shortens it"""
    sizes = local(shipped_card("embedded").max_input_tokens)
    assert (sizes.window, sizes.overlap, sizes.largest) == (8_192, 2_048, 8_192)


@pytest.mark.parametrize("written", [{}, {"overlap": 512}, {"overlap": 4_000}])
def test_a_shortened_window_overlaps_by_a_quarter_at_most(written):
    """SIZE-1: written or not"""
    assert local(5_120, scan_window=written).overlap == 1_024
    assert local(5_120, scan_window={"overlap": 4}).overlap == 16


def test_a_written_overlap_holds_where_the_window_is_as_written():
    """SIZE-1"""
    assert local(32_768, scan_window={"tokens": 1_024, "overlap": 500}).overlap == 2_000
    assert local(32_768, scan_window={"tokens": 1_024}).overlap == 1_024


def test_a_remote_model_has_no_limit_unless_one_is_written():
    """SIZE-1"""
    sizes = remote()
    assert (sizes.view, sizes.window, sizes.overlap) == (16_384, 16_384, 1_024)
    assert sizes.largest == 16_384
    assert remote(routing_view={"max_tokens": 1_048_576}).view == 4_194_304
    assert remote(validated_input_tokens=9_216).window == 8_192


def test_windows_may_grow_as_far_as_the_model_reads():
    """SCAN-6: the default is all it reads, a written one is capped by it"""
    assert local(32_768, scan_window={"tokens": 1_024}).largest == 31_744
    assert local(32_768, scan_window={"tokens": 1_024, "max_tokens": 2_048}).largest == 8_192
    assert local(32_768, scan_window={"tokens": 1_024, "max_tokens": 100_000}).largest == 31_744
