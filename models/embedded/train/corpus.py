"""The authored corpus: briefs, their texts, and who reads what (SRV-19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ruamel.yaml import YAML

from models.embedded.train.examples import item_key, read_items
from models.embedded.train.second_reading import Agreement, agreed

FOLDER: Final = Path(__file__).parent
Split: TypeAlias = Literal["train", "calibration", "heldout", "later"]


@dataclass(frozen=True)
class Brief:
    """What a brief's texts are about, and for what they are used. A brief is in one split."""

    brief: str
    subject: str
    register: str
    languages: tuple[str, ...]
    written: str
    licence: str
    split: Split
    sha256: str
    reading_sha256: str

    @property
    def texts(self) -> Path:
        return FOLDER / "texts" / f"{self.brief}.jsonl"

    @property
    def reading(self) -> Path:
        return FOLDER / "readings" / f"{self.brief}.jsonl"


class CorpusMismatch(Exception):  # noqa: N818 - says what is wrong
    """A file of the corpus is not the one that the ledger names."""


@dataclass(frozen=True)
class Corpus:
    """Items by brief, with the labels that two readings agree about, and that agreement."""

    briefs: tuple[Brief, ...]
    items: dict[str, list[dict[str, Any]]]
    agreement: Agreement

    def of(self, split: Split) -> Iterator[tuple[Brief, dict[str, Any]]]:
        for brief in self.briefs:
            if brief.split == split:
                for item in self.items[brief.brief]:
                    yield brief, item


def ledger() -> tuple[Brief, ...]:
    raw = YAML(typ="safe", pure=True).load((FOLDER / "briefs.yaml").read_text("utf-8"))
    return tuple(Brief(**{**b, "languages": tuple(b["languages"])}) for b in raw["briefs"])


def corpus() -> Corpus:
    """The corpus, every file checked against the ledger; ``CorpusMismatch``."""
    briefs = ledger()
    agreement = Agreement()
    items: dict[str, list[dict[str, Any]]] = {}
    for brief in briefs:
        for path, digest in ((brief.texts, brief.sha256), (brief.reading, brief.reading_sha256)):
            found = sha256(path.read_bytes()).hexdigest()
            if found != digest:
                raise CorpusMismatch(f"{path.name}: SHA-256 is {found}, the ledger says {digest}")
        readings = {reading["id"]: reading for reading in read_items(brief.reading)}
        kept = (
            agreed(item, readings.get(item_key(item)), agreement)
            for item in read_items(brief.texts)
        )
        items[brief.brief] = [item for item in kept if item is not None]
    return Corpus(briefs, items, agreement)
