"""The record of long inputs: what is put into them, and how it is told."""

from __future__ import annotations

import httpx
import pytest

from benchmarks.scan import (
    ATTACK,
    DEADLINE_S,
    KINDS,
    Scanned,
    ScanRecord,
    Texts,
    options,
    render,
    scanned,
)


def test_no_text_comes_twice_and_an_attack_stands_where_its_kind_says() -> None:
    texts = Texts(1)
    found = {kind: [texts.new(30, kind) for _ in range(4)] for kind in KINDS}
    every = [text for of_kind in found.values() for text in of_kind]
    assert len(set(every)) == len(every)
    assert {len(text) for text in every} == {30_000}
    assert all(ATTACK not in text for text in found["harmless"])
    assert all(text.endswith(f"{ATTACK}\n") for text in found["attack at the end"])
    assert {text.index(ATTACK) for text in found["attack in the middle"]} == {15_001}


def test_lengths_and_rounds_are_chosen_by_the_caller() -> None:
    chosen = options(["--lengths", "1,8", "--rounds", "2"])
    assert (chosen.lengths, chosen.rounds) == ([1, 8], 2)


def answering(status: int, body: object) -> httpx.Client:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["x-vsr-timeout-seconds"] == f"{DEADLINE_S:g}"
        return httpx.Response(status, json=body)

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://one")


def test_a_scan_is_told_by_its_calls_coverage_and_decision() -> None:
    body = {
        "calls": [{}, {}, {}],
        "fast_response": {"message": "no"},
        "scan_coverage": {"jailbreak:attack": "partial 1/5"},
    }
    client = answering(200, body)
    found = scanned(client, "text", 40, "harmless", 0)
    assert found.ms > 0
    assert (found.calls, found.refused, found.coverage) == (3, True, "partial 1/5")


def test_what_is_no_preview_ends_the_run() -> None:
    client = answering(503, {"error": "overloaded"})
    with pytest.raises(RuntimeError, match="40 KB, harmless: 503"):
        scanned(client, "text", 40, "harmless", 0)


def test_the_record_has_a_row_for_each_length_with_median_and_extremes() -> None:
    scans = [
        Scanned(8, "harmless", turn, ms, calls, False, None)
        for turn, (ms, calls) in enumerate([(300.0, 1), (500.0, 1), (310.0, 1)])
    ] + [Scanned(8, kind, 0, 200.0, 2, True, "partial 1/2") for kind in list(KINDS)[1:]]
    shown = render(ScanRecord("2026-01-01", "command", {}, {}, tuple(scans)))
    assert "| 8 KB | 310 (300–500) | 38.8 | 1.00 | whole | 0 of 3 |" in shown
    assert shown.count("| 8 KB | 200 | 25.0 | 2.00 | partial 1/2 | 1 of 1 |") == 2
