"""The policy over engines of this process: SIG-3, API-9."""

from __future__ import annotations

from itertools import count

from models.engine import Row
from models.questions.types import NoulAnswer, Question, QuestionType
from serve_app.asking.call import Call, Entry
from serve_app.commands.local_ask import local_ask
from tests.doubles.engines import FixedTimeEngine, probability

A, B = Question(QuestionType.NOUL, "a?"), Question(QuestionType.NOUL, "b?")


async def test_each_entry_is_answered_about_its_own_state() -> None:
    """Alone and in a batch, in whatever bucket, an answer is that of its state and question."""
    long = "word " * 100
    entries = {
        "1": Entry({"request": "hi"}, {"x": A, "y": B}),
        "2": Entry({"history": [{"role": "user", "text": long}], "request": "hi"}, {"x": A}),
        "3": Entry({"request": "ho"}, {"z": B}),
    }
    ticks = count()
    ask = local_ask({"primary": FixedTimeEngine(0)}, clock=lambda: next(ticks))
    reply = await ask(Call("primary", entries))
    history = f"history:\n  - \n    role: user\n    text: {long}\nrequest: hi"
    assert reply.answers["1"] == {
        "x": NoulAnswer(probability("hi", A)),
        "y": NoulAnswer(probability("hi", B)),
    }
    assert reply.answers["3"] == {"z": NoulAnswer(probability("ho", B))}
    assert reply.answers["2"].keys() == {"x"}
    assert reply.answers["2"]["x"] != reply.answers["1"]["x"]
    engine = FixedTimeEngine(0)
    assert reply.tokens == {
        name: engine.prepare(Row(state, ())).tokens
        for name, state in {"1": "hi", "2": history, "3": "ho"}.items()
    }
    assert reply.timings is not None
    assert (reply.elapsed_ms, reply.timings.tokenize_ms, reply.timings.forward_ms) == (
        2000,
        1000,
        1000,
    )
