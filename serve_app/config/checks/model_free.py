"""Rules without a model: word lists, bounds, counts, metadata."""

from __future__ import annotations

import re2

from serve_app.config.checks.predicates import COUNT, check_predicate
from serve_app.config.checks.review import Review
from serve_app.config.schema.signals import ContextRule, KeywordRule, MetadataRule
from serve_app.config.tree import Loc
from serve_app.credentials import is_readable


def check_model_free(review: Review) -> None:
    for index, recipe in enumerate(review.config.recipes):
        signals = recipe.signals
        at: Loc = ("recipes", index, "signals")
        for i, keyword in enumerate(signals.keywords):
            _check_keywords(review, (*at, "keywords", i), keyword)
        for i, context in enumerate(signals.context):
            _check_context(review, (*at, "context", i), context)
        for i, count in enumerate(signals.conversation):
            loc = (*at, "conversation", i, "predicate")
            check_predicate(review, loc, count.predicate, COUNT)
        for i, metadata in enumerate(signals.metadata):
            _check_metadata(review, (*at, "metadata", i), metadata)


def _check_keywords(review: Review, loc: Loc, rule: KeywordRule) -> None:
    if not rule.keywords and not rule.patterns and _whole(review, loc, "keywords", "patterns"):
        review.error(loc, "needs keywords or patterns", shown=False)
    options = re2.Options()
    options.log_errors = False
    for index, pattern in enumerate(rule.patterns):
        try:
            re2.compile(pattern, options)
        except re2.error as error:
            review.error((*loc, "patterns", index), _reason(pattern, error))


def _reason(pattern: str, error: Exception) -> str:
    """RE2's message ends in the part of the pattern that is wrong."""
    said = error.args[0]
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    what, _, part = text.partition(": ")
    position = pattern.find(part) if part and part != pattern else -1
    where = f", at character {position + 1}" if position >= 0 else ""
    return f"is no regular expression that RE2 reads: {what}{where}"


def _check_context(review: Review, loc: Loc, rule: ContextRule) -> None:
    low, high = rule.min_tokens, rule.max_tokens
    if low is None and high is None:
        if _whole(review, loc, "min_tokens", "max_tokens"):
            review.error(loc, "needs min_tokens or max_tokens", shown=False)
    elif low is not None and high is not None and low > high:
        review.error((*loc, "max_tokens"), f"is less than min_tokens, {low}: never matches")


def _check_metadata(review: Review, loc: Loc, rule: MetadataRule) -> None:
    if rule.header is not None and rule.key is not None:
        review.error((*loc, "key"), "reads a header or a key of the metadata, not both")
    elif rule.header is None and rule.key is None and _whole(review, loc, "header", "key"):
        review.error(loc, "needs a header or a key of the metadata", shown=False)
    if rule.header is not None and not is_readable(rule.header.lower()):
        review.error(
            (*loc, "header"), "no rule reads headers that may hold a credential, nor x-vsr-*"
        )
    if rule.key is not None and rule.key.startswith("header."):
        review.error(
            (*loc, "key"), "no rule reads keys that begin with header.: for a header write header"
        )
    if rule.equals is not None and rule.any_of is not None:
        review.error((*loc, "any_of"), "compares with equals or with any_of, not both")


def _whole(review: Review, loc: Loc, *keys: str) -> bool:
    return all(review.whole((*loc, key)) for key in keys)
