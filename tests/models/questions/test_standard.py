"""The body of a call and its response: S1-9, S1-10, S1-11, S1-12."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.questions.standard import RequestError, parse_body, response
from models.questions.types import AnswerError, ErrorAnswer, NoulAnswer, SetAnswer
from tests.doubles.json_values import JSON, QUESTIONS

IS_IT = {"type": "noul", "instructions": "Is it?"}
BAD = {"type": "boolean"}


def body(questions, **extra):
    return {"model": "m", "state": "text", "questions": questions, **extra}


def refused(raw, **options):
    with pytest.raises(RequestError) as error:
        parse_body(raw, **options)
    return error.value.problems


BODIES = st.fixed_dictionaries(
    {},
    optional={
        "model": st.just("m") | JSON,
        "state": JSON,
        "questions": JSON | st.dictionaries(st.text(max_size=3), QUESTIONS, max_size=4),
        "states": JSON
        | st.dictionaries(
            st.text(max_size=3),
            st.fixed_dictionaries(
                {"state": st.text(), "questions": st.dictionaries(st.text(max_size=3), QUESTIONS)}
            ),
            max_size=3,
        ),
        "options": JSON | st.fixed_dictionaries({"deadline_ms": JSON, "return_meta": JSON}),
    },
)


@given(JSON | BODIES)
def test_any_json_is_a_call_or_a_request_error(raw):
    """S1-9"""
    try:
        asked = parse_body(raw).asked()
    except RequestError as error:
        problems = error.problems
    else:
        assert asked
        return
    assert problems
    assert all(problem.loc[0] == "body" for problem in problems)
    assert all(len(part) <= 64 for p in problems for part in p.loc if isinstance(part, str))


def test_a_standard_request_is_one_row():
    """S1-10, S1-1"""
    parsed = parse_body(body({"a": IS_IT}, state={"request": "hello"}))
    ((state, questions),) = parsed.asked()
    assert state == "hello"
    assert len(questions) == 1
    assert not parsed.batch
    assert response(parsed, "m-1", [(NoulAnswer(0.5),)], [3]) == {
        "model": "m-1",
        "answers": {"a": {"type": "noul", "noul": 0.5}},
        "usage": {"input_tokens": 3, "output_tokens": 0},
    }


def test_a_batch_answers_each_state_under_its_name_and_sums_usage():
    """S1-10"""
    parsed = parse_body(
        {
            "model": "m",
            "states": {
                "2": {"state": "second", "questions": {"a": IS_IT}},
                "1": {"state": ["first"], "questions": {"a": IS_IT, "b": BAD}},
            },
        }
    )
    assert [state for state, _ in parsed.asked()] == ["second", "- first"]
    result = response(parsed, "m", [(NoulAnswer(0.1),), (NoulAnswer(0.9),)], [4, 5])
    assert result["usage"] == {"input_tokens": 9, "output_tokens": 0}
    assert result["states"]["2"] == {
        "answers": {"a": {"type": "noul", "noul": 0.1}},
        "usage": {"input_tokens": 4, "output_tokens": 0},
    }
    assert result["states"]["1"]["answers"]["a"]["noul"] == 0.9
    assert result["states"]["1"]["answers"]["b"]["error"] == "invalid_question"
    assert "answers" not in result


def test_an_entry_without_a_valid_question_is_not_asked_and_fails_alone():
    """S1-12"""
    parsed = parse_body(
        {
            "model": "m",
            "states": {
                "1": {"state": "x", "questions": {"a": BAD}},
                "2": {"state": "y", "questions": {"a": IS_IT}},
            },
        }
    )
    assert [state for state, _ in parsed.asked()] == ["y"]
    result = response(parsed, "m", [(NoulAnswer(0.9),)], [5])
    assert result["states"]["1"]["answers"]["a"]["error"] == "invalid_question"
    assert result["states"]["2"]["answers"]["a"]["noul"] == 0.9


def test_a_bad_question_among_good_ones_is_answered_in_its_place():
    """S1-12, LIM-1"""
    parsed = parse_body(
        body({"bad": {"type": "choice", "choices": [str(i) for i in range(300)]}, "good": IS_IT})
    )
    answers = response(parsed, "m", [(NoulAnswer(0.5),)], [1])["answers"]
    assert list(answers) == ["bad", "good"]
    assert answers["bad"]["error"] == "invalid_question"
    assert "300" in answers["bad"]["message"]
    assert answers["good"]["noul"] == 0.5


@pytest.mark.parametrize(
    ("questions", "loc"),
    [
        ({"a": BAD}, ("body", "questions", "a", "type")),
        ({"a": {"type": "noul"}}, ("body", "questions", "a")),
        (
            {"a": {"type": "score", "levels": [str(i) for i in range(11)]}},
            ("body", "questions", "a", "criteria"),
        ),
    ],
)
def test_a_call_without_a_valid_question_is_refused_naming_it(questions, loc):
    """S1-12, LIM-1"""
    assert [problem.loc for problem in refused(body(questions))] == [loc]


@pytest.mark.parametrize(
    ("raw", "loc"),
    [
        (None, ("body",)),
        ([], ("body",)),
        ({"state": "x", "questions": {"a": IS_IT}}, ("body", "model")),
        (body({"a": IS_IT}, model=7), ("body", "model")),
        (body({"a": IS_IT}, model=None), ("body", "model")),
        ({"model": "m", "questions": {"a": IS_IT}}, ("body", "state")),
        (body({"a": IS_IT}, state=None), ("body", "state")),
        (body({"a": IS_IT}, state=3), ("body", "state")),
        ({"model": "m", "state": "x"}, ("body", "questions")),
        (body({}), ("body", "questions")),
        (body([IS_IT]), ("body", "questions")),
        (body({"": IS_IT}), ("body", "questions", "")),
        (body({"a": IS_IT}, options=[]), ("body", "options")),
        (body({"a": IS_IT}, options={"deadline_ms": 0}), ("body", "options", "deadline_ms")),
        (body({"a": IS_IT}, options={"deadline_ms": True}), ("body", "options", "deadline_ms")),
        (body({"a": IS_IT}, options={"return_meta": 1}), ("body", "options", "return_meta")),
        ({"model": "m", "states": {}}, ("body", "states")),
        ({"model": "m", "states": {"1": "x"}}, ("body", "states", "1")),
        ({"model": "m", "states": {"1": {"state": "x"}}}, ("body", "states", "1", "questions")),
        (
            {
                "model": "m",
                "state": "x",
                "states": {"1": {"state": "x", "questions": {"a": IS_IT}}},
            },
            ("body", "state"),
        ),
        (
            {"model": "m", "states": {"": {"state": "x", "questions": {"a": IS_IT}}}},
            ("body", "states", ""),
        ),
    ],
)
def test_a_wrong_shape_is_refused_whole(raw, loc):
    """S1-9, S1-12"""
    assert loc in [problem.loc for problem in refused(raw)]


def test_every_problem_of_the_shape_is_listed():
    """S1-9"""
    assert {p.loc for p in refused({"options": 3})} == {
        ("body", "model"),
        ("body", "options"),
        ("body", "state"),
        ("body", "questions"),
    }


def test_an_absent_model_may_have_a_default():
    """S1-8"""
    raw = {"state": "x", "questions": {"a": IS_IT}}
    assert parse_body(raw, default_model="embedded").model == "embedded"


def test_unknown_fields_are_ignored_and_options_are_read():
    """S1-10"""
    parsed = parse_body(
        body(
            {"a": {**IS_IT, "seed": 7}},
            x_trace_id="t",
            options={"deadline_ms": 1500, "return_meta": True, "other": 1},
        )
    )
    assert parsed.deadline_ms == 1500
    result = response(parsed, "m", [(NoulAnswer(0.5),)], [1], meta={"forward_ms": 4.5})
    assert result["x_meta"] == {"forward_ms": 4.5}
    plain = response(parse_body(body({"a": IS_IT})), "m", [(NoulAnswer(0.5),)], [1], meta={"q": 1})
    assert "x_meta" not in plain


@pytest.mark.parametrize(
    ("ids", "bad"),
    [
        ({"s": ["x", "y"], "s.x": None}, {"s"}),
        ({"s.x": None, "s": ["x"]}, {"s"}),
        ({"s": ["x.y"], "s.x": ["y"]}, {"s", "s.x"}),
        ({"s": ["x"], "t": ["x"], "u": None}, set()),
    ],
)
def test_a_set_whose_labels_collide_is_invalid_whatever_the_order(ids, bad):
    """S1-12, S1-4"""
    questions = {
        id: IS_IT if labels is None else {"type": "set", "labels": labels}
        for id, labels in ids.items()
    }
    questions["other"] = IS_IT
    for ordered in (questions, dict(reversed(questions.items()))):
        parsed = parse_body(body(ordered))
        (request,) = parsed.requests.values()
        wrong = {id for id, q in request.questions.items() if isinstance(q, ErrorAnswer)}
        assert wrong == bad


def test_errors_of_the_model_stand_beside_its_answers():
    """S1-12, S1-11"""
    parsed = parse_body(body({"a": IS_IT, "s": {"type": "set", "labels": ["x"]}}))
    answers = (ErrorAnswer(AnswerError.MAX_LENGTH_EXCEEDED), SetAnswer(("x",), (0.7,)))
    result = response(parsed, "m", [answers], [9000])
    assert result["answers"]["a"]["error"] == "max_length_exceeded"
    assert result["sets"]["s"]["selected"] == ["x"]


def test_a_long_id_is_cut_in_the_location_and_kept_in_the_answers():
    """S1-2, S1-9"""
    long = "q" * 500
    assert len(refused(body({long: BAD}))[0].loc[2]) == 64
    parsed = parse_body(body({long: IS_IT}))
    assert list(response(parsed, "m", [(NoulAnswer(0.5),)], [1])["answers"]) == [long]


def test_a_state_nested_too_deeply_is_refused():
    """S1-9"""
    deep: object = "end"
    for _ in range(5_000):
        deep = [deep]
    assert refused(body({"a": IS_IT}, state=deep))[0].loc == ("body", "state")


def test_a_calibrated_threshold_of_the_preset_is_given_back():
    """S1-11, S1-14"""
    parsed = parse_body(body({"a": {"preset": "jailbreak"}, "b": IS_IT}))
    result = response(
        parsed, "m", [(NoulAnswer(0.5), NoulAnswer(0.5))], [1], thresholds={"jailbreak": 0.4}
    )
    assert result["thresholds"] == {"a": 0.4}
