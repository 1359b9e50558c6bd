"""One wrong answer, whatever its type may be; of those types, the nouls."""

from __future__ import annotations

from tests.doubles.faults.right_answers import Json
from tests.doubles.faults.spoiling import SpoiltAnswers

answers = SpoiltAnswers()
spoils, sets, lacks, becomes = answers.spoils, answers.sets, answers.lacks, answers.becomes

sets("noul-nan", "writes NaN for a noul", "noul", "noul", float("nan"))
sets("noul-infinity", "writes Infinity for a noul", "noul", "noul", float("inf"))
sets("noul-above", "writes 1.5 for a noul", "noul", "noul", 1.5)
sets("noul-below", "writes -0.5 for a noul", "noul", "noul", -0.5)
sets("noul-string", "writes a noul as a string", "noul", "noul", "0.1")
sets("noul-bool", "writes false for a noul", "noul", "noul", False)
sets("noul-null", "writes null for a noul", "noul", "noul", None)
sets("noul-list", "writes a list for a noul", "noul", "noul", [0.1])
sets("noul-type", "says that a noul is a boolean", "noul", "type", "boolean")
sets("noul-type-odd", "says that a noul is of type {}", "noul", "type", {})
lacks("noul-no-type", "leaves out a noul's type", "noul", "type")
lacks("noul-empty", "leaves out a noul's number", "noul", "noul")
becomes("noul-missing", "writes null for the answer to a noul", "noul", None)
becomes("noul-bare", "writes a number for the answer to a noul", "noul", 0.1)
becomes("noul-choice", "answers a noul with a choice", "noul", {"type": "choice", "choice": "x"})

_ERROR = {"type": "error", "error": "max_length_exceeded", "message": "Too long."}
becomes("in-place", "answers a noul with an error in its place", "noul", _ERROR)
becomes("in-place-choice", "answers a choice with an error in its place", "choice", _ERROR)
becomes("in-place-odd", "gives a reason nobody knows", "noul", _ERROR | {"error": "tired"})
becomes("in-place-null", "gives null for a reason", "noul", _ERROR | {"error": None})


@spoils("missing", "leaves out the answer to a noul", "noul")
def missing(members: Json, id: str) -> None:
    del members["answers"][id]


@spoils("extra", "answers a question nobody asked", "noul")
def extra(members: Json, id: str) -> None:
    members["answers"]["never"] = {"type": "noul", "noul": 1.0}


@spoils("swapped", "answers a noul under another id", "noul")
def swapped(members: Json, id: str) -> None:
    members["answers"][id.upper()] = members["answers"].pop(id)


@spoils("nan-unread", "writes NaN into a member nobody reads", "noul")
def nan_unread(members: Json, id: str) -> None:
    members["x_debug"] = float("nan")


@spoils("float-usage", "counts tokens in fractions", "noul")
def float_usage(members: Json, id: str) -> None:
    members["usage"] = {"input_tokens": 3.5, "output_tokens": "none"}


@spoils("no-usage", "counts no tokens", "noul")
def no_usage(members: Json, id: str) -> None:
    del members["usage"]
