"""CFG-7: trees of conditions."""

from __future__ import annotations

import pytest

from tests.doubles.router_yaml import Mistake, changed, errors, mistake

D = "recipes[0].decisions"
C = f"{D}[1].rules.conditions"

CASES = [
    (
        "{type: domain, name: subject,",
        "{type: domains, name: subject,",
        f"{C}[0].type",
        "no such type",
        "domain",
    ),
    (
        "{type: domain, name: subject,",
        "{type: hallucination, name: subject,",
        f"{C}[0].type",
        "no such type",
        None,
    ),
    (
        "{type: domain, name: subject,",
        "{type: domain, name: subjet,",
        f"{C}[0].name",
        "no domain rule",
        "subject",
    ),
    (
        "{type: domain, name: subject,",
        "{type: domain, name: attack,",
        f"{C}[0].name",
        "one of type jailbreak",
        None,
    ),
    ("label: math}", "label: maths}", f"{C}[0].label", "no such label", "math"),
    ("label: math}", "label: chemistry}", f"{C}[0].label", "no such label", None),
    ("name: wanted, label: text}", "name: wanted}", f"{C}[1].conditions[0]", "needs a label", None),
    (
        "name: wanted, label: text}",
        "name: wanted, label: txt}",
        f"{C}[1].conditions[0].label",
        "no such label",
        "text",
    ),
    ("name: big}", "name: bigg}", f"{C}[1].conditions[1].name", "no mapping has", "big"),
    ("name: big}", "name: big, label: x}", f"{C}[1].conditions[1].label", "has no label", None),
    (
        "name: big}",
        "name: big, predicate: {gt: 1}}",
        f"{C}[1].conditions[1].predicate",
        "has no predicate",
        None,
    ),
    (
        "operator: NOT\n                  conditions: [{type: keywords, name: shout}]",
        "{operator: NOT, conditions: []}",
        f"{C}[1].conditions[2]",
        "exactly one condition, not 0",
        None,
    ),
    (
        "conditions: [{type: keywords, name: shout}]",
        "conditions: [{operator: AND, conditions: []}]",
        f"{C}[1].conditions[2].conditions[0].conditions",
        "at least one condition",
        None,
    ),
    (
        "{type: keywords, name: shout}",
        "{type: keywords, name: shout, predicate: {gt: 1}}",
        f"{C}[1].conditions[2].conditions[0].predicate",
        "no value to compare",
        None,
    ),
    (
        "{type: keywords, name: shout}",
        "{type: keywords, name: shout, label: x}",
        f"{C}[1].conditions[2].conditions[0].label",
        "no options",
        None,
    ),
    (
        "{type: keywords, name: shout}",
        "{type: keywords, name: shout, on_error: match}",
        f"{C}[1].conditions[2].conditions[0].on_error",
        "not both",
        None,
    ),
    (
        "name: harm, predicate: {gte: 0.9}",
        "name: harm, predicate: {lt: 0.9}",
        f"{D}[0].rules.conditions[1].predicate.lt",
        "guard",
        None,
    ),
    (
        "name: harms, label: hate",
        "name: harms, label: privacy",
        f"{D}[0].rules.conditions[2].label",
        "no such label",
        None,
    ),
    (
        "name: harm, predicate",
        "name: harm, label: hate, predicate",
        f"{D}[0].rules.conditions[1].label",
        "no options",
        None,
    ),
    (
        "name: length, predicate: {gt: 1}",
        "name: length, predicate: {gt: 2}",
        f"{D}[2].rules.conditions[3].predicate",
        "never hold",
        None,
    ),
    (
        "name: language, label: french}",
        "name: language}",
        f"{D}[2].rules.conditions[4]",
        "needs a label",
        None,
    ),
    (
        "name: topics, label: news}",
        "name: topics}",
        f"{D}[2].rules.conditions[5]",
        "needs a label",
        None,
    ),
    (
        "name: topics, label: news}",
        "name: topics, label: new}",
        f"{D}[2].rules.conditions[5].label",
        "no such label",
        "news",
    ),
    (
        "{type: context, name: long}",
        "{type: context, name: long, predicate: {gte: -5}}",
        f"{D}[2].rules.conditions[7].predicate.gte",
        "out of range: 0 or more",
        None,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_conditions_read_what_exists_and_groups_make_sense(case: Mistake) -> None:
    """CFG-1, CFG-4, CFG-7"""
    mistake(case)


def test_an_empty_or_is_no_catch_all() -> None:
    """CFG-7"""
    text, line = changed(
        "      - name: rest\n", "      - name: rest\n        rules: {operator: OR}\n"
    )
    (problem,) = errors(text)
    assert (problem.path, problem.line) == (f"{D}[3].rules.conditions", line + 1)
