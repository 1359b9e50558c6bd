"""The authored corpus: briefs, their texts, and who reads what (SRV-19).

``questions/<brief>.jsonl`` has questions that are asked of a dozen texts of a brief each, so that
neither a question nor a text tells an answer alone: a question as a client would send it, the keys
of the items that it is ``about``, their ``answers`` and those of a ``second``, blind reading, null
where a reader found it open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ruamel.yaml import YAML

from models.embedded.train.examples import item_key, read_items
from models.embedded.train.second_reading import Agreement, agreed

FOLDER: Final = Path(__file__).parent
Split: TypeAlias = Literal["train", "calibration", "heldout"]


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
    questions_sha256: str | None = None

    @property
    def texts(self) -> Path:
        return FOLDER / "texts" / f"{self.brief}.jsonl"

    @property
    def reading(self) -> Path:
        return FOLDER / "readings" / f"{self.brief}.jsonl"

    @property
    def questions(self) -> Path:
        return FOLDER / "questions" / f"{self.brief}.jsonl"

    def files(self) -> Iterator[tuple[Path, str]]:
        """Its files with the digests that they should have."""
        yield self.texts, self.sha256
        yield self.reading, self.reading_sha256
        if self.questions_sha256 is not None:
            yield self.questions, self.questions_sha256


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
        for path, digest in brief.files():
            found = sha256(path.read_bytes()).hexdigest()
            if found != digest:
                raise CorpusMismatch(f"{path.name}: SHA-256 is {found}, the ledger says {digest}")
        readings = {reading["id"]: reading for reading in read_items(brief.reading)}
        kept = (
            agreed(item, readings.get(item_key(item)), agreement)
            for item in read_items(brief.texts)
        )
        items[brief.brief] = [item for item in kept if item is not None]
        if brief.questions_sha256 is not None:
            _ask(items[brief.brief], read_items(brief.questions), agreement)
    return Corpus(briefs, items, agreement)


def _ask(
    items: list[dict[str, Any]], questions: Iterator[Mapping[str, Any]], agreement: Agreement
) -> None:
    """Adds to ``items`` the questions about them whose answer two readings agree about."""
    by_key = {item_key(item): item for item in items}
    for line in questions:
        asked = {k: v for k, v in line.items() if k not in ("about", "answers", "second")}
        for key, answer, second in zip(line["about"], line["answers"], line["second"], strict=True):
            if key not in by_key or answer is None:
                continue
            if agreement.count(f"free.{line['type']}", answer == second):
                item = by_key[key]
                item["questions"] = [*item.get("questions", ()), {**asked, "answer": answer}]
