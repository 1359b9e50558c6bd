"""No request that a guard has not read leaves for a provider, whatever became of its answer.

The shipped profile with HAProxy, the router's whole graph, remote APIs that fail in every known
way, a local engine that does too, and a provider process that counts (law 1; UNK-1 to UNK-4).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.questions.types import AnswerError
from tests.doubles.engines import TroubledEngine
from tests.doubles.fault_server import FaultServer
from tests.doubles.faults.asking import (
    BLOCKED,
    GUARDS,
    HEALTHY,
    KEY,
    ONE_STATE,
    PATIENT_MS,
    REST,
    STANDARD_TYPES,
    SURE,
    TWO_STATES,
    Api,
    Recipe,
    catalog,
    recipe,
    serving,
)
from tests.doubles.jevcompat_mocks import jevcompat_mocks
from tests.doubles.servers import echo_provider
from tests.integration.guarded import Counts, Guarded, Seen
from tests.integration.shipped import shipped
from tests.serve_app.remote_faults.expected import EXPECTED
from tests.serve_app.remote_faults.expected_jevcompat import MOCKED

pytestmark = [pytest.mark.serve, pytest.mark.timeout(120)]

SECRET = "secret"
MODEL = "endless"
PRIMARY = "primary"
SECTIONS = {"attack": "jailbreak", "attack-before": "jailbreak", "personal": "pii"}
FORMS = {"standard": ONE_STATE, "batch": TWO_STATES}

Unknown = Counter[tuple[str, str]]
"""Rules without an answer, by type and reason."""

SAFETY_UNKNOWN: Unknown = Counter({("safety", "unavailable"): 1})


@dataclass(frozen=True)
class Case:
    """A recipe whose rules ``names`` ask the faulty ``api``. ``possible``: rule -> why it has no
    answer; what is first is what becomes of it, the others what may.
    """

    api: str
    names: tuple[str, ...]
    possible: tuple[Mapping[str, AnswerError], ...]

    @property
    def closes(self) -> bool:
        """Whether a guard has no answer."""
        return any(name in GUARDS for name in self.possible[0])


def cases() -> Iterator[tuple[str, Case]]:
    for fault, expected in EXPECTED.items():
        for form, effect in (("standard", expected.one), ("batch", expected.two)):
            possible = [effect.unknown]
            if expected.timeout_ms < PATIENT_MS:
                # on a busy machine the asker's own bound may pass before what is known by then
                possible.append(dict.fromkeys(effect.unknown, AnswerError.DEADLINE_EXCEEDED))
            if (fault, form) == ("names-and-closes", "batch"):
                # a connection kept from the request before costs one of three posts
                rest = dict.fromkeys(TWO_STATES, AnswerError.UNAVAILABLE)
                possible.append(rest | effect.unknown)
            yield f"{fault}-{form}", Case(fault, FORMS[form], tuple(possible))
    for fault, mocked in MOCKED.items():
        api = f"jevcompat-{fault}"
        yield f"{api}-standard", Case(api, STANDARD_TYPES, (mocked.effect.unknown,))


CASES = dict(cases())
APIS = list(dict.fromkeys(case.api for case in CASES.values()))
OPEN = "-open"
"""Behind a recipe's name: with guards that are no match without an answer."""


def recipes() -> dict[str, Recipe]:
    found = {name: recipe(case.names, deployment=case.api) for name, case in CASES.items()}
    found |= {
        name + OPEN: recipe(case.names, deployment=case.api, on_unknown="no_match")
        for name, case in CASES.items()
        if case.closes
    }
    found["local"] = recipe(("attack",), deployment=PRIMARY)
    found["local" + OPEN] = recipe(("attack",), deployment=PRIMARY, on_unknown="no_match")
    for name, of_safety in {"remote": "500", "local": PRIMARY}.items():
        found[f"{name}-must-be-known"] = judged({"safety": of_safety}, on_unknown="fail_request")
        found[f"{name}-safety"] = judged({"jailbreak": HEALTHY, "safety": of_safety})
    found["guard-and-safety"] = judged({"jailbreak": "500", "safety": "500"})
    found["guard-beside-safety"] = judged({"jailbreak": "500", "safety": HEALTHY})
    return found


def judged(deployments: Mapping[str, str], **rules: Any) -> Recipe:
    """A recipe that blocks what a rule of any of these types finds, each at its deployment.
    ``rules``: of the decision's root.
    """
    leaves = [{"type": type, "name": type} for type in deployments]
    blocked = {
        "name": BLOCKED,
        "priority": 100,
        "rules": {"operator": "OR", "conditions": leaves, **rules},
        "plugins": [{"type": "fast_response", "message": "No."}],
    }
    return {
        "signals": {
            type: [{"name": type, "deployment": deployment, "predicate": SURE}]
            for type, deployment in deployments.items()
        },
        "decisions": [blocked, {"name": REST, "modelRefs": [{"model": MODEL}]}],
    }


@pytest.fixture
def guarded(router: Guarded) -> Guarded:
    router.begin()
    return router


@pytest.fixture(scope="module")
def router(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch_module: pytest.MonkeyPatch
) -> Iterator[Guarded]:
    monkeypatch_module.setenv(KEY, SECRET)
    folder = tmp_path_factory.mktemp("guarded")
    keys = {fault: SECRET if mocked.required else None for fault, mocked in MOCKED.items()}
    with ExitStack() as stack:
        provider = stack.enter_context(echo_provider())
        server = stack.enter_context(FaultServer())
        mocks = stack.enter_context(jevcompat_mocks(keys))
        apis = {
            fault: Api(server.endpoint(fault), expected.timeout_ms)
            for fault, expected in EXPECTED.items()
        }
        apis |= {f"jevcompat-{f}": Api(url, model="jev-latest") for f, url in mocks.items()}
        known = catalog(apis, server.endpoint("none"))
        known["deployments"][PRIMARY] = {
            "provider": "model_runtime",
            "artifact": "embedded",
            "max_queue_s": 1e-6,  # one call may wait
        }
        config = folder / "router.yaml"
        config.write_text(json.dumps(serving(recipes(), known, provider)))
        running = stack.enter_context(
            shipped(
                application="tests.integration.troubled_router:build",
                config=str(config),
                ready="/ready",
            )
        )
        router = Guarded(running, provider, folder)
        stack.callback(router.close)
        yield router


def assert_blocked(seen: Seen) -> None:
    assert (seen.status, seen.said) == (200, "No.")
    assert seen.headers["x-vsr-selected-decision"] == BLOCKED
    assert seen.headers["x-vsr-response-path"] == "fast_response"
    assert "x-vsr-selected-model" not in seen.headers


def assert_forwarded(seen: Seen) -> None:
    assert (seen.status, seen.said) == (200, f"[{MODEL}] {seen.text}")
    assert seen.headers["x-vsr-selected-decision"] == REST
    assert seen.headers["x-vsr-response-path"] == "upstream"


FAILS = {
    **TroubledEngine.REJECTED,
    **dict.fromkeys(TroubledEngine.NONSENSE, AnswerError.INVALID_MODEL_OUTPUT),
    **dict.fromkeys(TroubledEngine.FAILED, AnswerError.UNAVAILABLE),
    "[raises]": AnswerError.UNAVAILABLE,
    "[unreadable]": AnswerError.UNAVAILABLE,
}


def test_a_local_model_that_is_well_lets_a_harmless_request_pass(guarded: Guarded) -> None:
    assert_forwarded(guarded.chat("local"))
    assert guarded.grown() == Counts(Counter({MODEL: 1}), Counter(), Counter())


@pytest.mark.parametrize("mark", FAILS)
def test_a_failure_of_a_local_model_lets_nothing_through_unread(
    guarded: Guarded, mark: str
) -> None:
    """UNK-1, UNK-3: rejected input, invalid model output, a failed forward."""
    assert_closed_or_open(guarded, mark, FAILS[mark])


def assert_closed_or_open(
    guarded: Guarded, mark: str, reason: AnswerError, timeout_s: float | None = None
) -> None:
    for stream in (False, True):
        assert_blocked(guarded.chat("local", mark, stream=stream, timeout_s=timeout_s))
    unknown = Counter({("jailbreak", reason.value): 2})
    assert guarded.grown() == Counts(Counter(), unknown, Counter({"jailbreak": 2}))
    for stream in (False, True):
        assert_forwarded(guarded.chat("local" + OPEN, mark, stream=stream, timeout_s=timeout_s))
    assert guarded.grown() == Counts(Counter({MODEL: 2}), unknown, Counter())


@contextmanager
def there(guarded: Guarded, name: str) -> Iterator[None]:
    path = guarded.folder / name
    path.touch()
    try:
        yield
    finally:
        path.unlink()


def test_a_local_model_whose_time_passes_lets_nothing_through_unread(guarded: Guarded) -> None:
    """BUD-1, BUD-3: half of a short deadline is the provider's."""
    with there(guarded, "shut"):
        assert_closed_or_open(guarded, "[waits]", AnswerError.DEADLINE_EXCEEDED, timeout_s=1.6)
    assert_forwarded(guarded.chat("local"))


def test_a_local_model_without_room_lets_nothing_through_unread(guarded: Guarded) -> None:
    """SRV-8: a call computes and another waits, so a third is refused."""
    with ThreadPoolExecutor(2) as pool:
        with there(guarded, "shut"):
            calls = []
            for state, file in (("[waits] computes", "entered"), ("[waits] waits", "read")):
                calls.append(pool.submit(systemone, guarded, state))
                until(partial(has, guarded.folder / file, state), 10)
            assert_closed_or_open(guarded, "", AnswerError.OVERLOADED)
        assert [call.result() for call in calls] == [200, 200]
    assert_forwarded(guarded.chat("local"))


def has(file: Path, line: str) -> bool:
    return file.exists() and line in file.read_text().splitlines()


def systemone(guarded: Guarded, state: str) -> int:
    body = {
        "model": PRIMARY,
        "state": state,
        "questions": {"q": {"type": "noul", "instructions": "Is it about a kitten?"}},
    }
    return httpx.post(f"{guarded.running.url}/v1/systemone", json=body, timeout=60).status_code


def until(holds: Callable[[], bool], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


def test_a_local_model_that_dies_or_starts_lets_nothing_through_unread(guarded: Guarded) -> None:
    """SRV-8, SRV-18: it dies of the first request, and is away and being started for the others."""
    with there(guarded, "starting"):
        assert blocked_for(guarded, "[dies]") in (
            AnswerError.UNAVAILABLE,
            AnswerError.NOT_READY,
            AnswerError.DEADLINE_EXCEEDED,
        )
        until(lambda: blocked_for(guarded) == AnswerError.NOT_READY, 30)
        assert_closed_or_open(guarded, "", AnswerError.NOT_READY)
        assert_closed_or_open(guarded, "", AnswerError.NOT_READY, timeout_s=3)
    until(lambda: guarded.chat("local").said != "No.", 60)
    assert_forwarded(guarded.chat("local"))


def blocked_for(guarded: Guarded, mark: str = "") -> str:
    """Why the guard of a request has no answer."""
    assert_blocked(guarded.chat("local", mark, timeout_s=2))
    grown = guarded.grown()
    assert (grown.asked, grown.closed) == (Counter(), Counter({"jailbreak": 1}))
    ((_, reason),) = grown.unknown
    return reason


@pytest.mark.parametrize(("where", "mark"), [("remote", ""), ("local", "[raises]")])
def test_a_request_that_must_be_read_fails_without_an_answer(
    guarded: Guarded, where: str, mark: str
) -> None:
    """UNK-2, CFG-7: ``fail_request``."""
    seen = guarded.chat(f"{where}-must-be-known", mark)
    assert (seen.status, seen.said) == (503, "guard_unavailable")
    assert seen.headers["x-vsr-response-path"] == "error"
    assert guarded.grown() == Counts(Counter(), SAFETY_UNKNOWN, Counter())


@pytest.mark.parametrize(("where", "mark"), [("remote", ""), ("local", "[raises]")])
def test_safety_without_an_answer_does_not_block(guarded: Guarded, where: str, mark: str) -> None:
    """UNK-4: beside a guard that has read the request."""
    assert_forwarded(guarded.chat(f"{where}-safety", mark))
    assert guarded.grown() == Counts(Counter({MODEL: 1}), SAFETY_UNKNOWN, Counter())


@pytest.mark.parametrize("name", ["guard-and-safety", "guard-beside-safety"])
def test_a_guard_without_an_answer_blocks_whatever_safety_says(guarded: Guarded, name: str) -> None:
    """UNK-3, UNK-4"""
    assert_blocked(guarded.chat(name))
    grown = guarded.grown()
    assert (grown.asked, grown.closed) == (Counter(), Counter({"jailbreak": 1}))


# after all others: with each API that has been asked, the counters take longer to read
@pytest.mark.parametrize("api", APIS)
def test_a_fault_of_a_remote_api_lets_nothing_through_unread(guarded: Guarded, api: str) -> None:
    """UNK-1, UNK-3: where a guard has no answer the request is refused, unless the guard says
    ``no_match``; where every guard has one it passes. All at once, every other as a stream.
    """
    mine = {name: case for name, case in CASES.items() if case.api == api}
    asked = {name + OPEN: case for name, case in mine.items() if case.closes} | mine
    with ThreadPoolExecutor(len(asked)) as pool:
        sent = {
            name: pool.submit(guarded.chat, name, stream=(APIS.index(api) + n) % 2 == 1)
            for n, name in enumerate(asked)
        }
    seen = {name: request.result() for name, request in sent.items()}
    grown = guarded.grown()
    refused = [name for name, case in mine.items() if case.closes]
    for name, one in seen.items():
        if name in refused:
            assert_blocked(one)
        else:
            assert_forwarded(one)
    assert grown.asked.total() == len(asked) - len(refused)
    assert (grown.unknown, grown.closed) in possible(asked, refused)


def possible(
    asked: Mapping[str, Case], refused: Sequence[str]
) -> Iterator[tuple[Unknown, Counter[str]]]:
    """What all may do to the counters: ``unknown`` and ``closed``."""
    for each in product(*(case.possible for case in asked.values())):
        outcomes = dict(zip(asked, each, strict=True))
        yield (
            Counter((type_of(n), r.value) for found in outcomes.values() for n, r in found.items()),
            Counter(type_of(n) for name in refused for n in outcomes[name] if n in GUARDS),
        )


def type_of(rule: str) -> str:
    return SECTIONS.get(rule, "systemone")


def test_the_provider_was_asked_about_nothing_else(guarded: Guarded) -> None:
    """Law 1: not later either, by nobody."""
    assert sorted(guarded.texts(MODEL)) == sorted(guarded.passed)
