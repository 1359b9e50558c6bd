"""An authored text among ordinary chunks: SRV-17."""

from random import Random

import pytest
import torch

from models.embedded.head import WIDTH
from models.embedded.train.batches import Encoded
from models.embedded.train.long import GUARDS, MOST_FILLERS, PADDED, Fillers, guarded, ordinary
from models.embedded.train.model import Read

ROWS = 5


class Model:
    """Reads every filler as ones."""

    training = True

    def eval(self):
        self.training = False

    def train(self, mode):
        self.training = mode

    def read(self, encoded: Encoded) -> Read:
        assert not self.training, "fillers are read as they are served"
        n, t = encoded.mask.shape
        return Read(torch.ones(n, t, WIDTH), encoded.mask, torch.ones(n, WIDTH))


@pytest.fixture
def fillers(reader) -> Fillers:
    found = Fillers(reader.chunks("The committee met about the library. " * 400))
    model = Model()
    found.refresh(model, 20, Random(0))
    assert model.training
    return found


def read_of(padded: int = 16) -> Read:
    """Rows whose tokens are -1 - their number, of 3 tokens and more."""
    tokens = -torch.arange(1.0, ROWS + 1)[:, None, None].expand(ROWS, padded, WIDTH)
    mask = torch.arange(padded)[None] < torch.arange(3, ROWS + 3)[:, None]
    return Read(tokens, mask, torch.zeros(ROWS, WIDTH))


def test_a_rows_tokens_stand_once_among_fillers_with_their_mask(fillers):
    """SRV-17"""
    read = read_of()
    for seed in range(20):
        found = fillers.around(read, Random(seed))
        count, rest = divmod(found.mask.shape[1], PADDED)
        assert rest == 0
        assert 2 <= count <= MOST_FILLERS + 1
        for row in range(ROWS):
            own = found.mask[row] & (found.tokens[row, :, 0] == -1 - row)
            assert int(own.sum()) == row + 3
            places = own.nonzero()[:, 0]
            assert (places % PADDED).tolist() == list(range(row + 3))
            assert int((found.tokens[row, :, 0][found.mask[row]] < 0).sum()) == row + 3


def test_a_row_stands_in_a_place_of_its_own(fillers):
    """SRV-17: at the beginning, at the end and between"""
    places = set()
    for seed in range(60):
        found = fillers.around(read_of(), Random(seed))
        chunks = found.mask.shape[1] // PADDED
        if chunks == 3:
            places |= {int(row.argmin()) // PADDED for row in found.tokens[..., 0]}
    assert places == {0, 1, 2}


def test_the_pooled_vector_is_the_direction_of_the_mean_chunk(fillers):
    """SRV-17: as the engine has it"""
    found = fillers.around(read_of(), Random(1))
    assert torch.allclose(found.pooled, torch.full((ROWS, WIDTH), WIDTH**-0.5))


def test_guarded_rows_keep_the_questions_of_their_guards_alone(reader):
    """SRV-17: what else is asked of a text is not asked of a long one"""
    rows = [
        reader.prepared("a", {"state": "tea", "ask": {"domain": "law", "jailbreak": False}}),
        reader.prepared("b", {"state": "tea", "ask": {"harm": ["hate"]}}),
        reader.prepared("c", {"state": "tea", "ask": {"domain": "law"}}),
        reader.prepared("d", {"state": "tea " * 300, "ask": {"jailbreak": False}}),
    ]
    kept = guarded(rows)
    assert [row.cluster for row in kept] == ["a", "b"]
    assert [[ask.name for ask in row.asks] for row in kept] == [["jailbreak"], ["harm"]]
    assert all(row.tokens is own.tokens for row, own in zip(kept, rows, strict=False))


def test_no_guard_matches_an_ordinary_chunk(reader):
    """SRV-17"""
    (row,) = ordinary(reader.chunks("The committee met."), "ordinary")
    assert [(ask.name, ask.truth) for ask in row.asks] == [(name, False) for name in GUARDS]
