"""A call to a remote API, asked again without what it names as bad (MRG-4 to MRG-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from models.questions.types import Answer, AnswerError, ErrorAnswer
from serve_app.asking.call import Call, Entry, Reply
from serve_app.asking.remote.answers import read_answers
from serve_app.asking.remote.body import call_body
from serve_app.asking.remote.exchange import RemoteError, Send
from serve_app.asking.remote.failure import Failure, read_failure
from serve_app.asking.stage import Clock

MOST_POSTS: Final = 3
"""The call, the retry without what it named, and the last without that on any entry (MRG-5). One
that is posted again because a kept connection was closed uses up one of the three."""

LAST_WORD_S: Final = 0.02
"""Retries end this much before the asker's wait, and at most a tenth of it."""


async def ask_remote(call: Call, model: str, send: Send, clock: Clock, *, batch: bool) -> Reply:
    """Posts at most ``MOST_POSTS`` times within ``call.timeout_s``, always in the same form.

    ``batch``: the form; a call that lost entries to a cache keeps that of the one it was. Retries
    end a little before the asker's wait: what is known by then must still get there.
    """
    began = clock()
    asking = _Asking(call.entries)
    again: frozenset[str] = frozenset()
    sends = posts = 0
    tokens: Mapping[str, int] = {}
    retry_after_s = None
    while asking.entries:
        left_s = _left_s(call.timeout_s, clock() - began, again=sends > 0)
        if left_s is not None and left_s <= 0:
            asking.fail(AnswerError.DEADLINE_EXCEEDED)
            break
        body = call_body(asking.entries, model, batch=batch)
        sends += 1
        try:
            answer = await send(body, left_s, sends > 1)
        except RemoteError as error:
            posts += error.posts
            asking.fail(error.reason)
            break
        posts += answer.posts
        if answer.status == 200:
            read = read_answers(asking.entries, answer.body, batch=batch)
            asking.answer(read.answers)
            tokens = read.tokens
            break
        failure = read_failure(answer, asking.entries, batch=batch)
        retry_after_s = failure.retry_after_s
        named = {one.question for one in failure.named if one.question is not None}
        repeated = again & named
        asking.drop(failure, repeated)
        if posts >= MOST_POSTS or not _ask_again(sends, failure, repeated):
            asking.fail(failure.reason)
        again = frozenset(named)
    return Reply(
        asking.answers(call),
        tokens,
        elapsed_ms=(clock() - began) * 1000,
        attempts=posts,
        retry_after_s=retry_after_s,
    )


def _left_s(timeout_s: float | None, passed_s: float, *, again: bool) -> float | None:
    if timeout_s is None:
        return None
    return timeout_s - passed_s - (min(LAST_WORD_S, timeout_s / 10) if again else 0.0)


def _ask_again(sends: int, failure: Failure, repeated: Set[str]) -> bool:
    """A first failure must name something, a second the same question as the first: on another
    entry, since the first's is not asked any more."""
    return bool(failure.named if sends == 1 else repeated)


class _Asking:
    """``entries``: what is still to answer; what became of the rest is kept."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = {name: entry for name, entry in entries.items() if entry.questions}
        self._answers: dict[str, dict[str, Answer]] = {name: {} for name in entries}

    def drop(self, failure: Failure, everywhere: Set[str]) -> None:
        """Ends what the failure names, where it names it; a question of ``everywhere``, and one
        named without its entry, on all."""
        for named in failure.named:
            if named.rejects_entry and named.entry in self.entries:
                questions = list(self.entries[named.entry].questions)
                self._drop(named.entry, questions, named.reason)
            elif named.question is not None and named.entry is not None:
                self._drop(named.entry, [named.question], named.reason)
        for named in failure.named:
            if named.question is not None and (named.entry is None or named.question in everywhere):
                for name in list(self.entries):
                    self._drop(name, [named.question], named.reason)

    def fail(self, reason: AnswerError) -> None:
        """Ends everything that is left."""
        for name, entry in list(self.entries.items()):
            self._drop(name, list(entry.questions), reason)

    def answer(self, answers: Mapping[str, Mapping[str, Answer]]) -> None:
        """Ends everything that is left with its answer."""
        for name in self.entries:
            self._answers[name].update(answers[name])
        self.entries = {}

    def answers(self, call: Call) -> dict[str, dict[str, Answer]]:
        """In the order of the call."""
        return {
            name: {id: self._answers[name][id] for id in entry.questions}
            for name, entry in call.entries.items()
        }

    def _drop(self, name: str, ids: Iterable[str], reason: AnswerError) -> None:
        entry = self.entries.get(name)
        if entry is None:
            return
        error = ErrorAnswer(reason)
        dropped = [id for id in ids if id in entry.questions]
        self._answers[name].update(dict.fromkeys(dropped, error))
        left = {id: q for id, q in entry.questions.items() if id not in dropped}
        if left:
            self.entries[name] = Entry(entry.state, left)
        else:
            del self.entries[name]
