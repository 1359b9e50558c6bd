"""The layers of the code (spec 95-layout), as import-linter contracts in pyproject.toml."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEPLOYMENTS = "serve_app/deployments"
API = "serve_app.deployments.api"


def lint_imports(tree: Path) -> tuple[int, str]:
    """Exit status and report of import-linter on the packages under ``tree``."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


def test_every_contract_is_kept() -> None:
    status, report = lint_imports(ROOT)
    assert status == 0, report


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for package in ("serve_app", "models"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("serve_app/decisions/added.py", "import torch", "Policy has no effects"),
        ("serve_app/signals/added.py", "from time import monotonic", "Policy has no effects"),
        ("serve_app/config/added.py", "import serve_app.signals", "A request goes down"),
        ("serve_app/signals/added.py", "import serve_app.wire", "A request goes down"),
        ("serve_app/wire/added.py", "import serve_app.decisions", "Leaves hold no policy"),
        ("serve_app/unplaced.py", "", "A request goes down"),
        ("models/embedded/added.py", "import serve_app.errors", "Models know no router"),
        ("models/questions/added.py", "import models.engine", "Questions know no engine"),
        ("models/evaluation/added.py", "import models.engine", "Questions know no engine"),
        ("models/evaluation/added.py", "import torch", "Policy has no effects"),
        ("models/scheduling/added.py", "import ray", "The scheduler knows neither Serve nor torch"),
        (f"{DEPLOYMENTS}/unplaced.py", "", "Deployments are thin"),
        (f"{DEPLOYMENTS}/asking/added.py", f"import {API}", "Deployments are thin"),
        (f"{DEPLOYMENTS}/api/added.py", "import ray", "Only asking and processes know Ray"),
    ],
)
def test_a_violation_is_caught(tree: Path, module: str, line: str, contract: str) -> None:
    (tree / module).write_text(f"{line}\n")
    status, report = lint_imports(tree)
    assert status == 1
    assert any(shown.startswith(contract) and "BROKEN" in shown for shown in report.splitlines())
