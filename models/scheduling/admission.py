"""What is let in (SRV-8)."""

from __future__ import annotations

from models.questions.types import AnswerError
from models.scheduling.cost import CostModel
from models.scheduling.messages import Refusal
from models.scheduling.settings import Settings
from models.scheduling.work import Forward


class Backlog:
    """The rows that wait, summed."""

    def __init__(self) -> None:
        self.rows = 0
        self.tokens = 0

    def add(self, rows: int, tokens: int) -> None:
        self.rows += rows
        self.tokens += tokens


class Admission:
    """A bound on what waits or runs, in calls and in predicted seconds.

    A call counts until it is answered; its rows count until they are computed or dropped.
    """

    def __init__(self, settings: Settings, cost: CostModel) -> None:
        self._settings = settings
        self._cost = cost
        self.calls = 0
        self.backlog = Backlog()

    def queued_s(self, running: Forward | None, now: float) -> float:
        """Predicted seconds until everything admitted is computed."""
        backlog = self.backlog
        queued_s = self._predicted_s(backlog.rows, backlog.tokens)
        if running is not None:
            queued_s += max(0.0, running.formed + running.predicted_s - now)
        return queued_s

    def refusal(
        self, rows: int, tokens: int, running: Forward | None, now: float
    ) -> Refusal | None:
        """Whether a call that adds ``rows`` of ``tokens`` must be refused.

        Where nothing waits a call of any size is let in: it could not be served better elsewhere
        in time. Where no call is open one is let in whatever the bounds.
        """
        queued_s = self.queued_s(running, now)
        total_s = queued_s + self._predicted_s(rows, tokens)
        too_long = rows and self.backlog.rows and total_s > self._settings.max_queue_s
        too_many = self.calls and self.calls >= self._settings.max_calls
        return Refusal(AnswerError.OVERLOADED, queued_s) if too_long or too_many else None

    def _predicted_s(self, rows: int, tokens: int) -> float:
        budget = self._settings.budget
        return self._cost.seconds(tokens, max(tokens / budget.tokens, rows / budget.rows))
