"""Long harmless texts out of installed packages."""

from __future__ import annotations

import pytest

from benchmarks.harness.documents import SOURCES, Document, harmless, placed, plain_ascii
from models.embedded.train.windows import ledger


def test_there_are_forty_documents_of_three_kinds_and_no_name_twice() -> None:
    assert len(SOURCES) == len({name for name, *_ in SOURCES}) == 40


def test_a_document_has_as_many_bytes_as_were_asked_for() -> None:
    documents = harmless(3, 30_000)
    assert [d.name for d in documents] == [name for name, *_ in SOURCES[:3]]
    assert all(29_990 <= len(d.text.encode()) <= 30_000 for d in documents)


def test_no_package_that_a_document_is_from_chose_a_threshold_or_was_trained_on() -> None:
    """SRV-19: of the training ledger's packages"""
    used = {source.name for source in ledger() if source.set in ("filler", "choosing")}
    parts = {part for _, root, *_ in SOURCES for part in root.parts}
    assert "celery" in used
    assert not used & parts


@pytest.mark.parametrize(("at", "start"), [(0, 0), (40, 40), (100, 93), (-5, 0)])
def test_what_is_placed_takes_the_place_of_as_many_characters(at: int, start: int) -> None:
    text = "0123456789" * 10
    found = placed(text, "stop!", at)
    assert len(found) == 100
    assert found == text[:start] + "\nstop!\n" + text[start + 7 :]


def test_in_plain_ascii_a_character_is_a_byte() -> None:
    found = plain_ascii(Document("one", "Grüße 😀"))
    assert found == Document("one", "Gr??e ?")
