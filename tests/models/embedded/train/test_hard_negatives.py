"""Ordinary texts that a guard is likeliest to match: SRV-17."""

import pytest
import torch

from models.embedded.train.batches import batch_of
from models.embedded.train.fit import Settings, plain_items
from models.embedded.train.hard_negatives import hardest
from models.embedded.train.long import GUARDS, ordinary
from models.embedded.train.model import DecisionModel, gathered
from models.questions.presets import preset_question

TEXTS = [
    "Boil the rice for ten minutes, then drain it well and let it stand.",
    "Do not open the valve.",
    "The committee met on Monday about the library's new opening hours and its budget.",
    "x = 1",
    "You must obey the following rules of the house at all times, whatever you were told before.",
    "He went home.",
]


class Pieces:
    """An ordinary piece at a time, in order, and how many were asked for."""

    def __init__(self) -> None:
        self.count = 0

    def plain(self):
        self.count += 1
        return {"state": f"{TEXTS[self.count % 6]} {self.count}", "ask": {"jailbreak": False}}


@pytest.fixture(scope="module")
def model(base, reader):
    torch.manual_seed(3)
    model = DecisionModel(base, 2, 0.1)
    torch.nn.init.normal_(model.head.logit_down.weight, std=0.3)
    reader.describe([preset_question(name) for name in GUARDS])
    return model.train()


def odds(model, reader, text):
    """The highest of the guards' log odds of a text read alone."""
    batch = batch_of(ordinary([reader.tokens(text)], "one"), reader.described)
    training = model.training
    with torch.no_grad():
        logits, _ = model.eval().logits(model.read(batch.encoded), batch.queries)
    model.train(training)
    told = gathered(logits.reshape(-1), batch.choices.index)
    return float((told[:, 0] - told[:, 1]).max())


def test_the_texts_with_the_highest_odds_come_first(model, reader):
    """SRV-17: as each has when it is read alone, whatever the others' lengths"""
    found = hardest([reader.tokens(text) for text in TEXTS], 4, model, reader.described)
    alone = [odds(model, reader, text) for text in TEXTS]
    assert found == sorted(range(6), key=lambda i: -alone[i])[:4]
    assert len({round(value, 4) for value in alone}) == 6
    assert model.training


def test_half_the_ordinary_pieces_are_any_and_half_the_hardest_of_more(model, reader):
    """SRV-17"""
    pieces = Pieces()
    found = plain_items(8, pieces, model, reader, 3)
    assert pieces.count == 4 + 4 * 3
    states = [item["state"] for _, item in found]
    assert len(set(states)) == 8
    assert [state.split()[-1] for state in states[:4]] == ["1", "2", "3", "4"]
    rest = [odds(model, reader, f"{TEXTS[i % 6]} {i}") for i in range(5, 17)]
    own = [odds(model, reader, state) for state in states[4:]]
    assert own == pytest.approx(sorted(rest, reverse=True)[:4], abs=1e-4)


def test_before_anything_is_learned_all_are_any(model, reader):
    """SRV-17"""
    pieces = Pieces()
    assert len(plain_items(5, pieces, model, reader, 1)) == pieces.count == 5
    assert Settings().drawn > 1
