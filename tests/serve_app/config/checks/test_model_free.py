"""CFG-4: rules without a model."""

from __future__ import annotations

import pytest

from tests.doubles.router_yaml import Mistake, mistake

S = "recipes[0].signals"

CASES = [
    ('["[A-Z]{9,}"]', '["[A-Z"]', f"{S}.keywords[0].patterns[0]", "missing ]", None),
    ('["[A-Z]{9,}"]', '["a(?=b)"]', f"{S}.keywords[0].patterns[0]", "at character 2", None),
    ('["[A-Z]{9,}"]', '[""]', f"{S}.keywords[0].patterns[0]", "must not be empty", None),
    (
        'keywords: [urgent], patterns: ["[A-Z]{9,}"]',
        "case_sensitive: true",
        f"{S}.keywords[0]",
        "needs keywords or patterns",
        None,
    ),
    (
        "min_tokens: 1000, max_tokens: 90000",
        "description: x",
        f"{S}.context[0]",
        "needs min_tokens or",
        None,
    ),
    (
        "max_tokens: 90000",
        "max_tokens: 999",
        f"{S}.context[0].max_tokens",
        "less than min_tokens, 1000",
        None,
    ),
    (
        "{gte: 3}",
        "{gte: -3}",
        f"{S}.conversation[0].predicate.gte",
        "out of range: 0 or more",
        None,
    ),
    ("{gte: 3}", "{lt: 0}", f"{S}.conversation[0].predicate", "can never hold", None),
    ("key: team, equals", "key: team, header: x, equals", f"{S}.metadata[0].key", "not both", None),
    (
        "key: team, equals: blue",
        "equals: blue",
        f"{S}.metadata[0]",
        "needs a header or a key",
        None,
    ),
    ("header: x-tier", "header: Authorization", f"{S}.metadata[1].header", "credential", None),
    ("header: x-tier", "header: x-my-api-key", f"{S}.metadata[1].header", "credential", None),
    ("header: x-tier", "header: X-VSR-Trace", f"{S}.metadata[1].header", "x-vsr-*", None),
    ("key: team, equals", "key: header.x, equals", f"{S}.metadata[0].key", "write header", None),
    ("equals: blue", "equals: blue, any_of: [red]", f"{S}.metadata[0].any_of", "not both", None),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_without_a_model_says_what_it_looks_for(case: Mistake) -> None:
    """CFG-1, CFG-4"""
    mistake(case)
