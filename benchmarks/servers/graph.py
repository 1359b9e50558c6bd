"""This project's graph, started as it ships."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.harness.server import Server

FIXED_APPLICATION = "benchmarks.servers.fixed_graph:build"
"""No configuration can name the fixed engine: another application binds it in code."""

COMMAND = '. configs/local.sh && exec serve run "$0"'
"""What ``make serve`` runs, with the config file as its argument."""


def start_graph(config: Path, port: int, environment: Mapping[str, str], log: Path) -> Server:
    """``serve run`` of a Serve config file that says ``port``, result cache off."""
    return Server(
        ["sh", "-c", COMMAND, str(config)],
        port=port,
        health="/ready",
        environment={
            **environment,
            "RAY_ADDRESS": "local",  # never a Ray that already runs here
            "VLLM_SRUN_RESULT_CACHE": "0",
        },
        log=log,
    )
