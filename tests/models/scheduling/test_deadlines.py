"""Which calls ran out of time. BUD-2"""

from __future__ import annotations

from models.scheduling.deadlines import Deadlines
from models.scheduling.messages import ModelCall
from models.scheduling.work import Ticket


def ticket(remaining_s: float | None) -> Ticket:
    return Ticket(ModelCall((), remaining_s), 0.0)


def test_tickets_come_out_when_their_time_is_up() -> None:
    deadlines = Deadlines()
    late, early, never = ticket(2.0), ticket(1.0), ticket(None)
    for one in (late, early, never):
        deadlines.add(one)
    assert deadlines.next() == 1.0
    assert deadlines.expired(0.5) == []
    assert deadlines.expired(1.0) == [early]
    assert deadlines.expired(9.0) == [late]
    assert deadlines.next() is None


def test_an_answered_ticket_never_expires() -> None:
    deadlines = Deadlines()
    one = ticket(1.0)
    deadlines.add(one)
    deadlines.discard(one)
    deadlines.discard(one)
    assert deadlines.next() is None
    assert deadlines.expired(5.0) == []


def test_answered_tickets_do_not_pile_up_until_their_deadline() -> None:
    deadlines = Deadlines()
    kept = ticket(45.0)
    deadlines.add(kept)
    for _ in range(5000):
        one = ticket(45.0)
        deadlines.add(one)
        deadlines.discard(one)
    assert len(deadlines._heap) < 100
    assert deadlines.expired(45.0) == [kept]
