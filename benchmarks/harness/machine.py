"""The machine, in a few lines of a record."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("ray", "torch", "fastapi", "uvicorn", "litserve", "uvloop", "httptools", "orjson")


def describe(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Processor, memory, kernel, Python, the packages' versions and the load averages."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} × {processor(Path('/proc/cpuinfo').read_text())}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "packages": ", ".join(f"{name} {_version(name)}" for name in packages),
        "load average before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }


def processor(cpuinfo: str) -> str:
    """The model's name in the text of ``/proc/cpuinfo``."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
