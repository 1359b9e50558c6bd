"""Model files are checked before they are loaded (SRV-11)."""

from __future__ import annotations

import hashlib
from pathlib import Path


class ModelFileMismatch(Exception):  # noqa: N818 - says what is wrong
    """A model file is not the one that its card names."""

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{path}: SHA-256 is {found}, the card says {expected}")
        self.path = path
        self.expected = expected
        self.found = found


def verify(path: Path, digest: str) -> None:
    """Raises ``ModelFileMismatch`` unless the SHA-256 of ``path`` is ``digest`` (hexadecimal)."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != digest:
        raise ModelFileMismatch(path, digest, found)
