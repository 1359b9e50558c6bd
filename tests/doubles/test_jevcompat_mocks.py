"""The mock's processes start, have the fault they were given, and end."""

from __future__ import annotations

import httpx
import pytest

from tests.doubles.jevcompat_mocks import NAMES, jevcompat_mock, jevcompat_mocks

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


def test_mocks_of_many_faults_are_servers_of_their_own_and_end_together() -> None:
    with jevcompat_mocks({"noul-range": None, "no-usage": "k"}) as endpoints:
        above = httpx.post(endpoints["noul-range"], json=CALL).json()
        headers = {"authorization": "Bearer k"}
        without = httpx.post(endpoints["no-usage"], json=CALL, headers=headers).json()
        assert httpx.post(endpoints["no-usage"], json=CALL).status_code == 403
    assert (above["answers"]["q"]["noul"] > 1, "usage" in above) == (True, True)
    assert (without["answers"]["q"]["noul"] > 1, "usage" in without) == (False, False)
    for endpoint in endpoints.values():
        with pytest.raises(httpx.ConnectError):
            httpx.post(endpoint, json=CALL)
