"""Temperatures by content: S1-2, S1-14."""

from models.embedded.calibration import Calibration, name_of
from models.questions.presets import PRESETS, preset_question
from models.questions.types import Option, Question, QuestionType

TEMPERATURES = Calibration({"noul": 2.0, "jailbreak.noul": 3.0, "tool_rank.choice": 4.0})


def test_a_preset_has_its_own_temperature_and_other_questions_their_types():
    """S1-14"""
    assert TEMPERATURES.temperature(preset_question("jailbreak")) == 3
    assert TEMPERATURES.temperature(preset_question("harm")) == 2
    assert TEMPERATURES.temperature(Question(QuestionType.NOUL, "Is it late?")) == 2
    assert TEMPERATURES.temperature(preset_question("domain")) == 1


def test_a_presets_text_has_its_temperature_whoever_asks():
    """S1-2"""
    guard = preset_question("jailbreak")
    assert TEMPERATURES.temperature(Question(guard.type, guard.instructions, guard.options)) == 3


def test_a_presets_options_are_known_in_any_order_and_under_any_keys():
    """S1-2, S1-4"""
    for preset, types in PRESETS.items():
        for kind, question in types.items():
            options = question.options[::-1]
            if kind is not QuestionType.NOUL:
                options = tuple(Option(f"k{i}", o.text or o.key) for i, o in enumerate(options))
            turned = Question(kind, question.instructions, options)
            assert name_of(turned) == f"{preset}.{kind}"


def test_options_given_by_the_asker_keep_the_presets_temperature():
    """S1-13"""
    rank = preset_question("tool_rank")
    asked = Question(rank.type, rank.instructions, (Option("search"), Option("mail")))
    assert TEMPERATURES.temperature(asked) == 4


def test_every_preset_is_known_by_its_content():
    """S1-13"""
    for preset, types in PRESETS.items():
        for kind, question in types.items():
            assert name_of(question) == f"{preset}.{kind}"
