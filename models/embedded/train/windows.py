"""Ordinary texts in windows of 8 KB, and foreign attacks, from archives that a ledger names."""

from __future__ import annotations

import argparse
import ast
import fnmatch
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

LEDGER = Path(__file__).with_name("sources.yaml")
WINDOW_BYTES = 8192
SHORTEST_BYTES = WINDOW_BYTES // 2  # a shorter rest of a text is no window
PER_FILE = 40
PER_SOURCE = 300
SAME_START = 500  # characters; two texts that share them count as one
FOREIGN_SHARE = 0.2  # of the letters; above it a window is not of Latin script

# Texts about attacks on language models are no ordinary texts.
ABOUT_ATTACKS = re.compile(
    r"prompt[\s_-]{0,2}inject|jail[\s_-]?break|prompt[\s_-]?guard|llm[\s_-]?guard|"
    r"(ignore|disregard|forget)\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+)?"
    r"(previous|prior|above|preceding)\s+(instruction|prompt|direction)",
    re.IGNORECASE,
)

PLACEHOLDER = re.compile(r"\{[A-Za-z_][\w.]*\}")  # what the attacker would have filled in

Kind = Literal["prose", "code", "records", "attack"]
Set = Literal["filler", "choosing", "measuring", "measuring_attacks"]
Registry = Literal["pypi-sdist", "pypi-wheel", "debian", "npm"]
Reading = Literal["text", "html", "strings", "lines", "literals"]
T = TypeVar("T")


class Window(NamedTuple):
    """One text of the corpus: a window, or a whole attack."""

    source: str
    kind: Kind
    set: Set
    text: str


class Part(BaseModel):
    """Files of an archive that are read in one way."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    files: list[str] = Field(min_length=1)  # globs; * crosses folders
    without: list[str] = []
    reading: Reading = "text"
    shortest: int = 0  # characters; a shorter text of a file is left out
    matching: str = ""  # a regular expression that a text of a file has to match
    limit: int = Field(default=PER_SOURCE, ge=1, le=PER_SOURCE)


class Source(BaseModel):
    """One archive of a package registry and the set that it alone belongs to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    registry: Registry
    version: str
    archive: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    licence: str = Field(min_length=2)
    set: Set
    parts: list[Part] = Field(min_length=1)


class Drops(Counter[str]):
    """How many texts were left out, by why."""


def ledger(path: Path = LEDGER) -> list[Source]:
    """The sources that the ledger names."""
    document = YAML(typ="safe").load(path.read_text("utf-8"))
    return [Source.model_validate(entry) for entry in document["sources"]]


# --- cutting --------------------------------------------------------------------------------


def cut(text: str, limit: int = WINDOW_BYTES) -> list[str]:
    """Cut a text into windows of at most `limit` bytes, between characters; joined they are it."""
    raw = text.encode("utf-8")
    windows = []
    start = 0
    while start < len(raw):
        end = min(start + limit, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:
            end -= 1
        windows.append(raw[start:end].decode("utf-8"))
        start = end
    return windows


def spread(items: Sequence[T], limit: int) -> list[T]:
    """At most `limit` of the items, evenly spaced, in their order."""
    if len(items) <= limit:
        return list(items)
    return [items[index * len(items) // limit] for index in range(limit)]


def gather(texts: Iterable[str]) -> Iterator[str]:
    """Join texts that are too short for a window with the short ones after them."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8"))
        if length >= SHORTEST_BYTES:
            yield text
            continue
        waiting.append(text)
        size += length
        if size >= WINDOW_BYTES:
            yield "\n\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield "\n\n".join(waiting)


def foreign(text: str) -> bool:
    """Whether more than a fifth of the letters are not Latin."""
    letters = [character for character in text if character.isalpha()]
    others = sum(
        1
        for character in letters
        if ord(character) > 0x24F and not unicodedata.name(character, "").startswith("LATIN")
    )
    return others > FOREIGN_SHARE * len(letters)


# --- reading --------------------------------------------------------------------------------


class _Visible(HTMLParser):
    """The text of a page, a line break for each block."""

    breaks = frozenset(
        ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre")
    ) | frozenset(("dt", "dd", "table", "ul", "ol", "title", "para"))
    hidden = frozenset(("script", "style"))

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in self.hidden
        if tag in self.breaks:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in self.hidden
        if tag in self.breaks:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.pieces.append(data)


def visible(page: str) -> str:
    """The text that a reader of an HTML page sees."""
    parser = _Visible()
    parser.feed(page)
    parser.close()
    return re.sub(r"\s*\n\s*\n\s*", "\n\n", "".join(parser.pieces)).strip()


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value that reads like a sentence."""
    if isinstance(value, str):
        if len(value) >= 20 and " " in value:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def literals(code: str) -> Iterator[str]:
    """Every string of a Python module that is no documentation, in the order of the lines."""
    tree = ast.parse(code)
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings and strings that nothing uses
    found = [
        (node.lineno, node.col_offset, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]
    yield from (value for _, _, value in sorted(found))


def wanted_texts(raw: bytes, part: Part) -> list[str]:
    """The texts in a file that a part takes."""
    return [
        text
        for text in texts(raw, part.reading)
        if len(text) >= part.shortest and re.search(part.matching, text)
    ]


def texts(raw: bytes, reading: Reading) -> list[str]:
    """The texts in a file; none where it is not UTF-8."""
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return []
    if "\x00" in text:
        return []
    if reading == "html":
        return [visible(text)]
    if reading == "lines":
        return [line for line in text.splitlines() if line.strip()]
    if reading == "literals":
        return list(literals(text))
    if reading == "strings":
        try:
            return list(strings(json.loads(text)))
        except json.JSONDecodeError:  # one value a line
            return [item for line in text.splitlines() for item in strings(json.loads(line))]
    return [text.replace("\r\n", "\n")]


def _tar(archive: tarfile.TarFile, wanted: Part) -> dict[str, bytes]:
    files = {}
    for member in archive:
        if member.isfile() and chosen(member.name, wanted):
            handle = archive.extractfile(member)
            if handle is not None:
                files[member.name] = handle.read()
    return files


def _debian(raw: bytes) -> bytes:
    """The data member of a Debian package, an `ar` archive."""
    at = 8
    while at < len(raw):
        name, size = raw[at : at + 16].strip(), int(raw[at + 48 : at + 58])
        if name.startswith(b"data.tar"):
            return raw[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise ValueError("no data in the package")


def chosen(name: str, wanted: Part) -> bool:
    """Whether a part takes the file."""
    return any(fnmatch.fnmatchcase(name, glob) for glob in wanted.files) and not any(
        fnmatch.fnmatchcase(name, glob) for glob in wanted.without
    )


def files(archive: Path, wanted: Part) -> list[tuple[str, bytes]]:
    """The files of an archive that a part takes, by name."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            names = [name for name in opened.namelist() if chosen(name, wanted)]
            found = {name: opened.read(name) for name in names}
    elif archive.suffix == ".deb":
        with tarfile.open(fileobj=io.BytesIO(_debian(archive.read_bytes()))) as data:
            found = _tar(data, wanted)
    else:
        with tarfile.open(archive) as data:
            found = _tar(data, wanted)
    return sorted(found.items())


# --- fetching -------------------------------------------------------------------------------


def command(source: Source, folder: Path) -> list[str]:
    """The registry's own client, told to fetch the archive into the folder."""
    match source.registry:
        case "debian":
            return ["apt-get", "download", "-q", f"{source.name}={source.version}"]
        case "npm":
            return ["npm", "pack", "--silent", f"{source.name}@{source.version}"]
        case "pypi-sdist" | "pypi-wheel":
            form = "--no-binary" if source.registry == "pypi-sdist" else "--only-binary"
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", form, ":all:"]
            return [*pip, "--dest", str(folder.resolve()), f"{source.name}=={source.version}"]


def fetch(source: Source, folder: Path) -> Path:
    """The archive of a source, from the folder or else from its registry, its digest checked."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / source.archive
    if not archive.exists():
        subprocess.run(command(source, folder), cwd=folder, check=True, timeout=300)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != source.sha256:
        raise ValueError(f"{source.archive} has the digest {digest}, not {source.sha256}")
    return archive


# --- the corpus -----------------------------------------------------------------------------


def _candidates(archive: Path, part: Part) -> Iterator[str]:
    """The windows of a part before anything is left out; or its attacks, whole."""
    read = [wanted_texts(raw, part) for _, raw in files(archive, part)]
    if part.kind == "attack":
        yield from (PLACEHOLDER.sub("ChatGPT", text.strip()) for found in read for text in found)
        return
    for text in gather("\n".join(found) for found in read):
        windows = [window for window in cut(text) if len(window.encode()) >= SHORTEST_BYTES]
        yield from spread(windows, PER_FILE)


def corpus(sources: Iterable[Source], folder: Path, drops: Drops) -> Iterator[Window]:
    """The windows of the sources, each once, in the ledger's order."""
    seen: set[str] = set()
    for source in sources:
        archive = fetch(source, folder)
        for part in source.parts:
            kept = []
            for text in _candidates(archive, part):
                reason = _unfit(text, part.kind, seen)
                if reason:
                    drops[reason] += 1
                    continue
                seen.add(text[:SAME_START])
                kept.append(Window(source.name, part.kind, source.set, text))
            yield from spread(kept, part.limit)


def _unfit(text: str, kind: Kind, seen: set[str]) -> str | None:
    if text[:SAME_START] in seen:
        return "seen before"
    if foreign(text):
        return "not Latin script"
    if kind == "attack":
        return "too short" if len(text) < 40 else None
    return "about attacks" if ABOUT_ATTACKS.search(text) else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Write one set of the corpus, one JSON object a line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--set", required=True, choices=get_args(Set))
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--cache", type=Path, default=Path("build/corpus"))
    options = parser.parse_args(arguments)
    sources = [source for source in ledger() if source.set == options.set]
    drops, kinds = Drops(), Counter[str]()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", encoding="utf-8") as out:
        for window in corpus(sources, options.cache, drops):
            kinds[window.kind] += 1
            line = {"source": window.source, "kind": window.kind, "text": window.text}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{options.set}: {dict(kinds)}; left out: {dict(drops)}")


if __name__ == "__main__":
    main()
