"""Authored labels asked in other words: what makes a question out of a preset (see forms.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from random import Random
from typing import Any, Final

from ruamel.yaml import YAML

from models.embedded.described import elements
from models.embedded.train.batches import Ask
from models.questions.types import Option, Question, QuestionType

FORMS: Final[Mapping[str, Any]] = YAML(typ="safe", pure=True).load(
    files("models.embedded.train").joinpath("forms.yaml").read_text("utf-8")
)


def reworded(ask: Ask, rng: Random) -> Ask:
    """``ask`` in another form with the truth that follows; itself where there is none."""
    forms = FORMS.get(ask.name)
    if forms is None:
        return ask
    kind = ask.question.type
    if kind is QuestionType.NOUL:
        return _noul(ask, forms, rng)
    if kind is QuestionType.SPAN:
        return _span(ask, forms, rng)
    if kind is QuestionType.CHOICE and "options" in forms:
        form = rng.random()
        if form < 0.5:
            return _choice(ask, forms, rng)
        if form < 0.85 or ask.name != "complexity":
            return _about(ask, forms, rng)
        return _levels(ask, forms, rng)
    if kind is QuestionType.CHOICE:
        question = Question(kind, rng.choice(forms["asked"]), ask.question.options)
        return Ask("worded.choice", question, ask.truth, ask.weight)
    return ask


def _noul(ask: Ask, forms: Mapping[str, Any], rng: Random) -> Ask:
    wording = rng.choice(forms["nouls"])
    inverted = wording.startswith("! ")
    wording = wording.removeprefix("! ")
    truth = bool(ask.truth) != inverted
    yes, no = rng.choice(forms["outcomes"])
    if inverted:
        yes, no = no, yes
    form = rng.random()
    if form < 0.5:
        return Ask("worded.noul", Question(QuestionType.NOUL, wording), truth, ask.weight)
    if form < 0.75:
        described = (Option("true", yes), Option("false", no))
        instructions = wording if rng.random() < 0.5 else ""
        question = Question(QuestionType.NOUL, instructions, described)
        return Ask("worded.noul", question, truth, ask.weight)
    options = [Option("a", yes), Option("b", no)]
    question = Question(QuestionType.CHOICE, wording, tuple(options))
    return Ask("worded.choice", question, int(not truth), ask.weight)


def _choice(ask: Ask, forms: Mapping[str, Any], rng: Random) -> Ask:
    options = list(ask.question.options)
    right = options[int(ask.truth)]  # type: ignore[arg-type]
    others = [o for o in options if o is not right]
    rng.shuffle(others)
    chosen = [right, *others[: rng.randint(1, len(others))]]
    rng.shuffle(chosen)
    described = tuple(_described(o, forms, rng) for o in chosen)
    question = Question(QuestionType.CHOICE, rng.choice(forms["asked"]), described)
    return Ask("worded.choice", question, chosen.index(right), ask.weight)


def _described(option: Option, forms: Mapping[str, Any], rng: Random) -> Option:
    names = forms["options"][option.key]
    form = rng.random()
    if form < 0.3:
        return Option(rng.choice([option.key, names[0]]))
    if form < 0.7 or option.text is None:
        return Option(option.key, rng.choice(names))
    return Option(option.key, rng.choice(elements(option.text)))


def _about(ask: Ask, forms: Mapping[str, Any], rng: Random) -> Ask:
    options = ask.question.options
    right = int(ask.truth)  # type: ignore[arg-type]
    others = [i for i in range(len(options)) if i != right]
    named = right if rng.random() < 0.5 else rng.choice(others)
    name = forms["options"][options[named].key][0]
    question = Question(QuestionType.NOUL, rng.choice(forms["about"]).format(name))
    return Ask("worded.noul", question, named == right, ask.weight)


def _levels(ask: Ask, forms: Mapping[str, Any], rng: Random) -> Ask:
    options = ask.question.options
    texts = [rng.choice(forms["options"][o.key]) for o in options]
    truth = int(ask.truth)  # type: ignore[arg-type]
    levels = tuple(Option(str(i), text) for i, text in enumerate(texts))
    question = Question(QuestionType.SCORE, rng.choice(forms["asked"]), levels)
    return Ask("worded.score", question, truth, ask.weight)


def _span(ask: Ask, forms: Mapping[str, Any], rng: Random) -> Ask:
    keys = [option.key for option in ask.question.options]
    rng.shuffle(keys)
    kept = keys[: rng.randint(1, len(keys))]
    labels = tuple(Option(key, rng.choice(forms["options"][key])) for key in kept)
    question = Question(QuestionType.SPAN, rng.choice(forms["asked"]), labels)
    return Ask("worded.span", question, ask.truth, ask.weight)
