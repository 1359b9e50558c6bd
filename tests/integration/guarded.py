"""A running router, its clients, and what their chat requests do to the counters: the router's,
and those of the provider process.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.doubles.faults.asking import CHAT
from tests.integration.shipped import Running


@dataclass(frozen=True)
class Counts:
    """``asked``: calls that the provider process got, by model. ``unknown``: rules by type and
    reason; ``closed``: by type.
    """

    asked: Counter[str]
    unknown: Counter[tuple[str, str]]
    closed: Counter[str]

    def since(self, before: Counts) -> Counts:
        return Counts(
            self.asked - before.asked,
            self.unknown - before.unknown,
            self.closed - before.closed,
        )


@dataclass(frozen=True)
class Seen:
    """One request of ``text``. ``said``: the answer's text, or its error's code."""

    text: str
    status: int
    headers: httpx.Headers
    said: str


@dataclass
class Guarded:
    """``provider``: its base URL. ``folder``: steers the engine. ``passed``: the texts of requests
    that were answered by a provider, as the router says.
    """

    running: Running
    provider: str
    folder: Path
    passed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = httpx.Client(timeout=60)
        self._sent: Counter[str] = Counter()
        self._counts = self._count()
        self._uncounted = False

    def chat(
        self,
        recipe: str,
        mark: str = "",
        *,
        stream: bool = False,
        timeout_s: float | None = None,
    ) -> Seen:
        """A harmless request whose text ends in ``mark`` and is like no other's: nothing that is
        asked about it is known before. It is the same in every run, for the answers follow from
        it: where two options are about as likely, either may be the choice.
        """
        self._sent[recipe] += 1
        named = f"{recipe}, {self._sent[recipe]}"
        text = f"Is the lease of my flat valid without a date ({named})?{mark}"
        self._uncounted = True
        body = {
            "model": recipe,
            "messages": [*CHAT[:-1], {"role": "user", "content": text}],
            "stream": stream,
        }
        headers = {} if timeout_s is None else {"x-vsr-timeout-seconds": str(timeout_s)}
        url = f"{self.running.url}/v1/chat/completions"
        answer = self._client.post(url, json=body, headers=headers)
        said = _streamed(answer) if stream and answer.status_code == 200 else _whole(answer)
        if answer.headers["x-vsr-response-path"] == "upstream":
            self.passed.append(text)
        return Seen(text, answer.status_code, answer.headers, said)

    def grown(self) -> Counts:
        """Since it was last asked."""
        before, self._counts = self._counts, self._count()
        self._uncounted = False
        return self._counts.since(before)

    def begin(self) -> None:
        """What an earlier test left uncounted is none of the next one's."""
        if self._uncounted:
            self.grown()

    def texts(self, model: str) -> list[str]:
        """Of the calls that the provider process got: the last message of each."""
        calls = self._client.get(f"{self._provider_root}/asked/{model}").json()
        return [call["body"]["messages"][-1]["content"] for call in calls]

    def close(self) -> None:
        self._client.close()

    @property
    def _provider_root(self) -> str:
        return self.provider.removesuffix("/v1")

    def _count(self) -> Counts:
        exposition = self._client.get(f"{self.running.url}/metrics").text
        unknown = _series(exposition, "vsr_signal_unknown_total")
        closed = _series(exposition, "vsr_signal_failed_closed_total")
        return Counts(
            Counter(self._client.get(f"{self._provider_root}/asked").json()),
            Counter({(labels["signal"], labels["reason"]): n for labels, n in unknown}),
            Counter({labels["signal"]: n for labels, n in closed}),
        )


def _series(exposition: str, name: str) -> list[tuple[dict[str, str], int]]:
    found = re.findall(rf"^{name}{{(.*)}} (\S+)$", exposition, re.M)
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), int(float(n))) for labels, n in found]


def _whole(answer: httpx.Response) -> str:
    body = answer.json()
    if answer.status_code != 200:
        return str(body["error"]["code"])
    return str(body["choices"][0]["message"]["content"])


def _streamed(answer: httpx.Response) -> str:
    events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert events[-1] == "[DONE]", answer.text
    chunks = [json.loads(event) for event in events[:-1]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
