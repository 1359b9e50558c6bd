"""Model cards and the check of model files: S1-14, SRV-11."""

import hashlib

import pytest

from models.cards.digest import ModelFileMismatch, verify
from models.cards.schema import Card
from models.cards.shipped import shipped_card
from models.questions.presets import PRESETS
from models.questions.types import QuestionType


def test_the_embedded_card_says_what_the_model_is():
    """S1-14, SRV-17, SRV-19"""
    card = shipped_card("embedded")
    assert card.family == "embedded"
    assert card.calibrated
    assert card.validated_input_tokens == card.max_input_tokens == 9216
    assert card.question_types == set(QuestionType)
    assert set(card.thresholds) == set(card.window_thresholds) == {"jailbreak", "harm"}
    assert all(0 < threshold < 1 for threshold in card.thresholds.values())
    assert set(card.temperatures) > set(QuestionType)
    assert set(card.quality) > set(PRESETS) - {"selector"}
    assert card.quality_data
    assert "en" in card.languages
    assert card.sha256["model.safetensors"] == (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"selector"}))
def test_a_presets_figures_have_intervals_and_stand_beside_the_cosines(preset):
    """S1-14, SRV-19: on at least a hundred texts"""
    figures = shipped_card("embedded").quality[preset]
    (name,) = [n for n in ("auc", "accuracy", "f1") if n in figures][:1]
    assert figures["answers"] >= 100
    assert figures[f"{name}_low"] <= figures[name] <= figures[f"{name}_high"]
    assert f"{name}_seen" in figures
    assert f"{name}_cosine" in figures or name == "f1", "cosines find no spans"


@pytest.mark.parametrize("name", ["nobody", "../cards/embedded", ""])
def test_another_name_has_no_card(name):
    """S1-14"""
    with pytest.raises(KeyError):
        shipped_card(name)


def test_a_changed_file_is_named_with_both_digests(tmp_path):
    """SRV-11"""
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    verify(path, digest)
    path.write_bytes(b"weightz")
    with pytest.raises(ModelFileMismatch) as error:
        verify(path, digest)
    assert str(path) in str(error.value)
    assert digest in str(error.value)
    assert hashlib.sha256(b"weightz").hexdigest() in str(error.value)


def test_a_cards_json_is_the_same_in_every_process() -> None:
    """CFG-10: it travels in what Serve compares; the order of a set follows the hash seed"""
    written = shipped_card("embedded").model_dump(mode="json", exclude_unset=True)
    assert written["question_types"] == sorted(written["question_types"])
    assert Card.model_validate(written) == shipped_card("embedded")
