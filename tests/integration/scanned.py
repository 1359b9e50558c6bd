"""A router whose one guard refuses, and what it makes of long texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import yaml

from models.cards.shipped import shipped_card
from models.embedded.train.corpus import corpus
from models.embedded.train.examples import example_of
from serve_app.config.schema.catalog import LocalDeployment
from serve_app.config.sizes import Sizes, sizes_of
from serve_app.scan.text import Text
from serve_app.scan.windows import Cut, cut
from tests.integration.shipped import ROOT, Running, tree_of

SIZES: Sizes = sizes_of(
    LocalDeployment(provider="model_runtime", artifact="embedded"), shipped_card("embedded")
)
"""Of the shipped model."""

WINDOW_THRESHOLD: float = shipped_card("embedded").window_thresholds["jailbreak"]

LONGEST_ATTACK = 400
"""Characters: it fits into what two windows share."""


def guarded_configuration(provider: str) -> str:
    """The shipped configuration with its guard alone; the model ``half`` wants half of an input to
    be read."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "configs/router.yaml").read_text())
    for model in document["providers"]["models"]:
        model["backends"] = [{"base_url": provider}]
        model["context_window"] = 4_000_000
    (recipe,) = document["recipes"]
    blocked = next(d for d in recipe["decisions"] if d["name"] == "blocked")
    document["recipes"] = [
        {
            "name": name,
            "signals": {"jailbreak": [{"name": "attack", **more}]},
            "decisions": [blocked],
        }
        for name, more in (("default", {}), ("half", {"min_coverage": 0.5}))
    ]
    document["entrypoints"].append({"model_names": ["half"], "recipe": "half"})
    return yaml.safe_dump(document)


@dataclass(frozen=True)
class Shown:
    """A preview of a text, and the seconds it took."""

    body: dict[str, Any]
    seconds: float

    @property
    def refused(self) -> bool:
        return bool(self.body["decision"] == "blocked")

    @property
    def matches_as_window(self) -> bool:
        """Whether its guard's value would match in one window of a longer text."""
        value: float = self.body["rules"][0]["value"]
        return value >= WINDOW_THRESHOLD

    @property
    def reason(self) -> str | None:
        reason: str | None = self.body["rules"][0]["reason"]
        return reason

    @property
    def coverage(self) -> str | None:
        found: str | None = self.body["scan_coverage"].get("jailbreak:attack")
        return found

    @property
    def answered(self) -> list[dict[str, Any]]:
        """The calls that came back with an answer, in that order."""
        return [call for call in self.body["calls"] if not call["unanswered"]]

    @property
    def partial(self) -> tuple[int, int]:
        found = re.fullmatch(r"partial (\d+)/(\d+)", self.coverage or "")
        assert found, self.coverage
        return int(found[1]), int(found[2])


class Guard:
    """Asks the router at ``running``."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self._client = httpx.Client(base_url=running.url, timeout=120)

    def preview(self, text: str, *, model: str = "auto", timeout_s: float | None = None) -> Shown:
        began = perf_counter()
        answer = self._client.post(
            "/api/v1/routing/preview",
            json={"text": text, "model": model},
            headers=_bound(timeout_s),
        )
        seconds = perf_counter() - began
        assert answer.status_code == 200, answer.text
        return Shown(answer.json(), seconds)

    def chat(self, text: str, *, model: str = "auto", timeout_s: float) -> httpx.Response:
        return self._client.post(
            "/v1/chat/completions",
            json={"model": model, "messages": [{"role": "user", "content": text}]},
            headers=_bound(timeout_s),
        )

    def close(self) -> None:
        self._client.close()

    @cached_property
    def pids(self) -> dict[str, int]:
        """Of the one replica of each deployment."""
        return {name: min(pids) for name, pids in self.running.replicas().items()}


def _bound(timeout_s: float | None) -> dict[str, str]:
    return {} if timeout_s is None else {"x-vsr-timeout-seconds": str(timeout_s)}


def cuts_of(text: str) -> Cut:
    return cut(Text(text), SIZES)


def planned(text: str) -> int:
    """Windows that a long text is read in."""
    return len(cuts_of(text).windows)


def heldout_attacks(count: int) -> list[str]:
    """Injections of briefs that the model was not trained on, spread over the briefs."""
    found = [
        state
        for brief, item in corpus().of("heldout")
        if item.get("ask", {}).get("jailbreak") is True
        and isinstance(item["state"], str)
        and (state := example_of(brief.brief, item).state).isascii()
        and len(state) <= LONGEST_ATTACK
    ]
    assert len(found) >= count
    return [found[i * len(found) // count] for i in range(count)]


def peak_mb(pid: int) -> float:
    """The most memory that a process has had since ``reset_peaks``, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)
    assert found
    return int(found[1]) / 1024


def reset_peaks(root: int) -> None:
    for pid in tree_of(root):
        try:
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        except OSError:
            continue
