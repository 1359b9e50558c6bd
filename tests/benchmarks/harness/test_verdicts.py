"""The bars are judged on paired rounds."""

from collections.abc import Mapping

import pytest

from benchmarks.harness.names import (
    BARE,
    EMBEDDED,
    FASTAPI,
    FIXED,
    PREVIEW,
    ROUTE,
    SYSTEMONE,
    litserve,
)
from benchmarks.harness.record import Cell, Contest, Record
from benchmarks.harness.statistics import Spread
from benchmarks.harness.verdicts import Verdict, best_litserve, verdicts


def cell(contestant: str, callers: int = 16, round: int = 0, **figures: object) -> Cell:
    fields: dict[str, object] = {
        "requests": 100,
        "failed": 0,
        "rate": 100.0,
        "p50": 1.0,
        "p95": 2.0,
        "p99": 3.0,
        **figures,
    }
    return Cell(contestant, callers, round, **fields)  # type: ignore[arg-type]


def record(engine: str, *cells: Cell, policy_ms: Mapping[str, Spread] | None = None) -> Record:
    return Record("", "", {}, {}, (Contest(engine, "", cells),), policy_ms or {})


def only(found: list[Verdict], *words: str) -> Verdict:
    (verdict,) = (v for v in found if all(word in v.what for word in words))
    return verdict


def test_a_rate_is_judged_by_the_ratio_of_the_same_rounds() -> None:
    rates = [(130.0, 100.0), (300.0, 200.0), (60.0, 50.0)]
    cells = [
        c
        for n, (ours, theirs) in enumerate(rates)
        for c in (cell(SYSTEMONE, round=n, rate=ours), cell(FASTAPI, round=n, rate=theirs))
    ]
    verdict = only(verdicts(record(EMBEDDED, *cells)), "rate", SYSTEMONE)
    assert verdict.value == pytest.approx((1.3 * 1.5 * 1.2) ** (1 / 3))
    assert verdict.met
    assert not verdict.certain
    assert verdict.rounds == 3


def test_a_round_that_only_one_played_is_left_out() -> None:
    cells = [cell(SYSTEMONE, round=n, rate=200.0) for n in range(3)]
    cells += [cell(FASTAPI, round=1), cell(FASTAPI, round=7)]
    assert only(verdicts(record(EMBEDDED, *cells)), "rate").rounds == 1


def test_latency_is_compared_with_the_bare_forward_at_one_caller() -> None:
    cells = [cell(PREVIEW, 1, n, p50=19.5) for n in range(7)]
    cells += [cell(BARE, 1, n, p50=10.0) for n in range(7)]
    verdict = only(verdicts(record(EMBEDDED, *cells)), "p50", PREVIEW)
    assert (verdict.value, verdict.bar) == (pytest.approx(1.95), 1.9)
    assert not verdict.met
    assert verdict.certain


def test_the_best_batch_timeout_is_the_one_with_the_highest_median_rate() -> None:
    cells = [cell(litserve(0), 64, n, rate=r) for n, r in enumerate((100, 100, 900))]
    cells += [cell(litserve(5), 64, n, rate=200) for n in range(3)]
    cells += [cell(litserve(9), 16, n, rate=999) for n in range(3)]
    assert best_litserve(Contest(FIXED, "", tuple(cells)), 64) == litserve(5)


def test_the_fixed_engine_is_judged_against_that_rival_and_plain_fastapi() -> None:
    cells = [cell(PREVIEW, 64, n, rate=300, p99=250) for n in range(7)]
    cells += [cell(FASTAPI, 64, n, rate=20, p99=3000) for n in range(7)]
    cells += [cell(litserve(0), 64, n, rate=310, p99=240) for n in range(7)]
    found = verdicts(record(FIXED, *cells))
    assert only(found, "rate", FASTAPI).value == pytest.approx(15)
    assert only(found, "rate", litserve(0)).met
    assert not only(found, "p99", litserve(0)).met


def test_cpu_counts_every_process_without_the_idle_rate() -> None:
    used = {"ray::ServeReplica:router:Ingress": 2.5, "raylet": 1.5}
    cells = [cell(PREVIEW, 16, n, cpu_ms=used, idle_cpu_ms=0.75) for n in range(3)]
    verdict = only(verdicts(record(FIXED, *cells)), "CPU")
    assert (verdict.value, verdict.bar, verdict.met) == (3.25, 3.5, True)


def test_what_was_not_measured_has_no_verdict() -> None:
    assert verdicts(Record("", "", {}, {}, ())) == []


def test_the_policy_is_judged_by_deciding_without_explaining() -> None:
    spreads = {ROUTE: Spread(0.2, 0.1, 0.25), "explained": Spread(0.4, 0.35, 0.5)}
    (verdict,) = verdicts(record("other", policy_ms=spreads))
    assert (verdict.value, verdict.bar, verdict.met) == (0.2, 0.3, True)
