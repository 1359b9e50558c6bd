"""Questions from JSON: S1-1, S1-2, S1-5, LIM-1."""

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.limits import OPTION_LIMITS
from models.questions.parse import QuestionError, client_question, parse_question
from models.questions.presets import PRESETS, preset_question
from models.questions.types import GUARDS, Option, Question, QuestionType
from tests.doubles.json_values import JSON, QUESTIONS


def refused(raw: object, client: bool = True) -> QuestionError:
    with pytest.raises(QuestionError) as error:
        parse_question(raw, client=client)
    return error.value


@given(JSON | QUESTIONS, st.booleans())
def test_any_json_is_a_question_or_a_question_error(raw, client):
    """S1-9, LIM-1"""
    try:
        question = parse_question(raw, client=client)
    except QuestionError:
        return
    low, high = OPTION_LIMITS[question.type]
    assert min(low, 1) <= len(question.options) <= high
    assert len({option.key for option in question.options}) == len(question.options)


@given(st.text(min_size=100), st.sampled_from(["type", "preset"]))
def test_a_message_repeats_at_most_64_characters(text, field):
    """S1-9"""
    assert text[:64] not in refused({field: text}).message


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "choice", "criteria": {"a": "first", "b": None}},
        {"type": "choice", "choices": [{"key": "a", "description": "first"}, "b"]},
        {"type": "choice", "choices": {"a": "first", "b": ""}},
        {"type": "choice", "criteria": [{"key": "a", "description": "first"}, {"key": "b"}]},
    ],
)
def test_every_form_of_options_is_the_same_question(raw):
    """S1-1"""
    assert parse_question(raw, client=False) == Question(
        QuestionType.CHOICE, "", (Option("a", "first"), Option("b"))
    )


@pytest.mark.parametrize("kind", ["set", "span"])
def test_labels_may_be_a_map_a_list_or_criteria(kind):
    """S1-1"""
    forms = [{"labels": ["x"]}, {"criteria": {"x": None}}, {"labels": [{"key": "x"}]}]
    questions = {parse_question({"type": kind, **form}, client=False) for form in forms}
    assert questions == {Question(QuestionType(kind), "", (Option("x"),))}


def test_levels_are_numbered_from_the_lowest():
    """S1-1"""
    for field in ("criteria", "levels"):
        question = parse_question(
            {"type": "score", field: ["calm", {"mood": "angry"}]}, client=True
        )
        assert question.options == (Option("0", "calm"), Option("1", "angry"))


@pytest.mark.parametrize("criteria", [None, {}, {"true": None}, {"true": "", "false": None}])
def test_a_noul_needs_instructions_or_a_described_outcome(criteria):
    """S1-1"""
    refused({"type": "noul", "criteria": criteria})
    question = parse_question(
        {"type": "noul", "criteria": criteria, "instructions": "Is it?"}, client=True
    )
    assert question == Question(QuestionType.NOUL, "Is it?")


@pytest.mark.parametrize(
    ("raw", "keys"),
    [
        ({"criteria": {"true": "yes", "false": "no"}}, ["true", "false"]),
        ({"criteria": {"false": ["no"]}}, ["false"]),
        ({"criteria": {True: "yes"}}, ["true"]),
        ({"choices": [{"key": "true", "description": "yes"}]}, ["true"]),
    ],
)
def test_a_noul_may_describe_one_outcome_or_both(raw, keys):
    """S1-1"""
    question = parse_question({"type": "noul", **raw}, client=False)
    assert [option.key for option in question.options] == keys


def test_structured_instructions_and_descriptions_are_rendered():
    """S1-1"""
    question = parse_question(
        {
            "type": "choice",
            "instructions": {"task": "Route.", "teams": ["a", "b"]},
            "criteria": {"a": {"owns": ["bills", "refunds"]}, "b": ["bugs"]},
        },
        client=True,
    )
    assert question.instructions == "task: Route.\nteams:\n  - a\n  - b"
    assert question.options == (Option("a", "owns:\n  - bills\n  - refunds"), Option("b", "- bugs"))


def test_keys_are_kept_byte_for_byte():
    """S1-2"""
    composed = "é"
    decomposed = unicodedata.normalize("NFD", composed)
    question = parse_question({"type": "choice", "criteria": [composed, decomposed]}, client=True)
    assert [option.key for option in question.options] == [composed, decomposed]


@pytest.mark.parametrize(
    ("kind", "field", "fewest", "most"),
    [
        ("choice", "criteria", 2, 255),
        ("score", "levels", 2, 10),
        ("set", "labels", 1, 255),
        ("span", "labels", 1, 255),
    ],
)
def test_the_configuration_keeps_the_bounds(kind, field, fewest, most):
    """LIM-1"""
    for count in (fewest, most):
        raw = {"type": kind, field: [f"o{i}" for i in range(count)]}
        assert len(parse_question(raw, client=False).options) == count
    for count in (fewest - 1, most + 1):
        raw = {"type": kind, field: [f"o{i}" for i in range(count)]}
        assert refused(raw, client=False).path == ("criteria",)


def test_a_clients_single_option_passes():
    """LIM-1"""
    raw = {"type": "choice", "criteria": ["only"]}
    assert parse_question(raw, client=True).options == (Option("only"),)
    refused(raw, client=False)
    refused({"type": "choice", "criteria": []}, client=True)
    refused({"type": "score", "levels": ["only"]}, client=True)


def test_unknown_fields_are_ignored_from_a_client_and_refused_in_the_configuration():
    """S1-9, CFG-1"""
    raw = {"type": "noul", "instructions": "Is it?", "instuctions": "typo"}
    assert parse_question(raw, client=True) == Question(QuestionType.NOUL, "Is it?")
    error = refused(raw, client=False)
    assert error.path == ("instuctions",)
    assert error.value == "instuctions"
    assert "instructions" in error.allowed


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ([], ()),
        ({}, ("type",)),
        ({"type": "boolean", "instructions": "Is it?"}, ("type",)),
        ({"type": "score", "criteria": {"0": "calm", "1": "angry"}}, ("criteria",)),
        ({"type": "score", "levels": ["calm", None]}, ("levels", 1)),
        ({"type": "choice", "choices": ["a", "a"]}, ("choices", 1)),
        ({"type": "choice", "choices": ["a", ""]}, ("choices", 1)),
        ({"type": "choice", "choices": ["a", 7]}, ("choices", 1)),
        ({"type": "choice", "choices": [{"description": "no key"}, "b"]}, ("choices", 0, "key")),
        ({"type": "choice", "choices": "ab"}, ("choices",)),
        ({"type": "choice", "criteria": {"a": 3, "b": None}}, ("criteria", "a")),
        ({"type": "choice", "criteria": ["a", "b"], "choices": ["a", "b"]}, ("choices",)),
        ({"type": "noul", "criteria": {"yes": "it is"}}, ("criteria", "yes")),
        ({"type": "noul", "instructions": 5}, ("instructions",)),
        ({"preset": "jailbrake"}, ("preset",)),
        ({"preset": "domain", "type": "noul"}, ("type",)),
        ({"preset": "tool_rank"}, ("criteria",)),
        ({"type": "noul", "instructions": "?", "threshold": 1.5}, ("threshold",)),
        ({"type": "noul", "instructions": "?", "threshold": True}, ("threshold",)),
        ({"type": "noul", "instructions": "?", "threshold": float("nan")}, ("threshold",)),
    ],
)
def test_an_error_leads_to_what_is_wrong(raw, path):
    """S1-9, LIM-1"""
    assert refused(raw).path == path


def test_deep_nesting_is_an_error_and_no_crash():
    """S1-9"""
    deep: object = "end"
    for _ in range(5_000):
        deep = [deep]
    refused({"type": "noul", "instructions": deep})


def test_a_preset_fills_in_type_instructions_and_criteria():
    """S1-5"""
    question = parse_question({"preset": "domain", "threshold": 0.7}, client=False)
    assert question == preset_question("domain")
    assert question.preset == "domain"
    assert question.threshold == 0.7


def test_a_preset_describes_the_labels_that_are_asked():
    """S1-5"""
    question = parse_question(
        {"preset": "harm", "type": "set", "labels": ["weapons", "hate"]}, client=False
    )
    known = {o.key: o for o in preset_question("harm", QuestionType.SET).options}
    assert question.options == (known["weapons"], known["hate"])


def written_out(guard: Question) -> dict[str, Any]:
    """The guard as a client writes it that knows no presets."""
    criteria = {option.key: option.text for option in guard.options}
    return {"type": guard.type, "instructions": guard.instructions, "criteria": criteria}


@pytest.mark.parametrize("client", [True, False])
@pytest.mark.parametrize(
    "guard", [form for name in sorted(GUARDS) for form in PRESETS[name].values()]
)
def test_a_guard_written_out_is_that_guard(guard: Question, client: bool) -> None:
    """SRV-17, CACHE-3: one computation, and no answer about a text that was not read"""
    raw = written_out(guard)
    asked = parse_question(raw, client=client)
    assert (asked, asked.digest(), asked.preset) == (guard, guard.digest(), guard.preset)
    assert asked.guards
    turned = parse_question(
        {**raw, "criteria": dict(reversed(raw["criteria"].items()))}, client=client
    )
    assert turned.guards, "objects of JSON have no order"
    threshold = parse_question({**raw, "threshold": 0.9}, client=client)
    assert (threshold.guards, threshold.threshold) == (True, 0.9)


@pytest.mark.parametrize(
    "change",
    [
        {"instructions": "Does the text try anything?"},
        {"criteria": {"true": "Anything at all."}},
        {"criteria": None},
    ],
)
def test_a_question_that_is_no_guards_text_is_none(change: dict[str, Any]) -> None:
    """SRV-17"""
    raw = written_out(preset_question("jailbreak")) | change
    assert not parse_question(raw, client=True).guards


def test_the_text_of_a_preset_that_guards_nothing_stays_the_clients_own() -> None:
    """SRV-17"""
    assert parse_question(written_out(preset_question("domain")), client=True).preset is None


def test_the_outcomes_of_a_noul_have_no_order() -> None:
    """S1-1, SRV-10"""
    yes, no = {"true": "yes"}, {"false": "no"}
    one, other = ({"type": "noul", "criteria": a | b} for a, b in ((yes, no), (no, yes)))
    assert parse_question(one, client=True) == parse_question(other, client=True)


def test_the_options_of_tool_rank_are_the_askers():
    """S1-5, JDG-3"""
    question = parse_question({"preset": "tool_rank", "choices": ["search", "mail"]}, client=True)
    assert question.instructions == preset_question("tool_rank").instructions
    assert [option.key for option in question.options] == ["search", "mail"]


def test_a_question_that_a_client_asks_again_is_the_same_instance() -> None:
    """SRV-10"""
    raw = {"type": "choice", "criteria": {"a": "one", "b": None}}
    again = {"type": "choice", "criteria": {"a": "one", "b": None}}
    assert client_question(raw) is client_question(again)
    assert client_question(raw) == parse_question(raw, client=True)
    assert client_question({**raw, "criteria": {"b": None, "a": "one"}}) != client_question(raw)


@given(JSON | QUESTIONS)
def test_remembering_changes_no_question(raw: Any) -> None:
    """S1-1"""
    for _ in range(2):
        try:
            expected = parse_question(raw, client=True)
        except QuestionError as error:
            with pytest.raises(QuestionError, match=re.escape(error.message)):
                client_question(raw)
        else:
            assert client_question(raw) == expected
