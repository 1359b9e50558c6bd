"""The mock's processes start, have the fault they were given, and end."""

from __future__ import annotations

import httpx
import pytest

from tests.doubles.jevcompat_mocks import NAMES, jevcompat_mock

CALL = {
    "model": "jev-latest",
    "state": "Hello",
    "questions": {"q": {"type": "noul", "instructions": "Is it?"}},
}


def test_the_suite_has_the_faults_that_are_known() -> None:
    assert len(NAMES) == 47


def test_a_mock_answers_until_it_ends() -> None:
    with jevcompat_mock() as endpoint:
        assert httpx.post(endpoint, json=CALL).json()["answers"]["q"]["type"] == "noul"
    with pytest.raises(httpx.ConnectError):
        httpx.post(endpoint, json=CALL)


def test_a_mock_has_its_fault_and_its_key() -> None:
    with jevcompat_mock("noul-range", key="k") as endpoint:
        assert httpx.post(endpoint, json=CALL).status_code == 403
        answer = httpx.post(endpoint, json=CALL, headers={"authorization": "Bearer k"}).json()
        assert answer["answers"]["q"]["noul"] > 1
