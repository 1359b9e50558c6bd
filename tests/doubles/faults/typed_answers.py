"""One wrong answer of several probabilities: a choice, a score, a set, a span."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from tests.doubles.faults.right_answers import Json
from tests.doubles.faults.spoiling import SpoiltAnswers

typed_answers = SpoiltAnswers()
spoils, sets, lacks = typed_answers.spoils, typed_answers.sets, typed_answers.lacks

sets("choice-other", "names a choice that is no option", "choice", "choice", "nobody")
sets("choice-null-probabilities", "writes null for probabilities", "choice", "probabilities", None)
sets("choice-list-probabilities", "writes a list of them", "choice", "probabilities", [1.0])
lacks("choice-no-probabilities", "leaves out a choice's probabilities", "choice", "probabilities")
lacks("choice-no-choice", "leaves out which option was chosen", "choice", "choice")
lacks("choice-no-confidence", "leaves out a choice's confidence", "choice", "confidence")
sets("choice-confidence", "writes 7 for a choice's confidence", "choice", "confidence", 7)

sets("score-beyond", "writes a score above the highest level", "score", "score", 99.0)
sets("score-null", "writes null for a score", "score", "score", None)
lacks("score-no-legend", "leaves out the legend", "score", "legend")
lacks("score-no-probabilities", "leaves out a score's probabilities", "score", "probabilities")


def _choice(name: str, does: str, change: Callable[[Json, str], Json]) -> None:
    """A fault that maps a choice's probabilities, told which option is the likeliest."""

    @spoils(f"choice-{name}", does, "choice")
    def spoil(members: Json, id: str) -> None:
        answer = members["answers"][id]
        answer["probabilities"] = change(answer["probabilities"], answer["choice"])


def _other(probabilities: Json, best: str) -> str:
    return next(key for key in probabilities if key != best)


def _negative(probabilities: Json, best: str) -> Json:
    """Sums to 1 as before, and the likeliest stays it."""
    low = _other(probabilities, best)
    return probabilities | {low: -0.1, best: probabilities[best] + probabilities[low] + 0.1}


def _without(probabilities: Json, best: str) -> Json:
    low = _other(probabilities, best)
    left = {key: share for key, share in probabilities.items() if key != low}
    return left | {best: probabilities[best] + probabilities[low]}


def _nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


_choice("sum", "probabilities sum to 1.2", lambda p, _: {k: v * 1.2 for k, v in p.items()})
_choice("nan", "one probability is NaN", lambda p, best: p | {_other(p, best): float("nan")})
_choice("string", "probabilities are strings", lambda p, _: {k: str(v) for k, v in p.items()})
_choice("bool", "probabilities are true and false", lambda p, best: {k: k == best for k in p})
_choice("negative", "a probability is negative", _negative)
_choice("unknown-key", "an option nobody offered has a share", lambda p, _: p | {"nobody": 0.0})
_choice("missing-key", "an option has no share", _without)
_choice("nfd", "options come back decomposed", lambda p, _: {_nfd(k): v for k, v in p.items()})
_choice(
    "lower", "options come back in lower case", lambda p, _: {k.lower(): v for k, v in p.items()}
)
_choice("order", "options come back in reverse", lambda p, _: dict(reversed(p.items())))


@spoils("choice-second", "names the least likely option as chosen", "choice")
def choice_second(members: Json, id: str) -> None:
    answer = members["answers"][id]
    answer["choice"] = min(answer["probabilities"], key=answer["probabilities"].get)


@spoils("score-argmax", "writes the likeliest level, not the expected one", "score")
def score_argmax(members: Json, id: str) -> None:
    answer = members["answers"][id]
    shares = answer["probabilities"]
    answer["score"] = float(max(shares, key=shares.get))


def _from_1(name: str, does: str, member: str) -> None:
    @spoils(name, does, "score")
    def spoil(members: Json, id: str) -> None:
        answer = members["answers"][id]
        answer[member] = {str(int(k) + 1): v for k, v in answer[member].items()}


_from_1("legend-1-based", "numbers the levels of a legend from 1", "legend")
_from_1("score-keys-1-based", "numbers a score's probabilities from 1", "probabilities")


@spoils("legend-other", "returns another legend than was asked about", "score")
def legend_other(members: Json, id: str) -> None:
    legend = members["answers"][id]["legend"]
    members["answers"][id]["legend"] = dict(zip(legend, reversed(legend.values()), strict=True))


@spoils("set-no-sets", "leaves out what a set selected", "set")
def set_no_sets(members: Json, id: str) -> None:
    del members["sets"]


@spoils("set-missing-label", "leaves out one label of a set", "set")
def set_missing_label(members: Json, id: str) -> None:
    label = next(iter(members["sets"][id]["probabilities"]))
    del members["sets"][id]["probabilities"][label]
    del members["answers"][f"{id}.{label}"]


@spoils("set-above", "gives a label of a set a share above 1", "set")
def set_above(members: Json, id: str) -> None:
    label = next(iter(members["sets"][id]["probabilities"]))
    members["sets"][id]["probabilities"][label] = 1.5
    members["answers"][f"{id}.{label}"]["noul"] = 1.5


def _span(name: str, does: str, change: Json) -> None:
    """A fault that changes the one span found."""

    @spoils(f"span-{name}", does, "span")
    def spoil(members: Json, id: str) -> None:
        members["spans"][id][0] |= change


_span("label", "finds a label nobody asked for", {"label": "NOBODY"})
_span("backwards", "finds a span that ends before it starts", {"start": 3, "end": 1, "text": ""})
_span("before", "finds a span that starts before the text", {"start": -1, "text": ""})
_span("beyond", "finds a span that ends behind the text", {"end": 10_000})
_span("bool", "counts a span's places in booleans", {"start": False, "end": True})
_span("text", "quotes another text than stands there", {"text": "other"})
_span("above", "gives a span a probability above 1", {"probability": 1.5})
_span("nan", "gives a span the probability NaN", {"probability": float("nan")})


@spoils("span-no-spans", "leaves out the spans", "span")
def span_no_spans(members: Json, id: str) -> None:
    del members["spans"]


@spoils("span-string", "gives a string for the spans", "span")
def span_string(members: Json, id: str) -> None:
    members["spans"][id] = "none"


@spoils("span-null", "gives null for one span", "span")
def span_null(members: Json, id: str) -> None:
    members["spans"][id] = [None]
