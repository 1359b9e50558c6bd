"""A policy changes while requests come: `serve deploy` of what `serve-config` writes (CFG-10)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from models.cards.shipped import shipped_cards
from serve_app.cli import app
from serve_app.config.loading import load
from serve_app.deployments.placement.model_spec import RESULT_CACHE_VARIABLE
from tests.doubles.fault_server import FaultServer
from tests.doubles.faults.exchange import Received
from tests.integration.conftest import ECHO
from tests.integration.shipped import ROOT, Running, shipped
from tests.integration.test_router import INJECTION, PLAIN

pytestmark = [pytest.mark.serve, pytest.mark.timeout(300)]

CHANGES = 20
KEY = "key-of-ops"
MODEL = "DecisionModel-primary"
CLIENTS = ("preview", "fast", "forwarded", "handle")


def policy(
    number: int,
    provider: str,
    remote: str,
    *,
    key: str = "OPS_KEY",
    models: int = 1,
    threads: int | None = None,
) -> str:
    """The shipped router, and a rule that asks the System One API at ``remote``; what every answer
    shows of it carries ``number``. ``key``: of its one caller. ``models``: how many decision
    models run, of which the first is asked.
    """
    document = yaml.safe_load((ROOT / "configs/router.yaml").read_text().replace(ECHO, provider))
    for model in document["providers"]["models"]:
        model["provider_model_id"] = f"provided-{number}"
    (recipe,) = document["recipes"]
    for decision in recipe["decisions"]:
        decision["name"] += f"-{number}"
        for plugin in decision.get("plugins", ()):
            plugin["message"] = f"Refused by {number}."
    rest = {"name": f"rest-{number}", "modelRefs": [{"model": "general"}]}
    recipe["decisions"].append(rest)
    question = {"type": "noul", "instructions": "Is it a complaint?"}
    complaint = {"name": "complaint", "deployment": "far", "question": question}
    recipe["signals"]["systemone"].append(complaint)
    conditions = [{"type": "systemone", "name": "complaint", "predicate": {"gte": 1}}]
    never = {"name": f"never-{number}", "priority": 1, "rules": {"conditions": conditions}}
    recipe["decisions"].append({**never, "modelRefs": [{"model": "general"}]})
    far = {"provider": "systemone", "endpoint": remote, "model": "m", "timeout_ms": 10_000}
    model = {"provider": "model_runtime", "artifact": "embedded", "placement": {"threads": threads}}
    names = ("primary", "second")[:models]
    document["global"] = {
        "router": {
            "callers": [{"name": "ops", "api_key_env": key}],
            "headers": {"debug": {"callers": ["ops"]}},
        },
        "model_catalog": {"deployments": dict.fromkeys(names, model) | {"far": far}},
    }
    return yaml.safe_dump(document)


@dataclass
class Router:
    """``versions``: version -> number of the policies that were written. ``far``: the remote API
    that one rule asks.
    """

    running: Running
    config: Path
    provider: str
    far: FaultServer
    versions: dict[str, int] = field(default_factory=dict)

    def write(self, number: int, **more: Any) -> str:
        """Writes a policy and returns its version."""
        self.config.write_text(policy(number, self.provider, self.far.endpoint("none"), **more))
        version = load(self.config, cards=shipped_cards(), environ=os.environ).version
        self.versions[version] = number
        return version

    def deploy(self) -> None:
        """`make deploy`'s two commands; the first runs in this process."""
        file = self.running.serve_file.with_name("deployed.yaml")
        made = CliRunner().invoke(
            app, ["serve-config", str(self.running.serve_file), "-o", str(file)]
        )
        assert made.exit_code == 0, made.output
        done = self.running.run("serve", "deploy", "-a", self.running.dashboard, str(file))
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def changing(
    provider: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch_module: pytest.MonkeyPatch,
) -> Iterator[Router]:
    monkeypatch_module.setenv(RESULT_CACHE_VARIABLE, "0")
    monkeypatch_module.setenv("OPS_KEY", KEY)
    config = tmp_path_factory.mktemp("router") / "router.yaml"
    with FaultServer() as far:
        config.write_text(policy(0, provider, far.endpoint("none")))
        with shipped(config=str(config), ready="/ready") as running:
            router = Router(running, config, provider, far)
            router.write(0)
            yield router


@dataclass(frozen=True)
class Answer:
    """What one request saw. ``numbers``: of the policies that its answer shows."""

    began: float
    fault: str = ""
    numbers: frozenset[int] = frozenset()


class Load:
    """Clients that ask one request after the other, each over a connection of its own."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._ended = Event()
        self.clients: dict[str, list[Answer]] = {name: [] for name in CLIENTS}
        self._running: list[Future[None]] = []

    @contextmanager
    def going(self) -> Iterator[None]:
        asks: dict[str, Callable[[httpx.Client], set[int]]] = {
            "preview": self._preview,
            "fast": self._fast,
            "forwarded": self._forwarded,
        }
        script = str(ROOT / "tests/integration/previews_by_handle.py")
        log = self._router.running.log.with_name("handle.log")
        with log.open("w") as errors:
            handle = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    f'. configs/local.sh && exec {sys.executable} {script} "$0"',
                    INJECTION,
                ],
                cwd=ROOT,
                env=self._router.running.joining,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        with ThreadPoolExecutor(len(asks) + 1) as pool:
            self._running = [pool.submit(self._client, *one) for one in asks.items()]
            self._running.append(pool.submit(self._handle, handle))
            try:
                yield
            finally:
                self._ended.set()
                assert handle.stdin is not None
                handle.stdin.close()
                assert handle.wait(30) == 0, log.read_text()[-4000:]
        for one in self._running:
            one.result()

    def one_more_each(self) -> None:
        """Returns when each client has the answer to a request that it began after this call."""
        now = time.monotonic()
        until(lambda: all(self._last_began(name) > now for name in CLIENTS), 30)

    def _last_began(self, name: str) -> float:
        answers = self.clients[name]
        return answers[-1].began if answers else 0.0

    def _client(self, name: str, ask: Callable[[httpx.Client], set[int]]) -> None:
        answers = self.clients[name]
        headers = {"authorization": f"Bearer {KEY}"}
        with httpx.Client(base_url=self._router.running.url, headers=headers, timeout=30) as client:
            while not self._ended.is_set():
                began = time.monotonic()
                try:
                    numbers, fault = frozenset(ask(client)), ""
                except Exception as error:  # all that a client may meet is counted
                    numbers, fault = frozenset(), f"{type(error).__name__}: {error}"[:500]
                answers.append(Answer(began, fault, numbers))
                self._ended.wait(0.03)

    def _handle(self, process: subprocess.Popen[str]) -> None:
        answers = self.clients["handle"]
        assert process.stdout is not None
        for line in process.stdout:
            shown = json.loads(line)
            numbers = frozenset(self._shown(shown["answer"]))
            answers.append(Answer(shown["began"], "", numbers))

    def _preview(self, client: httpx.Client) -> set[int]:
        answer = client.post("/api/v1/routing/preview", json={"text": INJECTION})
        assert answer.status_code == 200, answer.text
        return self._shown(answer.json()) | self._headers(answer, "blocked")

    def _shown(self, shown: dict[str, Any]) -> set[int]:
        return {
            self._router.versions[shown["config_version"]],
            number_of(r"blocked-(\d+)", shown["decision"]),
            number_of(r"Refused by (\d+)\.", shown["fast_response"]["message"]),
            *(number_of(r".*-(\d+)", decision["name"]) for decision in shown["decisions"]),
        }

    def _fast(self, client: httpx.Client) -> set[int]:
        content, headers = self._chat(client, INJECTION, "blocked")
        return headers | {number_of(r"Refused by (\d+)\.", content)}

    def _forwarded(self, client: httpx.Client) -> set[int]:
        content, headers = self._chat(client, PLAIN, "rest")
        return headers | {number_of(r"\[provided-(\d+)\] .*", content)}

    def _chat(self, client: httpx.Client, text: str, decision: str) -> tuple[str, set[int]]:
        body = {"model": "auto", "messages": [{"role": "user", "content": text}]}
        answer = client.post("/v1/chat/completions", json=body)
        assert answer.status_code == 200, answer.text
        content = answer.json()["choices"][0]["message"]["content"]
        return content, self._headers(answer, decision)

    def _headers(self, answer: httpx.Response, decision: str) -> set[int]:
        trace = re.search(r'\bconfig="?([0-9a-f]{16})', answer.headers["x-vsr-trace"])
        assert trace, answer.headers["x-vsr-trace"]
        shown = answer.headers["x-vsr-selected-decision"]
        return {self._router.versions[trace[1]], number_of(rf"{decision}-(\d+)", shown)}


def number_of(pattern: str, text: str) -> int:
    found = re.fullmatch(pattern, text)
    assert found, text
    return int(found[1])


def live(router: Router, version: str, limit_s: float = 30) -> None:
    """Returns when a preview is by this version."""
    until(lambda: preview(router)["config_version"] == version, limit_s)


def preview(router: Router) -> dict[str, Any]:
    answer = httpx.post(
        f"{router.running.url}/api/v1/routing/preview",
        json={"text": INJECTION},
        headers={"authorization": f"Bearer {KEY}"},
    )
    return dict(answer.json())


def until(holds: Callable[[], bool], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def status(router: Router) -> str:
    """What Serve says of the application: ``DEPLOYING`` while any replica starts or changes."""
    command = ("serve", "status", "-a", router.running.dashboard)
    done = router.running.run(*command)
    assert done.returncode == 0, done.stderr
    return str(yaml.safe_load(done.stdout)["applications"]["router"]["status"])


def test_what_runs_is_changed_by_nothing_when_it_is_deployed_again(changing: Router) -> None:
    """CFG-10: the options of the graph are those of the file"""
    before = changing.running.replicas()
    assert set(before) == {"Ingress", "SignalPlanner", MODEL}
    changing.deploy()
    assert status(changing) == "RUNNING"
    assert changing.running.replicas() == before


def test_twenty_changes_of_policy_under_load(changing: Router) -> None:
    """CFG-10, law 1"""
    before = changing.running.replicas()
    load = Load(changing)
    with load.going():
        load.one_more_each()
        for number in range(1, CHANGES + 1):
            version = changing.write(number)
            changing.deploy()
            live(changing, version)
        load.one_more_each()
    checked(load)
    assert forward(load)
    for answers in load.clients.values():
        assert {number for a in answers for number in a.numbers} >= set(range(1, CHANGES + 1))
        assert answers[-1].numbers == {CHANGES}
    assert changing.running.replicas() == before
    # The two texts are asked about anew under every version, and then their answers are kept.
    asked = Counter(state_of(call) for call in changing.far.received("none"))
    assert set(asked) == {INJECTION, PLAIN}
    answers = sum(map(len, load.clients.values()))
    assert all(CHANGES < count <= 3 * (CHANGES + 1) for count in asked.values()), asked
    assert answers > 2 * sum(asked.values())


def state_of(call: Received) -> str:
    return str(call.body["state"]["request"])


def checked(load: Load) -> None:
    """Each request had an answer, of one version."""
    for answers in load.clients.values():
        assert [a for a in answers if a.fault] == []
        assert [a for a in answers if len(a.numbers) != 1] == []


def forward(load: Load) -> bool:
    """Whether no client saw a version older than one that it saw before: there is one Ingress, and
    it changes once. Several change one after the other, and requests go to either."""
    seen = [[n for a in answers for n in a.numbers] for answers in load.clients.values()]
    return all(numbers == sorted(numbers) for numbers in seen)


def test_a_changed_placement_restarts_its_own_deployment(changing: Router) -> None:
    """CFG-10, SRV-13: the old replica answers until the new one does; guards have their answers"""
    before = changing.running.replicas()
    load = Load(changing)
    with load.going():
        load.one_more_each()
        changing.write(CHANGES + 1, threads=2)
        changing.deploy()

        def replaced() -> bool:
            now = changing.running.replicas().get(MODEL, set())
            return len(now) == 1 and now.isdisjoint(before[MODEL])

        until(replaced, 60)
        load.one_more_each()
    checked(load)
    assert forward(load)
    after = changing.running.replicas()
    assert {name: pids for name, pids in after.items() if name != MODEL} == {
        name: pids for name, pids in before.items() if name != MODEL
    }
    states = httpx.get(f"{changing.running.url}/ready").json()["deployments"]
    assert states[MODEL]["model"]["threads"] == 2


def test_a_policy_that_replicas_cannot_take_leaves_the_old_one(
    changing: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-10, CFG-2: a key that the command has and the replicas lack"""
    before, old = changing.running.replicas(), preview(changing)["config_version"]
    monkeypatch.setenv("LATE_KEY", KEY)
    changing.write(CHANGES + 2, key="LATE_KEY", threads=2)
    changing.deploy()
    until(lambda: bool(not_taken(changing)), 20)
    assert preview(changing)["config_version"] == old
    assert changing.running.replicas() == before
    version = changing.write(CHANGES + 3, threads=2)
    changing.deploy()
    live(changing, version)
    assert changing.running.replicas() == before


def not_taken(router: Router) -> list[str]:
    """Lines of Ingress's own log, at the level that is shipped."""
    logs = router.running.serve_file.parent.rglob("replica_*Ingress*.log")
    lines = [line for log in logs for line in log.read_text().splitlines()]
    return [line for line in lines if "ERROR" in line and "was not taken" in line]


def test_a_new_model_builds_the_graph_anew_and_drops_no_request(changing: Router) -> None:
    """CFG-10: replicas go when their successors answer"""
    before = changing.running.replicas()
    load = Load(changing)
    with load.going():
        load.one_more_each()
        version = changing.write(CHANGES + 4, models=2, threads=2)
        changing.deploy()

        def rebuilt() -> bool:
            now = changing.running.replicas()
            return len(now) == 4 and all(now[name].isdisjoint(before[name]) for name in before)

        until(rebuilt, 60)
        live(changing, version)
        load.one_more_each()
    checked(load)
    states = httpx.get(f"{changing.running.url}/ready").json()["deployments"]
    assert states["DecisionModel-second"]["ready"]
