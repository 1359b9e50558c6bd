"""Public headers, timings, deadlines (API-7, API-8, HDR-1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.asking.call import Timings
from serve_app.errors import RouterError
from serve_app.outcome import Outcome
from serve_app.wire.headers import (
    WARNINGS,
    outcome_headers,
    public_headers,
    request_id,
    server_timing,
    timeout_seconds,
)


def test_warnings_stand_in_their_fixed_order() -> None:
    """API-8"""
    outcome = Outcome("r", "v", warnings=("other", "pii", "jailbreak", "guard_overloaded"))
    headers = outcome_headers(outcome, "upstream", "m")
    assert headers["x-vsr-warnings"] == "guard_overloaded,jailbreak,pii,other"
    assert WARNINGS[0] == "guard_overloaded"


def test_what_is_not_there_has_no_header() -> None:
    """HDR-1"""
    assert outcome_headers(Outcome("", "v"), "upstream", None) == {
        "x-vsr-response-path": "upstream"
    }


@given(st.text(min_size=1))
def test_a_name_in_any_script_is_a_header_that_can_be_sent(name: str) -> None:
    """API-8"""
    value = public_headers("upstream", decision=name)["x-vsr-selected-decision"]
    assert value.isascii()
    assert value.isprintable()


def test_stages_come_in_a_requests_order_and_calls_are_summed() -> None:
    """API-8 ``Server-Timing``"""
    stages = {"provider": 30.0, "selector": 2.0, "signals": 4.25, "not a stage": 1.0}
    calls = [Timings(0.5, 1.0, 2.0), Timings(0.25, 0.0, 1.0)]
    assert server_timing(stages, calls) == {
        "server-timing": "signals;dur=4.250, selector;dur=2.000, provider;dur=30.000, "
        "queue;dur=0.750, tokenize;dur=1.000, forward;dur=3.000"
    }
    assert server_timing({}, []) == {}


def test_a_request_id_is_random_and_of_one_form() -> None:
    """API-8, S1-7"""
    assert request_id(lambda size: b"\xab" * size) == "req_" + "ab" * 16


@pytest.mark.parametrize("value", ["", "soon", "0", "-3", "nan", "inf", "1,5"])
def test_a_timeout_that_is_no_positive_number_is_refused(value: str) -> None:
    """API-7, BUD-3"""
    with pytest.raises(RouterError):
        timeout_seconds({"x-vsr-timeout-seconds": value})


def test_a_timeout_is_seconds() -> None:
    """BUD-3"""
    assert timeout_seconds({"x-vsr-timeout-seconds": "1.5"}) == 1.5
    assert timeout_seconds({}) is None
