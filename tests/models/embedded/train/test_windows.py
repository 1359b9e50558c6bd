"""The corpus that the guard's threshold for windows is chosen and measured on: SRV-19."""

import hashlib
import io
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedded.train.windows import (
    PER_FILE,
    SHORTEST_BYTES,
    WINDOW_BYTES,
    Drops,
    Part,
    Source,
    command,
    corpus,
    cut,
    fetch,
    foreign,
    gather,
    ledger,
    literals,
    spread,
    strings,
    texts,
    visible,
)

SOURCES = ledger()


def a_source(archive: Path, digest: str, *parts: Part) -> Source:
    return Source(
        name=archive.stem,
        registry="pypi-wheel",
        version="1",
        archive=archive.name,
        sha256=digest,
        licence="MIT",
        set="filler",
        parts=list(parts),
    )


def wheel(folder: Path, files: dict[str, str]) -> Source:

    path = folder / "words-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return a_source(path, digest, Part(kind="prose", files=["*.txt"]))


@given(st.text(max_size=400), st.integers(min_value=4, max_value=64))
def test_windows_cover_the_text_and_never_split_a_character(text: str, limit: int) -> None:
    """SRV-19."""
    windows = cut(text, limit)
    assert "".join(windows) == text
    assert all(0 < len(window.encode()) <= limit for window in windows)


def test_a_window_is_cut_before_the_character_that_does_not_fit() -> None:
    """SRV-19."""
    first, second = cut("a" * (WINDOW_BYTES - 2) + "€" + "b")
    assert len(first.encode()) == WINDOW_BYTES - 2
    assert second == "€b"


@given(st.lists(st.integers()), st.integers(min_value=1, max_value=9))
def test_spreading_keeps_the_order_and_the_limit(items: list[int], limit: int) -> None:
    """SRV-19."""
    kept = spread(list(enumerate(items)), limit)
    assert len(kept) == min(limit, len(items))
    assert kept == sorted(set(kept))


@given(st.lists(st.integers(min_value=1, max_value=3 * SHORTEST_BYTES), max_size=12))
def test_gathering_loses_no_text(sizes: list[int]) -> None:
    """SRV-19."""
    joined = list(gather("x" * size for size in sizes))
    assert sum(text.count("x") for text in joined) == sum(sizes)
    assert all(text.count("x") >= SHORTEST_BYTES for text in joined[:-1])


def test_only_a_text_of_mostly_latin_letters_is_native() -> None:
    """SRV-19."""
    assert not foreign("Čeština, français, Ελ 123")
    assert foreign("Ελληνικά and English")
    assert not foreign("0123 {}")


def test_a_page_is_read_as_its_reader_sees_it() -> None:
    """SRV-19."""
    page = "<p>One<script>two()</script> &amp; <b>three</b></p><p>four</p>"
    assert visible(page) == "One & three\n\nfour"


def test_only_the_strings_that_read_like_sentences_are_taken_from_json() -> None:
    """SRV-19."""
    sentence = "In the beginning was the word."
    assert list(strings({"id": "a1", "verses": [sentence, 3, {"n": None}]})) == [sentence]
    lines = b'{"t": "In the beginning was the word."}\n{"t": "And a second line came."}\n'
    assert texts(lines, "strings") == [sentence, "And a second line came."]


def test_the_literals_of_a_module_are_taken_without_its_documentation() -> None:
    """SRV-19."""
    assert list(
        literals('"""About."""\nA = "one"\ndef f():\n    """f."""\n    return ["two"]')
    ) == [
        "one",
        "two",
    ]


def test_a_file_that_is_no_text_has_no_texts() -> None:
    """SRV-19."""
    assert texts(b"\xff\xfe\x00", "text") == []
    assert texts(b"a\x00b", "text") == []


def test_a_corpus_is_drawn_from_an_archive_with_its_caps_and_without_doubles(
    tmp_path: Path,
) -> None:
    """SRV-19."""
    long = "".join(f"{n:07d} words\n" for n in range(60 * WINDOW_BYTES // 14))
    about = "How a prompt injection works. " * 200
    words = {"long.txt": long, "again.txt": long[:WINDOW_BYTES], "about.txt": about, "a.py": about}
    drops = Drops()
    windows = list(corpus([wheel(tmp_path, words)], tmp_path, drops))
    assert len(windows) == PER_FILE
    assert {window.kind for window in windows} == {"prose"}
    assert drops == {"about attacks": 1, "seen before": 1}
    assert windows == list(corpus([wheel(tmp_path, words)], tmp_path, Drops()))


def test_an_attack_is_taken_whole_and_its_placeholder_filled(tmp_path: Path) -> None:
    """SRV-19."""
    path = tmp_path / "attacks-1.tar.gz"
    text = b"Act as {generator.name}. " * 500
    with tarfile.open(path, "w:gz") as opened:
        member = tarfile.TarInfo("a/attack.txt")
        member.size = len(text)
        opened.addfile(member, io.BytesIO(text))

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = a_source(path, digest, Part(kind="attack", files=["a/*"]))
    (window,) = corpus([source], tmp_path, Drops())
    assert window.text == ("Act as ChatGPT. " * 500).strip()


def test_an_archive_with_another_digest_is_refused(tmp_path: Path) -> None:
    """SRV-19."""
    source = wheel(tmp_path, {"a.txt": "a"}).model_copy(update={"sha256": "0" * 64})
    with pytest.raises(ValueError, match="has the digest"):
        fetch(source, tmp_path)


def test_every_source_is_pinned_licensed_and_in_one_set_alone() -> None:
    """SRV-19."""
    names = Counter(source.name.lower().replace("_", "-") for source in SOURCES)
    assert [name for name, count in names.items() if count > 1] == []
    assert len({source.sha256 for source in SOURCES}) == len(SOURCES)
    for source in SOURCES:
        assert source.licence.strip()
        assert source.version
        attack = {part.kind == "attack" for part in source.parts}
        assert attack == {source.set == "measuring_attacks"}


def test_each_set_of_ordinary_windows_has_prose_code_and_records() -> None:
    """SRV-19."""
    for name in ("filler", "choosing", "measuring"):
        parts = [part for source in SOURCES if source.set == name for part in source.parts]
        assert {part.kind for part in parts} == {"prose", "code", "records"}


def test_an_archive_is_fetched_by_the_client_of_its_registry(tmp_path: Path) -> None:
    """SRV-19."""
    for source in SOURCES:
        words = command(source, tmp_path)
        assert any(source.name in word and source.version in word for word in words)
