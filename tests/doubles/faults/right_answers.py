"""What a remote System One API answers where nothing is wrong (S1-10, S1-11).

Written by hand, not with the router's own writer of answers: what reads them must not agree with
it by accident. An answer follows from the state and the question's content alone. None is near
certain: the likeliest option of a choice has less than ``CALM``, and so has every yes.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from models.questions.parse import parse_question
from models.questions.render import render
from models.questions.types import Question, QuestionType

CALM: Final = 0.9
MODEL: Final = "remote-1"

Json = dict[str, Any]


def entries_of(body: Json) -> dict[str, Json]:
    """Entry name -> ``{state, questions}``; a standard request under ``""``."""
    return body.get("states", {"": body})


def right_response(body: Json) -> Json:
    """The whole response to a call."""
    members = {name: _members(entry) for name, entry in entries_of(body).items()}
    if "states" not in body:
        return {"model": MODEL, **members[""]}
    total = sum(one["usage"]["input_tokens"] for one in members.values())
    return {
        "model": MODEL,
        "states": members,
        "usage": {"input_tokens": total, "output_tokens": 0},
    }


def _members(entry: Json) -> Json:
    state = render(entry["state"])
    answers: Json = {}
    sets: Json = {}
    spans: Json = {}
    for id, raw in entry["questions"].items():
        question = parse_question(raw, client=True)
        shares = _shares(state, question)
        keys = [option.key for option in question.options]
        match question.type:
            case QuestionType.NOUL:
                answers[id] = {"type": "noul", "noul": shares[0] / 2}
            case QuestionType.CHOICE:
                answers[id] = _choice(keys, shares)
            case QuestionType.SCORE:
                answers[id] = _score([option.text or "" for option in question.options], shares)
            case QuestionType.SET:
                answers |= {f"{id}.{k}": _noul(p) for k, p in zip(keys, shares, strict=True)}
                sets[id] = {"selected": [], "probabilities": dict(zip(keys, shares, strict=True))}
            case QuestionType.SPAN:
                found = shares[0] / 2
                answers[id] = _noul(found)
                spans[id] = [
                    {
                        "label": keys[0],
                        "start": 0,
                        "end": 1,
                        "text": state[:1],
                        "probability": found,
                    }
                ]
    members: Json = {
        "answers": answers,
        "usage": {"input_tokens": len(state) // 4, "output_tokens": 0},
    }
    return members | ({"sets": sets} if sets else {}) | ({"spans": spans} if spans else {})


def _shares(state: str, question: Question) -> list[float]:
    """Of each option, or of yes and no; they sum to 1, and no two are equal."""
    texts = [(option.key, option.text) for option in question.options]
    content = json.dumps([state, question.type, question.instructions, texts])
    draw = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()
    count = len(texts) if question.type is not QuestionType.NOUL else 2
    weights = [4 + draw[i % 32] % 8 + i / 256 for i in range(max(2, count))]
    return [weight / sum(weights) for weight in weights]


def _noul(probability: float) -> Json:
    return {"type": "noul", "noul": probability}


def _choice(keys: list[str], shares: list[float]) -> Json:
    best, n = max(shares), len(shares)
    return {
        "type": "choice",
        "choice": keys[shares.index(best)],
        "probabilities": dict(zip(keys, shares, strict=True)),
        "confidence": (best - 1 / n) / (1 - 1 / n),
    }


def _score(levels: list[str], shares: list[float]) -> Json:
    n = len(shares)
    k = shares.index(max(shares))
    middle = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    off = sum(p * abs(i - k) for i, p in enumerate(shares))
    return {
        "type": "score",
        "score": sum(i * p for i, p in enumerate(shares)),
        "legend": {str(i): level for i, level in enumerate(levels)},
        "probabilities": {str(i): p for i, p in enumerate(shares)},
        "confidence": max(0.0, 1 - off / middle),
    }
