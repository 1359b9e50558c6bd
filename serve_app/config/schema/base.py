"""What every section shares: closed, frozen models and a name's form."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints


class Section(BaseModel):
    """A mapping of the file. Unknown keys are errors (CFG-1); values are not coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Name = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\s:,;()\"]+$")]
"""A name that headers, question ids and conditions can carry."""

Variable = Annotated[str, StringConstraints(max_length=256, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of an environment variable that holds a secret (CFG-2)."""
