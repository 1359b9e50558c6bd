"""Rules and messages -> calls, for any of them: SIG-1 to SIG-6, MRG-1, MRG-2, COST-3, BUD-3.

What the calls of some configurations are exactly stands in ``tests/serve_app/golden/calls.yaml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from models.questions.presets import preset_question
from models.questions.types import Question, QuestionType
from serve_app.asking.call import Call
from serve_app.message import Counts, Message, Modality, Role, Turn
from tests.doubles.recipes import ROUTED, compiled, remote, routed
from tests.doubles.scripted_ask import ScriptedAsk

FIRST = Message("Hello")
LATER = Message(
    "And then?",
    earlier=(
        Turn(Role.SYSTEM, "Be kind."),
        Turn(Role.USER, "One"),
        Turn(Role.ASSISTANT, "Two"),
        Turn(Role.TOOL, "Three"),
        Turn(Role.USER, "Four"),
        Turn(Role.ASSISTANT, "Five"),
    ),
    tool_results=("Three",),
    images=("data:image/png;base64,AA==",),
    modalities=frozenset({Modality.TEXT, Modality.IMAGE}),
    counts=Counts(system=1, user=3, assistant=2, tool=1, images=1),
    metadata={"tier": "gold", "header.x-team": "red", "other": "1"},
)


def recipe(signals: Mapping[str, Any]) -> dict[str, Any]:
    """One decision that reads every rule."""
    types = {"domains": "domain", "user_feedbacks": "user_feedback"}
    leaves = [
        {"type": types.get(section, section), "name": rule["name"]}
        for section, rules in signals.items()
        for rule in rules
    ]
    return {
        "signals": dict(signals),
        "decisions": [{"name": "d", "rules": {"conditions": leaves}, **ROUTED}],
    }


@dataclass(frozen=True)
class Drawn:
    """A rule as the file has it, and what its question should be.

    ``default_turns``: the previous turns that it reads where no input is written.
    """

    section: str
    fields: Mapping[str, Any]
    question: Question
    default_turns: int = 0

    @property
    def deployment(self) -> str:
        return self.fields.get("deployment", "primary")

    @property
    def bound_s(self) -> float:
        """BUD-3: ``remote`` is remote and has a bound of its own, ``plain`` has none."""
        usual_ms = {"remote": 400, "plain": 1000}.get(self.deployment, 45_000)
        return self.fields.get("timeout_ms", usual_ms) / 1000

    def state(self, message: Message) -> dict[str, Any]:
        """SIG-2, in the words of the requirement."""
        given = self.fields.get("input", {"previous_turns": self.default_turns})
        state: dict[str, Any] = {}
        if given.get("history"):
            state["history"] = [told(turn) for turn in message.earlier]
        if count := given.get("previous_turns"):
            spoken = [told(t) for t in message.earlier if t.role in ("user", "assistant")]
            state["previous_turns"] = spoken[-count:]
        if given.get("tool_results"):
            state["tool_results"] = list(message.tool_results)
        if given.get("images"):
            state["images"] = list(message.images)
        return state | {"request": message.text}


def told(turn: Turn) -> dict[str, str]:
    return {"role": turn.role.value, "text": turn.text}


KINDS: dict[str, tuple[Mapping[str, Any], Question, int]] = {
    "domains": ({"labels": ["math"]}, preset_question("domain"), 0),
    "jailbreak": ({}, preset_question("jailbreak"), 0),
    "fact_check": ({"predicate": {"gte": 0.9}}, preset_question("fact_check"), 0),
    "safety": ({}, preset_question("harm"), 0),
    "safety set": ({"labels": ["hate"]}, preset_question("harm", QuestionType.SET), 0),
    "turn_relation": ({}, preset_question("turn_relation"), 1),
}
INPUTS: list[Mapping[str, Any]] = [
    {},
    {"history": True},
    {"previous_turns": 1},
    {"previous_turns": 2},
    {"tool_results": True, "images": True},
]


@st.composite
def rules(draw: st.DrawFn) -> list[Drawn]:
    """Rules of all sections in the file's order, their names all different."""
    drawn = []
    for number in range(draw(st.integers(1, 8))):
        name = f"r{number}"
        kind = draw(st.sampled_from([*KINDS, "systemone"]))
        if kind == "systemone":
            own, default_turns = Question(QuestionType.NOUL, f"Is it {name}?"), 0
            extra: Mapping[str, Any] = {
                "question": {"type": "noul", "instructions": own.instructions}
            }
        else:
            extra, own, default_turns = KINDS[kind]
        optional = {
            "deployment": st.sampled_from(["primary", "near", "remote", "plain"]),
            "timeout_ms": st.sampled_from([300, 700]),
            "input": st.sampled_from(INPUTS),
        }
        chosen = draw(st.fixed_dictionaries({}, optional=optional))
        drawn.append(Drawn(kind.split()[0], {"name": name, **extra, **chosen}, own, default_turns))
    return drawn


LOCAL = {"provider": "model_runtime", "artifact": "embedded", "timeout_ms": 200}
CATALOG = {
    "deployments": {
        "primary": LOCAL,
        "near": LOCAL,
        "remote": remote(timeout_ms=400),
        "plain": remote(),
    }
}


def calls_of(drawn: Iterable[Drawn], message: Message) -> list[Call]:
    signals: dict[str, list[Any]] = {}
    for rule in drawn:
        signals.setdefault(rule.section, []).append(dict(rule.fields))
    plan = compiled(recipe(signals), catalog=CATALOG).signals
    return [call.within(45.0) for call, _ in plan.work(message).calls]


def asked(drawn: Iterable[Drawn], message: Message) -> dict[str, list[Drawn]]:
    """Deployment -> the rules that ask it: those about an earlier turn only if there is one."""
    later = any(turn.role in ("user", "assistant") for turn in message.earlier)
    found: dict[str, list[Drawn]] = {}
    for rule in drawn:
        if later or rule.section != "turn_relation":
            found.setdefault(rule.deployment, []).append(rule)
    return found


texts = st.text(max_size=8)
turns = st.builds(Turn, st.sampled_from(list(Role)), st.sampled_from(["one", "two"]))
messages = st.builds(
    Message,
    text=texts,
    earlier=st.lists(turns, max_size=5).map(tuple),
    tool_results=st.lists(texts, max_size=2).map(tuple),
    images=st.lists(texts, max_size=2).map(tuple),
    metadata=st.dictionaries(st.sampled_from(["tier", "header.x-team", "z"]), texts),
)


@given(rules(), messages)
def test_every_deployment_that_is_asked_has_one_call(drawn: list[Drawn], message: Message) -> None:
    """MRG-1, COST-3: in the order of their names."""
    calls = calls_of(drawn, message)
    assert [call.deployment for call in calls] == sorted(asked(drawn, message))


@given(rules(), messages)
def test_every_question_of_a_rule_is_asked_once_about_its_state(
    drawn: list[Drawn], message: Message
) -> None:
    """SIG-2, SIG-5: and nothing else is asked."""
    by_deployment = asked(drawn, message)
    for call in calls_of(drawn, message):
        wanted = {
            (json.dumps(rule.state(message)), rule.question)
            for rule in by_deployment[call.deployment]
        }
        found = [
            (json.dumps(entry.state), question)
            for entry in call.entries.values()
            for question in entry.questions.values()
        ]
        assert set(found) == wanted
        assert len(found) == len(wanted)


@given(rules(), messages)
def test_a_call_has_an_entry_for_each_distinct_state(drawn: list[Drawn], message: Message) -> None:
    """SIG-3, SIG-4: so a single state is a standard request, and more are a batch."""
    by_deployment = asked(drawn, message)
    for call in calls_of(drawn, message):
        states = {json.dumps(rule.state(message)) for rule in by_deployment[call.deployment]}
        assert list(call.entries) == [str(i) for i in range(1, len(states) + 1)]


@given(rules(), messages, st.data())
def test_the_order_of_rules_in_the_file_does_not_change_the_calls(
    drawn: list[Drawn], message: Message, data: st.DataObject
) -> None:
    """SIG-4: equal requests make equal calls, names and order of questions included."""
    usual = calls_of(drawn, message)
    other = calls_of(data.draw(st.permutations(drawn)), message)
    assert usual == other
    assert order(usual) == order(other)


def order(calls: Iterable[Call]) -> list[tuple[str, list[str]]]:
    """The order of entries and of their questions, which equal mappings may differ in."""
    return [(n, list(entry.questions)) for call in calls for n, entry in call.entries.items()]


@given(rules(), messages)
def test_a_call_waits_for_the_longest_of_its_rules_bounds(
    drawn: list[Drawn], message: Message
) -> None:
    """BUD-3: a local rule's is its own or the signal deadline; a remote one's its own, its
    deployment's or a second."""
    by_deployment = asked(drawn, message)
    for call in calls_of(drawn, message):
        bounds = [rule.bound_s for rule in by_deployment[call.deployment]]
        assert call.timeout_s == max(bounds)


KNOWN = compiled(
    recipe(
        {
            "jailbreak": [{"name": "now"}, {"name": "before", "input": {"previous_turns": 2}}],
            "turn_relation": [{"name": "t"}],
            "metadata": [{"name": "tier", "key": "tier"}],
        }
    )
)


@given(messages)
def test_what_a_recipe_does_not_read_does_not_matter(message: Message) -> None:
    """SRV-3: a message narrowed to what is read makes the same calls."""
    narrow = KNOWN.reads.narrow(message)
    assert KNOWN.signals.work(narrow) == KNOWN.signals.work(message)
    assert set(narrow.metadata) <= {"tier"}


def test_a_recipe_says_what_it_reads() -> None:
    """SRV-3"""
    little = compiled(recipe({"jailbreak": [{"name": "a"}]})).reads.narrow(LATER)
    assert (little.earlier, little.tool_results, little.images, little.metadata) == ((), (), (), {})
    assert (little.text, little.counts, little.modalities) == (
        LATER.text,
        LATER.counts,
        LATER.modalities,
    )
    two = compiled(recipe({"jailbreak": [{"name": "a", "input": {"previous_turns": 2}}]})).reads
    assert [t.text for t in two.narrow(LATER).earlier] == ["Four", "Five"]
    team = compiled(recipe({"metadata": [{"name": "team", "header": "X-Team"}]})).reads
    assert team.narrow(LATER).metadata == {"header.x-team": "red"}
    whole = compiled(recipe({"jailbreak": [{"name": "a", "input": {"history": True}}]})).reads
    assert whole.narrow(LATER).earlier == LATER.earlier


def test_a_rule_about_the_turn_before_still_sees_that_there_is_one() -> None:
    """SIG-2: even where its own input reads no turns."""
    bare = {"turn_relation": [{"name": "t", "input": {"tool_results": True}}]}
    known = compiled(recipe(bare))
    assert len(known.signals.work(known.reads.narrow(LATER)).calls) == 1


async def test_a_turn_that_is_not_there_makes_the_rule_false() -> None:
    """SIG-2"""
    known = compiled(recipe({"turn_relation": [{"name": "t"}]}), default_model="endless")
    outcome = await routed(known, ScriptedAsk(), FIRST)
    (rule,) = outcome.rules
    assert (rule.verdict, rule.value, rule.reason) == ("no_match", None, None)
    assert (rule.question_id, rule.deployment) == (None, None)
    assert outcome.calls == ()


async def test_the_calls_made_are_told() -> None:
    """API-9"""
    known = compiled(
        recipe({"jailbreak": [{"name": "a"}, {"name": "b", "input": {"history": True}}]})
    )
    ask = ScriptedAsk({"preset:jailbreak": 0.9}, takes_s={"primary": 0.001})
    (call,) = (await routed(known, ask, LATER)).calls
    assert (call.stage, call.deployment, call.form, call.ms) == ("signals", "primary", "batch", 1.0)
    assert call.questions == {"1": ("preset:jailbreak",), "2": ("preset:jailbreak",)}
    assert call.timings.forward_ms == 0.3
