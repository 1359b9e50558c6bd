"""How long the embedded model takes, alone in a process.

``python -m benchmarks.engine [--rounds N] [--json FILE]``: milliseconds a forward of states of 30
and 400 tokens (question texts cached, every state distinct), alone and 16 at a time, on 1 and 2
threads, in float32 and bfloat16. *one* asks one noul, *nine* the presets of the request stage,
*ten* ten nouls: tokenising and decoding included; *encoder* is the encoder alone on as many tokens.
Rounds are interleaved; the median is printed beside the quartiles, and the ratios of interest are
medians of the ratios within a round.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import numpy as np
import torch

from models.cards.shipped import shipped_card
from models.embedded.engine import EmbeddedEngine
from models.embedded.loading import load
from models.engine import Row, answer
from models.questions.presets import preset_question
from models.questions.types import Question, QuestionType

PROSE = (
    "the committee talked about a budget for libraries and why people who live near rivers often "
    "ask how much longer their old bridge will carry trucks"
)
WORDS = PROSE.split()
REQUEST_STAGE = (
    "domain",
    "jailbreak",
    "harm",
    "pii",
    "complexity",
    "modality",
    "fact_check",
    "user_feedback",
    "turn_relation",
)
TEN = tuple(Question(QuestionType.NOUL, f"Is it about topic number {i}?") for i in range(10))
PARTS: dict[str, tuple[Question, ...]] = {
    "encoder": (),
    "one": TEN[:1],
    "nine": tuple(map(preset_question, REQUEST_STAGE)),
    "ten": TEN,
}
RATIOS = (("nine", "one", 30), ("nine", "encoder", 30), ("ten", "one", 400))
LENGTHS = (30, 400)
BATCHES = (1, 16)
THREADS = (1, 2)
DTYPES = ("float32", "bfloat16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    engines: dict[str, EmbeddedEngine] = {}
    for dtype in DTYPES:
        try:
            engines[dtype] = load(shipped_card("embedded"), device="cpu", dtype=dtype)
        except RuntimeError as refused:
            print(f"{dtype}: {refused}")
    cases = {
        (part, tokens, batch, threads, dtype): _case(part, engines[dtype], tokens, batch)
        for tokens in LENGTHS
        for batch in BATCHES
        for threads in THREADS
        for dtype in engines
        for part in PARTS
    }
    times: dict[tuple[str, int, int, int, str], list[float]] = {key: [] for key in cases}
    for round_ in range(arguments.rounds + 2):
        for key, run in cases.items():
            torch.set_num_threads(key[3])
            run()  # brings the weights back into the caches, as in a process of its own
            start = perf_counter()
            run()
            if round_ >= 2:  # the first two prepare kernels and cache the questions' texts
                times[key].append((perf_counter() - start) * 1000)
    rows = [_row(key, values) for key, values in times.items()]
    print(f"{platform.processor() or platform.machine()}, torch {torch.__version__}")
    print("| part | tokens | batch | threads | dtype | p25 ms | p50 ms | p75 ms |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("|", " | ".join(str(value) for value in row.values()), "|")
    for dtype in engines:
        for above, below, tokens in RATIOS:
            pairs = zip(
                times[above, tokens, 1, 2, dtype], times[below, tokens, 1, 2, dtype], strict=True
            )
            low, middle, high = quantiles((a / b for a, b in pairs), n=4)
            spread = f"{middle:.2f} ({low:.2f}-{high:.2f})"
            print(f"{dtype}, {tokens} tokens: {above} / {below} = {spread}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


def _case(part: str, engine: EmbeddedEngine, tokens: int, batch: int) -> Callable[[], object]:
    if part != "encoder":
        seeds = count()
        asked = PARTS[part]
        return lambda: answer(
            engine, [Row(_text(next(seeds), tokens), asked) for _ in range(batch)]
        )
    random = np.random.default_rng(0)
    chunks = -(-tokens // 254)
    length = tokens // chunks + 2
    bucket = engine.prepare(Row(_text(0, tokens), ())).bucket
    ids = random.integers(1_000, 30_000, (batch * chunks, bucket))
    ids[:, length:] = 0
    return lambda: engine.layers.adapted.encode(ids, np.full(batch * chunks, length))


def _text(seed: int, tokens: int) -> str:
    """A state of as many tokens as words, since each word is one."""
    random = np.random.default_rng(seed)
    return " ".join(random.choice(WORDS, tokens).tolist())


def _row(key: tuple[str, int, int, int, str], values: list[float]) -> dict[str, object]:
    low, middle, high = (round(value, 2) for value in quantiles(values, n=4))
    names = ("part", "tokens", "batch", "threads", "dtype")
    return {
        **dict(zip(names, key, strict=True)),
        "p25_ms": low,
        "p50_ms": middle,
        "p75_ms": high,
    }


if __name__ == "__main__":
    main()
