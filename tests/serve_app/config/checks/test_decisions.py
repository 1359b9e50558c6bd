"""CFG-8: what a decision does."""

from __future__ import annotations

import pytest

from models.questions.types import QuestionType
from tests.doubles.cards import card
from tests.doubles.router_yaml import ROUTER, Mistake, changed, errors, mistake

D = "recipes[0].decisions"

CASES = [
    (
        "{model: general, description: Quick}",
        "{model: genral, description: Quick}",
        f"{D}[1].modelRefs[0].model",
        "no such model",
        "general",
    ),
    (
        "- {model: reasoner}",
        "- {model: general}",
        f"{D}[1].modelRefs[1].model",
        "candidate stands twice",
        None,
    ),
    (
        "deployment: second, timeout_ms: 300",
        "deployment: other, timeout_ms: 300",
        f"{D}[1].algorithm.deployment",
        "no such deployment",
        None,
    ),
    (
        "plugins: [",
        "plugins: [{type: fast_response, message: No.}, ",
        f"{D}[0].plugins[1].type",
        "plugin stands twice",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_decision_names_models_that_exist(case: Mistake) -> None:
    """CFG-1, CFG-8, SEL-1"""
    mistake(case)


@pytest.mark.parametrize("plugins", ["plugins: []", "description: x"])
def test_a_decision_without_models_answers_itself(plugins: str) -> None:
    """CFG-8"""
    written = "plugins: [{type: fast_response, message: I cannot help with that., status: 403}]"
    text, _ = changed(written, plugins)
    (problem,) = errors(text)
    assert (problem.path, problem.line) == (f"{D}[0]", changed("- name: blocked", "")[1])
    assert problem.message.startswith("needs modelRefs")


def test_a_selector_needs_a_model_that_answers_choices() -> None:
    """SEL-1"""
    found = errors(ROUTER, card=card("partial", QuestionType.CHOICE, images=True))
    assert f"{D}[1].algorithm.type" in [problem.path for problem in found]


def test_more_candidates_than_a_choice_has_options_are_an_error() -> None:
    """SEL-1, LIM-1"""
    refs = ", ".join(f"{{model: m{i}}}" for i in range(256))
    models = "".join(
        f"    - {{name: m{i}, backends: [{{base_url: http://h}}]}}\n" for i in range(256)
    )
    text, _ = changed("entrypoints:\n", f"{models}entrypoints:\n")
    old = "- {model: general, description: Quick}\n          - {model: reasoner}\n"
    assert text.count(old) == 1
    (problem,) = errors(text.replace(old, f"[{refs}]\n"))
    assert (problem.path, problem.message) == (
        f"{D}[1].modelRefs",
        "out of range: 1 to 255 candidates",
    )


IMAGE_ONLY = "{name: reasoner, output: [image], backends"


@pytest.mark.parametrize(
    ("changes", "places", "said"),
    [
        (
            [
                (
                    "fallback: true\n        output: [text]",
                    "fallback: true\n        output: [text, image]",
                )
            ],
            ["[1].modelRefs[0].model", "[1].modelRefs[1].model"],
            "decision chosen has image in its output, model general only text",
        ),
        (
            [("{name: reasoner, backends", IMAGE_ONLY)],
            ["[1].modelRefs[1].model", "[2].modelRefs[1].model"],
            "decision chosen has text in its output, model reasoner only image",
        ),
    ],
)
def test_a_decisions_models_answer_in_all_of_its_output(
    changes: list[tuple[str, str]], places: list[str], said: str
) -> None:
    """CFG-1, CFG-8"""
    text = ROUTER
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    found = errors(text)
    assert [problem.path for problem in found] == [f"{D}{place}" for place in places]
    assert found[0].message == said


def test_a_mistaken_output_is_no_second_mistake_in_its_decisions() -> None:
    """CFG-1"""
    text, _ = changed("{name: reasoner, backends", "{name: reasoner, output: [pictures], backends")
    assert [problem.path for problem in errors(text)] == ["providers.models[1].output[0]"]


def test_models_that_answer_in_more_than_the_decision_are_fine() -> None:
    """CFG-8"""
    text, _ = changed(
        "{name: reasoner, backends", "{name: reasoner, output: [text, image], backends"
    )
    assert errors(text) == ()
