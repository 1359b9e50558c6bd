"""A burst that leaves the loop to others. BUD-2, BUD-4"""

from __future__ import annotations

import asyncio

from serve_app.deployments.asking.turnstile import PER_TURN, Turnstile


async def test_a_burst_goes_through_in_order_a_few_a_turn() -> None:
    turnstile = Turnstile()
    passed: list[int] = []

    async def sender(number: int) -> None:
        await turnstile.enter()
        passed.append(number)

    senders = [asyncio.create_task(sender(number)) for number in range(3 * PER_TURN)]
    await asyncio.sleep(0)
    assert passed == list(range(PER_TURN))
    await asyncio.gather(*senders)
    assert passed == list(range(3 * PER_TURN))


async def test_who_leaves_before_its_turn_takes_none() -> None:
    turnstile = Turnstile()
    senders = [asyncio.create_task(turnstile.enter()) for _ in range(PER_TURN + 2)]
    await asyncio.sleep(0)
    senders[-2].cancel()
    await senders[-1]
    await asyncio.gather(*senders, return_exceptions=True)
    assert senders[-2].cancelled()


def test_it_serves_the_loop_that_runs() -> None:
    """A loop that ended takes its waiters along."""
    turnstile = Turnstile()

    async def burst() -> None:
        await asyncio.gather(*(turnstile.enter() for _ in range(2 * PER_TURN)))

    asyncio.run(burst())
    asyncio.run(burst())
