"""What a model behind Messages accepts, by its name (API-1).

Anthropic's newer models refuse a whole request for fields that the older ones take, and the format
has no word for which are which. Names of other makers tell nothing: their servers take the fields
of the older ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_CLAUDE: Final = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
"""``claude-opus-4-7``, ``anthropic/claude-opus-4.7``, ``claude-3-5-haiku-20241022``."""

_ADAPTIVE_SINCE: Final = (4, 6)
_NO_SAMPLING_SINCE: Final = (4, 7)
_LONG_SINCE: Final = (4, 0)

DEFAULT_MAX_TOKENS: Final = 8192
"""Of a client that sets no limit, which Messages demands: little enough for small models."""

CLAUDE_MAX_TOKENS: Final = 32_000
"""The same for Claude 4 and later: what all of them can write. Thinking counts, too."""


@dataclass(frozen=True, slots=True)
class Accepts:
    """``sampling``: ``temperature``, ``top_p`` and ``top_k``. ``budget``: thinking with a number of
    tokens; else as much as an effort asks for. ``max_tokens``: the limit where a client sets none.
    """

    sampling: bool = True
    budget: bool = True
    max_tokens: int = DEFAULT_MAX_TOKENS


def accepts(model: str) -> Accepts:
    """A Claude without a version in its name is one of the newest."""
    if "claude" not in model:
        return Accepts()
    found = _CLAUDE.search(model)
    version = (99, 0) if found is None else (int(found[1]), int(found[2] or 0))
    return Accepts(
        sampling=version < _NO_SAMPLING_SINCE,
        budget=version < _ADAPTIVE_SINCE,
        max_tokens=CLAUDE_MAX_TOKENS if version >= _LONG_SINCE else DEFAULT_MAX_TOKENS,
    )
