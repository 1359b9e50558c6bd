"""Comparisons that can come out either way."""

from __future__ import annotations

import math
from typing import Final

from serve_app.config.checks.review import Review
from serve_app.config.schema.predicate import Predicate
from serve_app.config.tree import Loc

PROBABILITY: Final = (0.0, 1.0)
COUNT: Final = (0.0, math.inf)


def check_predicate(
    review: Review,
    loc: Loc,
    predicate: Predicate,
    values: tuple[float, float],
    *,
    guard: bool = False,
) -> None:
    """``values`` are the least and the greatest value it is compared with. A guard's predicate
    looks upwards alone (CFG-5).
    """
    bounds = predicate.model_dump(exclude_none=True)
    if not bounds:
        if review.whole(loc):
            review.error(loc, "an empty predicate compares nothing", allowed=_bounds(guard))
        return
    if guard and (below := [key for key in ("lt", "lte") if key in bounds]):
        review.error(
            (*loc, below[0]), "a guard matches from a probability upwards", allowed=_bounds(guard)
        )
        return
    outside = [key for key, bound in bounds.items() if not values[0] <= bound <= values[1]]
    for key in outside:
        review.error((*loc, key), f"out of range: {_range(values)}")
    if outside:
        return
    if not _holds_somewhere(predicate, values):
        review.error(loc, f"can never hold: the value lies in {_range(values)}")
    elif predicate.holds(values[0]) and predicate.holds(values[1]):
        review.warn(loc, f"always holds: the value lies in {_range(values)}")


def _holds_somewhere(predicate: Predicate, values: tuple[float, float]) -> bool:
    """Whether an interval of allowed values, or a single one, satisfies every bound."""
    lower = [b for b in (predicate.gt, predicate.gte) if b is not None]
    upper = [b for b in (predicate.lt, predicate.lte) if b is not None]
    low, high = max([values[0], *lower]), min([values[1], *upper])
    return low < high or (low == high and predicate.holds(low))


def _bounds(guard: bool) -> tuple[str, ...]:
    return ("gt", "gte") if guard else ("gt", "gte", "lt", "lte")


def _range(values: tuple[float, float]) -> str:
    low, high = values
    return f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"
