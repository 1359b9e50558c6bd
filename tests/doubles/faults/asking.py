"""A recipe that asks a faulty remote API every type of question, and a healthy one beside it.

About one state, or, with the rules that read what came before, about two in a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from serve_app.message import Message, Role, Turn

PATIENT_MS: Final = 10_000
"""Of a call that is not to be late, on however busy a machine."""

Recipe = dict[str, Any]

FAULTY: Final = "faulty"
HEALTHY: Final = "healthy"

KEY: Final = "FAULTY_KEY"
"""The variable that holds the faulty API's key."""

GUARDS: Final = ("attack", "personal", "attack-before")
"""Rules that count as a match without an answer (UNK-3)."""

BLOCKED: Final = "blocked"
"""The decision that a guard's match leads to."""

REST: Final = "rest"
"""The decision of everything else: nothing is ever certain enough for a match."""

MESSAGE: Final = Message(
    "Is the lease of my flat valid without a date?",
    earlier=(Turn(Role.USER, "Hello"), Turn(Role.ASSISTANT, "Good morning")),
)

TOPICS: Final = {"Law": "Law and rights", "crème": "Cooking", "other": None}
LEVELS: Final = ["none", "little", "some", "much", "very much", "all"]
LABELS: Final = {"polite": "Is polite", "urgent": "Is urgent", "vague": None}
SURE: Final = {"gte": 0.99}


def _own(name: str, question: dict[str, Any], **rule: Any) -> dict[str, Any]:
    return {"name": name, "question": question, **rule}


def _kind(type: str, **fields: Any) -> dict[str, Any]:
    return {"type": type, "instructions": f"Which {type}?", **fields}


_TOPIC: Final = _own("topic", _kind("choice", criteria=TOPICS), predicate=SURE)
_DEPTH: Final = _own("depth", _kind("score", criteria=LEVELS), predicate={"gte": 4.99})
_TOOLS: Final = _own("tools", _kind("noul"), predicate=SURE)
_TRAITS: Final = _own("traits", _kind("set", labels=LABELS), predicate=SURE)
_BEFORE: Final = _own(
    "before", _kind("choice", criteria=TOPICS), predicate=SURE, input={"history": True}
)
_BARE: Final = _own("bare", {"type": "noul", "criteria": {"true": "Yes", "false": "No"}})
_SIDED: Final = _own("sided", _kind("noul", criteria={"true": "Yes"}))
_WIDE: Final = _own("wide", _kind("choice", criteria={f"option {i}": None for i in range(70)}))

ONE_STATE: Final = ("attack", "personal", "topic", "depth", "tools", "traits")
"""The rules that ask the faulty API about the request alone."""

TWO_STATES: Final = (*ONE_STATE, "attack-before", "before")
"""And those that ask about the request and its history, in an entry of their own."""

STANDARD_TYPES: Final = ("attack", "topic", "depth", "tools", "bare", "sided", "wide")
"""Rules whose questions every System One API answers: no set, no span. Among them are the odd ones
that it must answer too: without instructions, with one outcome described, of many options."""


def recipe(
    names: tuple[str, ...], *, deployment: str = FAULTY, on_unknown: str | None = None
) -> Recipe:
    """Rules of these names that ask ``deployment``, and those that ask the healthy API.
    ``on_unknown``: of the guards.
    """
    guard: dict[str, Any] = {"predicate": SURE}
    if on_unknown is not None:
        guard["on_unknown"] = on_unknown
    every: dict[str, list[dict[str, Any]]] = {
        "jailbreak": [
            {"name": "attack", **guard},
            {"name": "attack-before", "input": {"history": True}, **guard},
        ],
        "pii": [{"name": "personal", **guard}],
        "systemone": [
            *(_TOPIC, _DEPTH, _TOOLS, _TRAITS, _BEFORE, _BARE | {"predicate": SURE}),
            *(_SIDED | {"predicate": SURE}, _WIDE | {"predicate": SURE}),
        ],
    }
    signals = {
        section: [{**rule, "deployment": deployment} for rule in rules if rule["name"] in names]
        for section, rules in every.items()
    }
    signals["systemone"].append(_own("greeting", _kind("noul"), predicate=SURE, deployment=HEALTHY))
    signals["fact_check"] = [{"name": "facts", "deployment": HEALTHY, "predicate": SURE}]
    return {
        "signals": signals,
        "decisions": [
            _decision(BLOCKED, 100, _leaves(signals, "jailbreak", "pii"), message="No."),
            _decision("sure", 10, _leaves(signals, "systemone", "fact_check")),
            _decision(REST, 1, []),
        ],
    }


def _leaves(signals: dict[str, list[dict[str, Any]]], *sections: str) -> list[dict[str, Any]]:
    return [
        {"type": section, "name": rule["name"]}
        | ({"label": _LABELS[rule["name"]]} if rule["name"] in _LABELS else {})
        for section in sections
        for rule in signals[section]
    ]


_LABELS: Final = {"topic": "Law", "before": "Law", "traits": "urgent", "wide": "option 0"}
"""Which option a condition on the rule is about."""


def _decision(
    name: str, priority: int, leaves: list[dict[str, Any]], message: str | None = None
) -> dict[str, Any]:
    decision: dict[str, Any] = {"name": name, "priority": priority}
    if leaves:
        decision["rules"] = {"operator": "OR", "conditions": leaves}
    if message is None:
        return decision | {"modelRefs": [{"model": "endless"}]}
    return decision | {"plugins": [{"type": "fast_response", "message": message}]}


@dataclass(frozen=True)
class Api:
    """A remote deployment. ``endpoint``: its URL; ``timeout_ms``: of its calls."""

    endpoint: str
    timeout_ms: int = PATIENT_MS
    model: str = "remote-1"


def catalog(apis: Mapping[str, Api], healthy: str) -> dict[str, Any]:
    """``global.model_catalog`` with ``apis`` by deployment, and the healthy one's endpoint."""
    deployments = {
        name: {
            "provider": "systemone",
            "endpoint": api.endpoint,
            "model": api.model,
            "api_key_env": KEY,
            "timeout_ms": api.timeout_ms,
        }
        for name, api in {**apis, HEALTHY: Api(healthy)}.items()
    }
    return {
        "system": {"decision_model": {"deployment": HEALTHY}},
        "deployments": deployments,
    }


def document(apis: Mapping[str, Api], healthy: str, provider: str) -> dict[str, Any]:
    """A whole configuration: for each of ``apis`` the models ``<name>-standard`` and
    ``<name>-batch``. ``provider``: the base URL of the chat model.
    """
    forms = {"standard": ONE_STATE, "batch": TWO_STATES}
    recipes = {
        f"{name}-{form}": recipe(rules, deployment=name)
        for name in apis
        for form, rules in forms.items()
    }
    return serving(recipes, catalog(apis, healthy), provider)


def serving(
    recipes: Mapping[str, Recipe], known: Mapping[str, Any], provider: str
) -> dict[str, Any]:
    """A whole configuration: a model of its own name leads to each recipe. ``known``: the
    ``model_catalog``."""
    return {
        "version": "v1",
        "providers": {"models": [{"name": "endless", "backends": [{"base_url": provider}]}]},
        "entrypoints": [{"model_names": [name], "recipe": name} for name in recipes],
        "recipes": [{"name": name, **recipe} for name, recipe in recipes.items()],
        "global": {"model_catalog": known},
    }


CHAT: Final = [
    {"role": turn.role.value, "content": turn.text}
    for turn in (*MESSAGE.earlier, Turn(Role.USER, MESSAGE.text))
]
"""``MESSAGE`` as a chat request has it."""
