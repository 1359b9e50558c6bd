"""Every fault that the fault server has, by name."""

from __future__ import annotations

from typing import Final

from tests.doubles.faults.answers import answers
from tests.doubles.faults.bodies import bodies
from tests.doubles.faults.connections import connections
from tests.doubles.faults.exchange import Fault
from tests.doubles.faults.refusals import refusals
from tests.doubles.faults.typed_answers import typed_answers

FAULTS: Final[dict[str, Fault]] = {
    name: fault
    for table in (connections, bodies, refusals, answers, typed_answers)
    for name, fault in table.faults.items()
}
UNREACHABLE: Final = {
    "refused": "nobody listens",
    "closed-at-once": "accepts connections and closes them before a byte",
    "no-tls": "is spoken to in TLS and answers in plain text",
}
"""Faults of the address, not of a path: name -> what they do."""
