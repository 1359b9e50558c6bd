"""Metrics of several processes as one (API-12)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from serve_app.telemetry import metrics

PROCESS = """
from serve_app.telemetry import metrics
totals = metrics.ModelTotals("primary")
totals.publish({"forwards": 2, "rows": 5, "not_a_metric": 9}, open_calls=3, queued_s=1.5)
totals.publish({"forwards": 7, "rows": 5}, open_calls=3, queued_s=0.5)
metrics.observe_request("/v1/systemone", 200, 0.01)
"""
RENDER = "from serve_app.telemetry import metrics; print(metrics.render().decode())"


def run(code: str, directory: Path) -> str:
    environment = {**os.environ, metrics.DIRECTORY: str(directory)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def values(text: str) -> dict[str, float]:
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_of_dead_processes_stay_and_their_gauges_go(tmp_path: Path) -> None:
    """API-12: summed over the processes of a node, under exactly their names"""
    run(PROCESS, tmp_path)
    run(PROCESS, tmp_path)
    shown = values(run(RENDER, tmp_path))
    assert shown["vsr_model_forwards_total"] == 14
    assert shown["vsr_model_rows_total"] == 10
    assert shown["vsr_requests_total"] == 2
    assert shown["vsr_request_duration_seconds_count"] == 2
    assert "vsr_model_open_calls" not in shown


def test_gauges_of_living_processes_are_summed(tmp_path: Path) -> None:
    """API-12"""
    shown = values(run(PROCESS + RENDER, tmp_path))
    assert shown["vsr_model_open_calls"] == 3
    assert shown["vsr_model_queued_seconds"] == 0.5


def test_one_process_shows_its_own_without_a_directory() -> None:
    """API-12"""
    metrics.observe_provider("only-here", "ok")
    assert 'vsr_provider_attempts_total{model="only-here",outcome="ok"} 1.0' in (
        metrics.render().decode()
    )


def test_what_scans_read_is_counted_by_rule(tmp_path: Path) -> None:
    """COV-4, API-12"""
    code = """
from serve_app.outcome import Coverage, Outcome, RuleOutcome, Truth
from serve_app.telemetry import metrics
def rule(type, coverage):
    return RuleOutcome(type, "r", Truth.FALSE, Truth.FALSE, coverage=coverage)
read = (Coverage(4, 4), Coverage(1, 4, decided=True), Coverage(0, 4))
rules = tuple(rule("jailbreak", coverage) for coverage in read) + (rule("domain", None),)
metrics.observe_signals(Outcome(recipe="r", config_version="1", rules=rules))
"""
    run(code, tmp_path)
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(run(RENDER, tmp_path))
        for sample in family.samples
    }
    signal = ("signal", "jailbreak")
    for result in ("full", "partial", "none"):
        labels = (("result", result), signal)
        assert samples["vsr_signal_scan_coverage_total", labels] == 1
    assert samples["vsr_signal_scan_coverage_ratio_sum", (signal,)] == 1.25
    assert samples["vsr_signal_scan_coverage_ratio_count", (signal,)] == 3
    assert samples["vsr_signal_scan_decided_total", (signal,)] == 1
    assert not any(("signal", "domain") in labels for _, labels in samples)
