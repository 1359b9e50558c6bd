"""What dies under load: no wrong answer, no unchecked forward, and back by itself (SRV-18)."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.shipped import Running, tree_of
from tests.integration.test_router import INJECTION, PLAIN, preview, rule

pytestmark = [pytest.mark.serve, pytest.mark.timeout(240)]

REFUSAL = "I can't help with that."
REFUSED = {429, 503, 529}
THREADS = 4
LOAD_S = 15.0
MODEL = "DecisionModel-primary"


def test_a_killed_model_lets_nothing_through_unchecked_and_comes_back(
    router: Running, provider: str
) -> None:
    """SRV-18, SRV-8, UNK-3, law 1. Guards without an answer fail closed: what is harmless may be
    refused meanwhile, and what is an attack may never pass.
    """
    victim = model_pid(router)
    end = time.monotonic() + LOAD_S
    readiness: list[dict[str, Any]] = []
    meanwhile: list[tuple[str, int]] = []

    def watch() -> bool:
        readiness.append(httpx.get(f"{router.url}/ready", timeout=30).json())
        if not readiness[-1]["ready"]:
            meanwhile.append((chat(router, f"{PLAIN} (meanwhile)"), systemone(router)))
        return time.monotonic() > end

    with ThreadPoolExecutor(THREADS + 1) as pool:
        loads = [pool.submit(load, router, thread, end) for thread in range(THREADS)]
        watched = pool.submit(until, watch, 2 * LOAD_S)
        until(lambda: all(started.running() for started in loads), 5)
        until(lambda: bool(readiness), 10)
        os.kill(victim, signal.SIGKILL)
        answered = [len(one.result()) for one in loads]
        outcomes = [outcome for one in loads for outcome in one.result()]
        watched.result()

    assert all(answered)
    outcomes += [outcome for outcome, _ in meanwhile]
    assert [o for o in outcomes if o.startswith("wrong")] == []
    assert {"echoed", "blocked"} <= set(outcomes)
    assert readiness[0]["ready"] is True
    gone = [r["deployments"][MODEL] for r in readiness if not r["ready"]]
    assert {"ready": False, "reason": "no replica is running"} in gone
    assert "blocked" in {outcome for outcome, _ in meanwhile}
    assert 503 in {status for _, status in meanwhile}
    assert {status for _, status in meanwhile} <= {200, *REFUSED}

    until(lambda: rule(preview(router, INJECTION), "attack")["verdict"] == "match", 60)
    until(lambda: chat(router, f"{PLAIN} (after)") == "echoed", 10)
    assert chat(router, INJECTION) == "blocked"
    assert model_pid(router) != victim
    assert httpx.get(f"{router.url}/ready").status_code == 200
    asked = everything_asked(provider)
    assert PLAIN in asked
    assert INJECTION not in asked
    assert failed_closed(router)


def load(router: Running, thread: int, end: float) -> list[str]:
    """The outcomes of one caller's requests; every third is an attack."""
    outcomes = []
    for number in count():
        if time.monotonic() > end:
            break
        attack = number % 3 == 0
        outcomes.append(chat(router, INJECTION if attack else f"{PLAIN} ({thread}.{number})"))
    return outcomes


def chat(router: Running, text: str) -> str:
    """``echoed`` with the text, ``blocked``, ``refused``, or ``wrong`` and what it was."""
    body = {"model": "auto", "messages": [{"role": "user", "content": text}]}
    answer = httpx.post(f"{router.url}/v1/chat/completions", json=body, timeout=60)
    if answer.status_code in REFUSED:
        return "refused"
    if answer.status_code != 200:
        return f"wrong: {answer.status_code} {answer.text}"
    content = answer.json()["choices"][0]["message"]["content"]
    if content == REFUSAL:
        return "blocked"
    return "echoed" if content.endswith(text) and text != INJECTION else f"wrong: {content}"


def systemone(router: Running) -> int:
    """The status of a plain call without a deadline of its own."""
    question = {"type": "noul", "instructions": "Is it about a kitten?"}
    body = {"model": "jev-latest", "state": PLAIN, "questions": {"q": question}}
    return httpx.post(f"{router.url}/v1/systemone", json=body, timeout=60).status_code


def until(holds: Callable[[], bool], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def model_pid(router: Running) -> int:
    """The process of the decision model's replica, by the title that Ray gives it."""
    found = []
    for pid in tree_of(router.pid):
        try:
            title = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            continue
        if MODEL in title:
            found.append(pid)
    assert len(found) == 1, found
    return found[0]


def everything_asked(provider: str) -> str:
    """What the provider process was sent, as text."""
    root = provider.removesuffix("/v1")
    models = [model["id"] for model in httpx.get(f"{provider}/models").json()["data"]]
    return json.dumps([httpx.get(f"{root}/asked/{model}").json() for model in models])


def failed_closed(router: Running) -> list[str]:
    """The lines of Ingress's own log, at the level that is shipped."""
    logs = Path(router.environment["RAY_TMPDIR"]).rglob("replica_*Ingress*.log")
    return [
        line
        for log in logs
        for line in log.read_text().splitlines()
        if "WARNING" in line and "signal_failed_closed" in line
    ]
