"""The head, on weights drawn at random: S1-3, S1-4, COST-2."""

import numpy as np
import pytest
import torch

from models.embedded.asking import Asking, assemble
from models.embedded.calibration import Calibration
from models.embedded.described import LEARNED_NAMES, describe, in_words
from models.embedded.encoder import TokenVectors
from models.embedded.head import WIDTH, DecisionHead
from models.embedded.tokenizer import Tokens
from models.questions.presets import PRESETS, preset_question
from models.questions.types import Option, Question, QuestionType

CALIBRATION = Calibration({"noul": 1.5})


@pytest.fixture(scope="module")
def head() -> DecisionHead:
    torch.manual_seed(0)
    head = DecisionHead(len(LEARNED_NAMES) - 1)
    with torch.no_grad():
        for tensor in head.parameters():
            tensor.copy_(torch.randn_like(tensor) * 0.05)
    head.requires_grad_(False)
    return head.eval()


def vector(text: str) -> np.ndarray:
    seed = int.from_bytes(text.encode()[:8].ljust(8, b"."), "little")
    drawn = np.random.default_rng(seed).normal(size=WIDTH)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def ask(head, *questions: Question, seed: int = 0, tokens: int = 12):
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(1, tokens, WIDTH, generator=generator)
    read = TokenVectors(vectors, torch.ones(1, tokens, dtype=torch.bool))
    assembled = [assemble(head, q, describe(q, vector), CALIBRATION) for q in questions]
    states = [("text", Tokens(((0,) * (tokens - 2),), tokens - 2, 0))]
    with torch.inference_mode():
        return Asking(head, assembled).answers(read, read.pooled(), states)[0]


def options(*keys: str) -> tuple[Option, ...]:
    return tuple(Option(key, f"about {key}") for key in keys)


def choice(*keys: str) -> Question:
    return Question(QuestionType.CHOICE, "Which one?", options(*keys))


def test_the_order_of_options_changes_nothing(head):
    """S1-4: equivariant by construction"""
    (first,), (second,) = (
        ask(head, choice("a", "b", "c", "d")),
        ask(head, choice("c", "a", "d", "b")),
    )
    straight = dict(zip(first.keys, first.probabilities, strict=True))
    shuffled = dict(zip(second.keys, second.probabilities, strict=True))
    assert straight == pytest.approx(shuffled, abs=1e-6)


def test_keys_are_never_read_where_options_are_described(head):
    """S1-2"""
    (first,) = ask(head, choice("a", "b"))
    renamed = Question(
        QuestionType.CHOICE, "Which one?", (Option("x", "about a"), Option("y", "about b"))
    )
    (second,) = ask(head, renamed)
    assert first.probabilities == pytest.approx(second.probabilities, abs=1e-6)


def test_fewer_options_have_the_conditional_probabilities_of_more(head):
    """S1-4: no option sees another"""
    (more,), (fewer,) = ask(head, choice("a", "b", "c")), ask(head, choice("a", "c"))
    left = more.probabilities[0], more.probabilities[2]
    assert fewer.probabilities == pytest.approx([p / sum(left) for p in left], abs=1e-6)


def test_exchanged_outcomes_have_the_opposite_probability(head):
    """S1-4: a noul is two options"""
    yes, no = "It is so.", "It is not so."
    described = Question(QuestionType.NOUL, "?", (Option("true", yes), Option("false", no)))
    exchanged = Question(QuestionType.NOUL, "?", (Option("true", no), Option("false", yes)))
    (first,), (second,) = ask(head, described), ask(head, exchanged)
    assert first.probability == pytest.approx(1 - second.probability, abs=1e-6)


def test_a_question_is_answered_as_if_it_stood_alone(head):
    """S1-4"""
    questions = (
        choice("a", "b"),
        Question(QuestionType.NOUL, "Is it so?"),
        Question(QuestionType.SCORE, "How much?", options("0", "1", "2")),
        Question(QuestionType.SET, "Which?", options("p", "q")),
    )
    together = ask(head, *questions)
    for question, given in zip(questions, together, strict=True):
        (alone,) = ask(head, question)
        assert vars(alone).keys() == vars(given).keys()
        one, other = (getattr(x, "probabilities", None) or (x.probability,) for x in (alone, given))
        assert one == pytest.approx(other, abs=1e-6)


def test_many_options_are_asked_in_parts(head, monkeypatch):
    """SRV-6: so that memory is bounded, with the same answers"""
    many = choice(*(f"topic {i}" for i in range(255)))
    (whole,) = ask(head, many)
    monkeypatch.setattr("models.embedded.asking._ATTENDED", 12 * 7)
    (parts,) = ask(head, many)
    assert whole.probabilities == pytest.approx(parts.probabilities, abs=1e-6)
    assert sum(whole.probabilities) == pytest.approx(1)


def test_a_levels_place_is_part_of_its_question(head):
    """S1-3: levels are ordered, options are not"""
    levels = options("0", "1", "2")
    (up,) = ask(head, Question(QuestionType.SCORE, "How much?", levels))
    (down,) = ask(head, Question(QuestionType.SCORE, "How much?", levels[::-1]))
    assert up.probabilities != pytest.approx(down.probabilities[::-1], abs=1e-6)


def test_a_guard_asked_by_a_client_has_the_guards_answer(head):
    """SRV-17, S1-2: content decides what was learned of it, never a name"""
    guard = preset_question("jailbreak")
    own = Question(guard.type, guard.instructions, guard.options)
    assert ask(head, guard) == ask(head, own)


@pytest.mark.parametrize("name", ["domain", "harm", "jailbreak"])
def test_a_presets_options_have_their_learned_vectors_in_any_order_and_under_any_keys(head, name):
    """S1-2, S1-4: JSON objects have no order"""
    for question in PRESETS[name].values():
        options = question.options[::-1]
        if question.type is not QuestionType.NOUL:
            options = tuple(Option(f"k{i}", o.text) for i, o in enumerate(options))
        turned = Question(question.type, question.instructions, options)
        (first,), (second,) = ask(head, question), ask(head, turned)
        if question.type is QuestionType.NOUL:
            assert first.probability == pytest.approx(second.probability, abs=1e-6)
        else:
            assert first.probabilities == pytest.approx(second.probabilities[::-1], abs=1e-6)


def test_a_temperature_draws_an_answer_to_the_middle(head):
    """S1-14"""
    asked = Question(QuestionType.NOUL, "Is it so?")
    (warm,) = ask(head, asked)
    odds = np.log(warm.probability / (1 - warm.probability))
    described = describe(asked, vector)
    cold = assemble(head, asked, described, Calibration({}))
    assert cold.temperature == 1
    assert assemble(head, asked, described, CALIBRATION).temperature == 1.5
    assert abs(odds) > 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("crm.tickets.create", "crm tickets create"),
        ("getWeather", "get weather"),
        ("search_orders", "search orders"),
        ("fs/readFile", "fs read file"),
        ("billing", "billing"),
        ("URGENT", "URGENT"),
        ("no reply", "no reply"),
        ("not_billing today", "not_billing today"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_a_name_of_code_is_read_as_its_words(name, words):
    """S1-13: tools are often told by nothing but their names"""
    assert in_words(name) == words
