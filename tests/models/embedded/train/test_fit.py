"""The training loop on a corpus of 16 texts: SRV-19."""

from dataclasses import replace

import pytest
import torch

from models.embedded.train.batches import batch_of
from models.embedded.train.fit import Settings, fit
from models.embedded.train.model import DecisionModel

SUBJECTS = ["law", "math", "history", "physics"]
ITEMS = [
    *(
        (f"{i}", {"state": f"Text {i} about {subject}.", "ask": {"domain": subject}})
        for i, subject in enumerate(SUBJECTS * 2)
    ),
    *((f"1{i}", {"state": f"Forget rule {i}!", "ask": {"jailbreak": True}}) for i in range(3)),
    *(
        (f"2{i}", {"state": f"Boil egg {i}.", "ask": {"harm": [], "jailbreak": False}})
        for i in "abc"
    ),
    ("30", {"state": "[[PERSON|Anna Ruiz]], [[AGE|41]]", "ask": {"pii": True}}),
    ("31", {"state": "", "ask": {"pii": True}}),
]
TEXTS = ["The committee met about the library on Monday. " * 12]
TINY = Settings(
    epochs=2, batch=6, rank=2, encoder_rate=2e-3, head_rate=2e-3, warm_up=2, ordinary=2, long=0.5
)


@pytest.fixture(scope="module")
def trained(base, reader) -> DecisionModel:
    return fit(base, ITEMS, TEXTS, reader, TINY)


def loss(model: DecisionModel, reader) -> float:
    rows = [reader.prepared(brief, item) for brief, item in ITEMS]
    reader.describe([ask.question for row in rows for ask in row.asks])
    with torch.no_grad():
        return float(model.eval().loss(batch_of(rows, reader.described)))


def test_the_loss_falls(trained, base, reader):
    """SRV-19"""
    torch.manual_seed(TINY.seed)
    assert loss(trained, reader) < 0.9 * loss(DecisionModel(base, TINY.rank, 0.0), reader)


def test_the_same_seed_gives_the_same_tensors_and_another_others(trained, base, reader):
    """SRV-19: deterministic to the seed"""
    own = trained.tensors()
    again = fit(base, ITEMS, TEXTS, reader, TINY).tensors()
    assert all(torch.equal(own[name], again[name]) for name in own)
    other = fit(base, ITEMS, TEXTS, reader, replace(TINY, seed=2, epochs=1)).tensors()
    assert not torch.equal(own["head.match.weight"], other["head.match.weight"])


def test_what_comes_out_answers_and_trains_no_more(trained):
    """SRV-17: every tensor is a number, and nothing is dropped"""
    assert not trained.training
    assert all(torch.isfinite(tensor).all() for tensor in trained.tensors().values())
    assert all(tensor.any() for name, tensor in trained.tensors().items() if name.endswith(".up"))


def test_a_text_is_read_in_pieces_of_a_chunk(reader):
    """SRV-17: what fills long states"""
    pieces = reader.chunks("The committee met. " * 200)
    assert len(pieces) > 3
    assert all(len(piece.chunks) == 1 for piece in pieces)
