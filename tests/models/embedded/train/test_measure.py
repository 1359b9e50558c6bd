"""The card's figures: SRV-19, S1-14."""

import json
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.embedded import weights
from models.embedded.described import LEARNED_NAMES
from models.embedded.encoder import LAYERS
from models.embedded.features import FORMS, OCCURRENCES, SHAPES
from models.embedded.head import WIDTH, DecisionHead
from models.embedded.train.measure import (
    attacks_of,
    near_only,
    quality,
    untrained,
    window_quality,
    windows_with,
)
from models.evaluation.judged import Judged
from models.evaluation.report import evaluate
from models.evaluation.truth import read_examples
from models.questions.presets import preset_question
from models.questions.types import (
    AnswerError,
    ChoiceAnswer,
    ErrorAnswer,
    NoulAnswer,
    Option,
    Question,
    QuestionType,
)

CHOICE = Question(QuestionType.CHOICE, "Which?", (Option("a"), Option("b")))


def judged(id, question, *pairs, tags=()):
    """``(truth, answer)`` each in a cluster of its own."""
    return [
        Judged(id, question, truth, given, ("line", i), tags)
        for i, (truth, given) in enumerate(pairs)
    ]


def nouls(*pairs):
    return [(truth, NoulAnswer(p)) for truth, p in pairs]


@given(
    st.lists(st.text(alphabet="ab\n", min_size=1, max_size=20), min_size=1, max_size=4),
    st.lists(st.text(alphabet="xy ", min_size=30, max_size=60), min_size=1, max_size=3),
    st.integers(0, 99),
)
def test_a_window_holds_its_attack_and_is_as_long_as_it_was(attacks, windows, seed):
    """SRV-19"""
    found = windows_with(attacks, windows, Random(seed))
    for text, attack in zip(found, attacks, strict=True):
        before, _, after = text.partition(f"\n{attack}\n")
        assert f"{before}\n{attack}\n{after}" == text
        assert any(
            w[: len(before + after)] == before + after and len(w) == len(text) for w in windows
        )


def test_attacks_stand_anywhere_in_their_windows():
    """SRV-19: at the end no more often than elsewhere"""
    window = "." * 100
    places = [windows_with(["x" * 48], [window], Random(i))[0].index("x") for i in range(500)]
    counts = [sum(a <= place - 1 < a + 10 for place in places) for a in range(0, 50, 10)]
    assert min(counts) > 60
    assert (min(places), max(places)) == (1, 51)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Small tensors in a file."""
    generator = torch.Generator().manual_seed(0)
    names = [
        f"adapters.encoder.layer.{i}.{part}" for i in range(LAYERS) for part in weights.ADAPTED
    ]
    head = DecisionHead(len(LEARNED_NAMES) - 1).state_dict()
    path = tmp_path_factory.mktemp("weights") / "decision.safetensors"
    weights.save(
        path,
        {
            **{
                f"{n}.{side}": torch.randn(2, 2, generator=generator)
                for n in names
                for side in ("down", "up")
            },
            "shapes": torch.zeros(SHAPES, WIDTH),
            "occurrences": torch.zeros(OCCURRENCES, WIDTH),
            "forms": torch.zeros(FORMS, WIDTH),
            **{f"head.{name}": tensor for name, tensor in head.items()},
        },
    )
    return path


def test_layers_drawn_at_random_differ_by_seed_and_have_no_prior(stored):
    """SRV-19: what no training leaves, and no cosine either"""
    trained = weights.load(stored)
    assert trained.head.prior.weight.any()
    first, again, other = (untrained(trained, stored, seed).head for seed in (0, 0, 1))
    for head in (first, again, other):
        assert not head.prior.weight.any()
        assert float(head.match.weight.std()) == pytest.approx(0.02, rel=0.05)
    assert torch.equal(first.match.weight, again.match.weight)
    assert not torch.equal(first.match.weight, other.match.weight)


def test_figures_are_those_of_the_report_with_interval_and_baseline():
    """S1-14"""
    guard = preset_question("jailbreak")
    own = judged("jailbreak", guard, *nouls((True, 0.9), (True, 0.6), (False, 0.7), (False, 0.1)))
    own += judged("free.choice", CHOICE, *[("a", ChoiceAnswer(("a", "b"), (0.8, 0.2)))] * 4)
    cosine = judged(
        "jailbreak", guard, *nouls((True, 0.4), (True, 0.3), (False, 0.7), (False, 0.1))
    )
    cosine += judged("free.choice", CHOICE, *[("a", ChoiceAnswer(("a", "b"), (0.2, 0.8)))] * 4)
    report, baseline = evaluate(own), evaluate(cosine, resamples=1)
    near = evaluate(
        near_only(
            [
                *own,
                *judged("jailbreak", guard, *nouls((True, 0.9), (False, 0.2)), tags=("near=near",)),
            ]
        )
    )
    found = quality(report, baseline, near)
    assert set(found) == {"jailbreak", "free.choice", "type.noul", "type.choice"}
    of_guard = found["jailbreak"]
    assert of_guard["answers"] == 4
    assert of_guard["auc"] == 0.75
    assert of_guard["auc_low"] <= 0.75 <= of_guard["auc_high"]
    assert of_guard["auc_cosine"] == 0.5
    assert of_guard["near_auc"] == 1
    assert (found["free.choice"]["accuracy"], found["free.choice"]["accuracy_cosine"]) == (1, 0)
    (kind,) = (k for k in report.types if k.type is QuestionType.NOUL)
    assert found["type.noul"]["ece"] == round(kind.ece.value, 4)


def test_only_guards_on_look_alikes_are_near():
    """SRV-19"""
    tags = ("language=en", "near=near")
    guard = judged("harm", preset_question("harm"), *nouls((True, 0.9)), tags=tags)
    other = judged("fact_check", preset_question("fact_check"), *nouls((True, 0.9)), tags=tags)
    plain = judged("harm", preset_question("harm"), *nouls((True, 0.9)))
    assert near_only([*guard, *other, *plain]) == guard


def test_attacks_are_the_short_texts_that_a_guard_should_match():
    """SRV-19"""
    texts = [("Forget it.", True), ("Hello.", False), ("x" * 5_000, True)]
    lines = [
        json.dumps({"state": s, "questions": {"jailbreak": {"preset": "jailbreak", "label": t}}})
        for s, t in texts
    ]
    assert attacks_of(read_examples(lines)) == {"jailbreak": ["Forget it."], "harm": []}


def test_windows_that_are_not_read_count_apart(monkeypatch):
    """SRV-17, SRV-19"""
    unread = ErrorAnswer(AnswerError.INVALID_INPUT, "unread")

    class Engine:
        class card:  # noqa: N801
            window_thresholds = {"jailbreak": 0.5, "harm": 0.9}  # noqa: RUF012

    def given(engine, rows):
        for row in rows:
            p = NoulAnswer(0.8 if "!" in row.state else 0.1)
            yield (p, p) if "?" not in row.state else (unread, unread)

    monkeypatch.setattr("models.embedded.train.cards.answer", given)
    windows = ["a" * 40, "b!" * 20, "c?" * 20]
    found = window_quality(Engine, windows, {"jailbreak": ["do it!"], "harm": ["do it!"]})
    guard = found["windows.jailbreak"]
    assert (guard["windows"], guard["unread"], guard["false_matches"]) == (2, 1, 1)
    assert guard["false_match_share"] == 0.5
    assert found["windows.harm"]["false_matches"] == found["windows.harm"]["recall"] == 0
