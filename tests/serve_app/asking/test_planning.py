"""Questions into calls: SIG-3, SIG-4, MRG-1, MRG-2, BUD-3."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.questions.types import Question, QuestionType
from serve_app.asking.call import Call
from serve_app.asking.planning import Wanted, plan

DEPLOYMENTS, STATES, IDS = ["a", "b"], [0, 1, 2], ["p", "q", "r"]


def question(id: str) -> Question:
    return Question(QuestionType.NOUL, id)


wanted = st.lists(
    st.builds(
        lambda deployment, state, id, timeout: Wanted(deployment, state, id, question(id), timeout),
        st.sampled_from(DEPLOYMENTS),
        st.sampled_from(STATES),
        st.sampled_from(IDS),
        st.one_of(st.none(), st.floats(0.001, 60)),
    ),
    max_size=12,
)
contents = st.fixed_dictionaries({state: st.sampled_from(["x", "y"]) for state in STATES})
deadlines = st.one_of(st.none(), st.floats(0, 60))


def bounded(call: Call, deadline_s: float | None) -> Call:
    return call if deadline_s is None else call.within(deadline_s)


@given(wanted, contents, deadlines)
def test_everything_wanted_is_asked_once_and_nothing_else(
    asked: list[Wanted[int]], states: dict[int, str], deadline_s: float | None
) -> None:
    calls = [bounded(planned.call(states)[0], deadline_s) for planned in plan(asked)]
    assert [call.deployment for call in calls] == sorted({one.deployment for one in asked})
    found = [
        (call.deployment, entry.state, id)
        for call in calls
        for entry in call.entries.values()
        for id in entry.questions
    ]
    assert len(found) == len(set(found))
    assert set(found) == {(one.deployment, states[one.state], one.id) for one in asked}


@given(wanted, contents)
def test_every_state_is_found_in_the_entry_it_is_named_for(
    asked: list[Wanted[int]], states: dict[int, str]
) -> None:
    for planned in plan(asked):
        call, names = planned.call(states)
        for one in asked:
            if one.deployment == planned.deployment:
                entry = call.entries[names[one.state]]
                assert entry.state == states[one.state]
                assert entry.questions[one.id] == one.question
        assert list(call.entries) == [str(i + 1) for i in range(len(call.entries))]


@given(wanted, contents)
def test_a_call_has_an_entry_for_each_distinct_state_in_their_order(
    asked: list[Wanted[int]], states: dict[int, str]
) -> None:
    """SIG-3, SIG-4: one is a standard request, more are a batch."""
    for planned in plan(asked):
        call, _ = planned.call(states)
        keys = sorted({one.state for one in asked if one.deployment == planned.deployment})
        distinct = list(dict.fromkeys(states[key] for key in keys))
        assert [entry.state for entry in call.entries.values()] == distinct


@given(wanted, contents, st.randoms())
def test_the_order_of_what_is_wanted_changes_no_call(
    asked: list[Wanted[int]], states: dict[int, str], random: st.DataObject
) -> None:
    """SIG-4: calls, entries and their names are the same."""
    shuffled = list(asked)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [p.call(states) for p in plan(asked)] == [p.call(states) for p in plan(shuffled)]


@given(wanted, contents, deadlines)
def test_a_call_waits_for_its_longest_bound_within_the_deadline(
    asked: list[Wanted[int]], states: dict[int, str], deadline_s: float | None
) -> None:
    """BUD-3"""
    infinite = float("inf")
    for planned in plan(asked):
        call = bounded(planned.call(states)[0], deadline_s)
        bounds = [
            infinite if one.timeout_s is None else one.timeout_s
            for one in asked
            if one.deployment == planned.deployment
        ]
        expected = min(max(bounds), infinite if deadline_s is None else deadline_s)
        assert (infinite if call.timeout_s is None else call.timeout_s) == expected
