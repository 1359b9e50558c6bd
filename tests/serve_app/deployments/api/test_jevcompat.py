"""The public conformance suite of System One against the application (S1-6)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.serve_app.deployments.api.conftest import Start, document, model

NOWHERE = "http://127.0.0.1:9/v1"
KEY = "key-of-ops"


async def jevcompat(url: str, report: Path, *options: str) -> int:
    program = Path(sys.executable).with_name("jevcompat")
    process = await asyncio.create_subprocess_exec(
        *(str(program), "test", url, "--json", str(report), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    await process.communicate()
    assert process.returncode is not None
    return process.returncode


@pytest.mark.parametrize("keyed", [False, True], ids=["auth off", "auth on"])
async def test_every_must_and_every_should_of_the_suite_passes(
    start: Start, tmp_path: Path, keyed: bool
) -> None:
    callers = [{"name": "ops", "api_key_env": "OPS_KEY"}] if keyed else None
    config = document(model("general", NOWHERE), callers=callers)
    async with start(config, {"OPS_KEY": KEY}) as router:
        options = ("--key", KEY) if keyed else ()
        code = await jevcompat(router.url, tmp_path / "report.json", *options)
    report = json.loads((tmp_path / "report.json").read_text())
    assert [r["id"] for r in report["results"] if r["status"] == "fail"] == []
    assert report["inconclusive"] == []
    assert report["summary"]["MUST"]["passed"] == 32
    assert report["summary"]["SHOULD"]["passed"] == (15 if keyed else 13)
    assert code == 0
