"""Another driver of the same Ray instance: previews its arguments through the handle client."""

from __future__ import annotations

import asyncio
import json
import sys

import ray

from serve_app.client import RouterClient


async def main(prompts: list[str]) -> None:
    router = RouterClient.connect()
    print(json.dumps([await router.preview(prompt) for prompt in prompts]))


if __name__ == "__main__":
    ray.init(address="auto", log_to_driver=False)
    asyncio.run(main(sys.argv[1:]))
