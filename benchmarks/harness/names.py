"""Names that stand in tables and that verdicts look for."""

from typing import Final

EMBEDDED: Final = "embedded model"
FIXED: Final = "fixed 50 ms engine"

BARE: Final = "bare forward"
ENCODER: Final = "encoder alone"
FASTAPI: Final = "plain FastAPI"
LITSERVE: Final = "LitServe"
SYSTEMONE: Final = "graph, /v1/systemone"
PREVIEW: Final = "graph, preview"

ROUTE: Final = "route"
"""What ``benchmarks.policy`` calls deciding a request, without explaining it as a preview does."""


def litserve(timeout_ms: float) -> str:
    """LitServe with one batch timeout."""
    return f"{LITSERVE}, {timeout_ms:g} ms"
