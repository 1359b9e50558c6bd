"""Scores and their bands (CFG-9). What scores read is checked with the conditions."""

from __future__ import annotations

import math
from itertools import pairwise

from serve_app.config.checks.review import Review
from serve_app.config.schema.projections import Band, Mapping
from serve_app.config.tree import Loc


def check_projections(review: Review) -> None:
    for r, recipe in enumerate(review.config.recipes):
        at: Loc = ("recipes", r, "projections", "mappings")
        scores = review.declared.scores[review.node(("recipes", r)).path]
        for m, mapping in enumerate(recipe.projections.mappings):
            if mapping.source not in scores:
                review.error(
                    (*at, m, "source"),
                    "there is no such score",
                    name=mapping.source,
                    allowed=scores,
                )
            _check_bands(review, (*at, m, "outputs"), mapping)


def _check_bands(review: Review, loc: Loc, mapping: Mapping) -> None:
    ranges = []
    for index, band in enumerate(mapping.outputs):
        low, high = _range(band)
        if low >= high:
            review.error((*loc, index), f"never holds: gte {low:g} is not below lt {high:g}")
        else:
            ranges.append((low, high, index))
    for (_, end, _), (start, _, index) in pairwise(sorted(ranges)):
        if start < end:
            review.warn((*loc, index), f"overlaps another output: both hold from {start:g}")


def _range(band: Band) -> tuple[float, float]:
    low = -math.inf if band.gte is None else band.gte
    return low, math.inf if band.lt is None else band.lt
