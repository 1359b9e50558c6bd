"""S1-12, SIG-6: no answer about a state stands under the id of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from models.cards.schema import Card
from serve_app.config.problem import Problem
from tests.doubles.cards import ABLE
from tests.doubles.router_yaml import errors

S = "recipes[0].signals"
NOUL = {"type": "noul", "instructions": "Is it?"}


def labelled(*labels: str) -> dict[str, Any]:
    return {"type": "set", "instructions": "Which?", "labels": list(labels)}


def found(
    signals: Mapping[str, Sequence[Mapping[str, Any]]], card: Card = ABLE
) -> tuple[Problem, ...]:
    """The errors of a router with these rules, which nothing needs to read."""
    local = {"provider": "model_runtime", "artifact": "embedded"}
    document = {
        "version": "v1",
        "entrypoints": [{"model_names": ["auto"], "recipe": "r"}],
        "recipes": [{"name": "r", "signals": signals}],
        "global": {"model_catalog": {"deployments": {"primary": local, "second": local}}},
    }
    return errors(yaml.safe_dump(document, sort_keys=False), card=card)


def own(name: str, question: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    return {"name": name, "question": question, **keys}


def test_a_rule_may_not_be_called_as_a_label_of_a_set_is_answered() -> None:
    """S1-12, CFG-1"""
    (problem,) = found({"systemone": [own("a", labelled("b")), own("a.b", NOUL)]})
    assert (problem.path, problem.value) == (f"{S}.systemone[1].name", "a.b")
    assert problem.message == (
        "the systemone rule a.b and label b of the systemone rule a on line 10 would be answered "
        "under one id, systemone:a.b: rename the systemone rule a.b or the systemone rule a or "
        "its label b"
    )


@pytest.mark.parametrize(
    ("rules", "place", "parts"),
    [
        (
            [own("a.b", NOUL), own("a", labelled("b"))],
            1,
            ("label b of the systemone rule a ", "the systemone rule a.b on line 10"),
        ),
        (
            [own("a", labelled("b.c")), own("a.b", labelled("c"))],
            1,
            ("label c of the systemone rule a.b ", "label b.c of the systemone rule a on line 10"),
        ),
        (
            [own("a", labelled("b.c", "b.d")), own("x", NOUL), own("a.b", labelled("c", "d"))],
            2,
            ("label c of the systemone rule a.b ", "label b.c of the systemone rule a on line 10"),
        ),
    ],
)
def test_whichever_stands_second_is_reported_once(
    rules: list[dict[str, Any]], place: int, parts: tuple[str, ...]
) -> None:
    """S1-12, CFG-1"""
    (problem,) = found({"systemone": rules})
    assert problem.path == f"{S}.systemone[{place}].name"
    for part in parts:
        assert part in problem.message


def test_every_rule_that_collides_is_reported() -> None:
    """CFG-1: all of them at once"""
    rules = [own("a", labelled("b", "c")), own("a.b", NOUL), own("a.c", NOUL)]
    paths = [problem.path for problem in found({"systemone": rules})]
    assert paths == [f"{S}.systemone[1].name", f"{S}.systemone[2].name"]


@pytest.mark.parametrize(
    "apart",
    [
        {"deployment": "second"},
        {"input": {"history": True}},
        {"input": {"previous_turns": 1}},
    ],
)
def test_what_is_not_asked_about_one_state_of_one_deployment_is_apart(
    apart: Mapping[str, Any],
) -> None:
    """SIG-5"""
    assert not found({"systemone": [own("a", labelled("b")), own("a.b", NOUL, **apart)]})


def test_states_that_may_turn_out_equal_count_as_one() -> None:
    """SIG-3: with one earlier turn, the last two are that one"""
    one, two = ({"previous_turns": turns} for turns in (1, 2))
    rules = [own("a", labelled("b"), input=one), own("a.b", NOUL, input=two)]
    assert [p.path for p in found({"systemone": rules})] == [f"{S}.systemone[1].name"]


def test_a_deployment_named_is_the_systems_where_it_is_that() -> None:
    """CFG-5"""
    rules = [own("a", labelled("b")), own("a.b", NOUL, deployment="primary")]
    assert len(found({"systemone": rules})) == 1


def test_a_choice_has_no_answers_but_its_own() -> None:
    """S1-11"""
    choice = {"type": "choice", "instructions": "Which?", "choices": ["b", "c"]}
    assert not found({"systemone": [own("a", choice), own("a.b", NOUL)]})


def test_a_preset_in_two_types_has_two_ids() -> None:
    """SIG-6"""
    harms = [{"name": "harm"}, {"name": "harms", "labels": ["hate"]}]
    assert not found({"safety": harms})
    assert not found({"safety": [*harms, {"name": "weapons", "labels": ["weapons"]}]})


def test_one_question_of_several_rules_is_no_mistake() -> None:
    """SIG-5"""
    twice = [{"name": "sums", "labels": ["math"]}, {"name": "laws", "labels": ["law"]}]
    assert not found({"domains": twice, "jailbreak": [{"name": "a"}, {"name": "b"}]})


def test_a_rule_that_stands_twice_is_one_mistake() -> None:
    """CFG-1"""
    (problem,) = found({"systemone": [own("a", NOUL), own("a", labelled("b"))]})
    assert "stands twice" in problem.message


def trained(**ids: str) -> Card:
    return ABLE.model_copy(update={"trained_ids": ids})


GUARDS = {"jailbreak": [{"name": "attack"}, {"name": "trick"}], "safety": [{"name": "harm"}]}


def test_a_card_may_not_give_two_presets_that_are_asked_one_id() -> None:
    """S1-14, SIG-6"""
    card = trained(jailbreak="bad", harm="bad")
    (problem,) = found(GUARDS, card)
    assert problem.path == f"{S}.safety[0].name"
    assert problem.message == (
        "the safety rule harm and the jailbreak rule attack on line 10 would be answered under one "
        "id, bad: that is how able's card names them, so ask one of another deployment"
    )
    assert not found({"jailbreak": GUARDS["jailbreak"]}, card)
    assert not found({**GUARDS, "safety": [{"name": "harm", "deployment": "second"}]}, card)
    assert not found(GUARDS, trained(jailbreak="bad", harm="worse"))


@pytest.mark.parametrize(
    ("ids", "signals", "where"),
    [
        (
            {"jailbreak": "preset:harm:set.hate"},
            {
                "jailbreak": [{"name": "attack"}],
                "safety": [{"name": "harm"}, {"name": "harms", "labels": ["weapons"]}],
            },
            ("safety[1]", "another deployment"),
        ),
        (
            {"jailbreak": "preset:harm.hate"},
            {"jailbreak": [{"name": "attack"}], "safety": [{"name": "harms", "labels": ["hate"]}]},
            ("safety[0]", "another deployment"),
        ),
        (
            {"jailbreak": "systemone:a.b"},
            {"jailbreak": [{"name": "attack"}], "systemone": [own("a", labelled("b"))]},
            ("systemone[0]", "rename the systemone rule a or its label b"),
        ),
        (
            {"jailbreak": "systemone:a"},
            {"jailbreak": [{"name": "attack"}], "systemone": [own("a", NOUL)]},
            ("systemone[0]", "rename the systemone rule a"),
        ),
    ],
)
def test_a_trained_id_may_not_be_that_of_another_answer(
    ids: dict[str, str], signals: Mapping[str, Any], where: tuple[str, str]
) -> None:
    """S1-12: a preset's set is asked with all its labels"""
    (problem,) = found(signals, trained(**ids))
    path, remedy = where
    assert problem.path == f"{S}.{path}.name"
    assert problem.message.endswith(remedy)
