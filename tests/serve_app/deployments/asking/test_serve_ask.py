"""The policy's ``Ask`` over handles, where there is nobody to ask. CFG-10, UNK-3"""

from __future__ import annotations

from models.questions.types import AnswerError, ErrorAnswer, Question, QuestionType
from serve_app.asking.call import Call, Entry
from serve_app.deployments.asking.serve_ask import ServeAsk


async def test_a_model_that_this_graph_lacks_is_not_ready() -> None:
    """CFG-10: a policy can name one that the graph has yet to gain"""
    entry = Entry("hello", {"q": Question(QuestionType.NOUL, "Is it?")})
    reply = await ServeAsk({})(Call("second", {"1": entry}))
    assert reply.answers == {"1": {"q": ErrorAnswer(AnswerError.NOT_READY)}}
