"""Another Ray Serve app that uses the router from Python: sorts support tickets.

Deploy it beside the router (``serve run`` with both applications), or run it as a script
against a running router:

    python examples/ticket_triage.py "I was charged twice and nobody answers my mails!"
"""

from __future__ import annotations

import asyncio
import sys

import ray
from ray import serve

from serve_app.client import RouterClient

QUESTIONS = {
    "angry": {"type": "noul", "instructions": "Is the writer of this ticket angry?"},
    "team": {
        "type": "choice",
        "instructions": "Which team should answer this ticket?",
        "criteria": {
            "billing": "Invoices, payments, charges and refunds",
            "technical": "Errors, crashes and things that do not work",
            "sales": "Prices, plans and offers before a purchase",
        },
    },
}


@serve.deployment(ray_actor_options={"num_cpus": 0.1})
class TicketTriage:
    """``triage`` returns the team and how angry the writer is, 0 to 1."""

    def __init__(self) -> None:
        self._router = RouterClient.connect()

    async def triage(self, ticket: str) -> tuple[str, float]:
        answers = (await self._router.ask(ticket, QUESTIONS))["answers"]
        return answers["team"]["choice"], answers["angry"]["noul"]


app = TicketTriage.bind()


async def main(ticket: str) -> None:
    router = RouterClient.connect()
    answers = await router.ask(ticket, QUESTIONS)
    print("answers:", answers["answers"])
    preview = await router.preview(ticket)
    print("decision:", preview["decision"], "model:", preview["model"])


if __name__ == "__main__":
    ray.init(address="auto", log_to_driver=False)
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "My invoice is wrong again!"))
