"""Another driver of the same Ray instance: previews its argument through the handle client until
its standard input ends, an answer a line with the machine's monotonic time when it was asked."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time

import ray

from serve_app.client import RouterClient


async def main(prompt: str) -> None:
    router = RouterClient.connect()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        began = time.monotonic()
        answer = await router.preview(prompt)
        print(json.dumps({"began": began, "answer": answer}), flush=True)
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    ray.init(address="auto", log_to_driver=False)
    asyncio.run(main(sys.argv[1]))
