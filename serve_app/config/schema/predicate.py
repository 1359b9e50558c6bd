"""A comparison with a value."""

from __future__ import annotations

from pydantic import Field

from serve_app.config.schema.base import Section


class Predicate(Section):
    """All written bounds must hold. At least one is written (checked by the loader)."""

    gt: float | None = Field(default=None, allow_inf_nan=False)
    gte: float | None = Field(default=None, allow_inf_nan=False)
    lt: float | None = Field(default=None, allow_inf_nan=False)
    lte: float | None = Field(default=None, allow_inf_nan=False)

    def holds(self, value: float) -> bool:
        return (
            (self.gt is None or value > self.gt)
            and (self.gte is None or value >= self.gte)
            and (self.lt is None or value < self.lt)
            and (self.lte is None or value <= self.lte)
        )
