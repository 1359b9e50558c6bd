"""What pydantic refused, for logs: by place and kind, for its own messages hold values (CFG-2)."""

from __future__ import annotations

from functools import reduce
from typing import Final

from pydantic import ValidationError

from serve_app.config.tree import join

_LISTED: Final = 8


def refused(error: ValidationError) -> str:
    """``MODEL: PATH (KIND), …``: the first 8 places, and how many more there are."""
    found = error.errors(include_input=False, include_context=False, include_url=False)
    places = [f"{reduce(join, one['loc'], '') or 'all of it'} ({one['type']})" for one in found]
    more = len(places) - _LISTED
    listed = ", ".join(places[:_LISTED]) + (f", … {more} more" if more > 0 else "")
    return f"{error.title}: {listed}"
