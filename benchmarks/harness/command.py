"""What the commands of this folder have in common: where a record goes, and its second printing."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson
from pydantic import TypeAdapter

from benchmarks.harness.process_group import unwind_when_terminated

ROOT: Final = Path(__file__).parents[2]

R = TypeVar("R")


def numbers(text: str) -> list[int]:
    """``1,4,16``"""
    return [int(word) for word in text.split(",")]


def file(text: str) -> Path:
    """Absolute, since a command works from the repository's root."""
    return Path(text).absolute()


def add_record_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", type=file, help="where the record goes, as JSON")
    add("--render", type=file, help="prints the record in this JSON file and measures nothing")


def run(
    chosen: argparse.Namespace,
    record: type[R],
    measure: Callable[[argparse.Namespace, Path], R],
    render: Callable[[R], str],
    written: Callable[[R], dict[str, Any]],
) -> None:
    """Measures and prints, or prints again. ``measure`` is given a folder for its servers' output;
    ``written``: the record as JSON has it."""
    if chosen.render is not None:
        print(render(TypeAdapter(record).validate_json(chosen.render.read_bytes())))
        return
    unwind_when_terminated()
    os.chdir(ROOT)  # the profile names its files from there
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    found = measure(chosen, folder)
    shutil.rmtree(folder)  # kept where the measurement failed: the servers' output is in it
    if chosen.out is not None:
        options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
        chosen.out.write_bytes(orjson.dumps(written(found), option=options))
    print(render(found))
