"""Views and windows: what is written beside what the model reads (SIZE-1, SIZE-2)."""

from __future__ import annotations

from serve_app.config.checks.review import Review
from serve_app.config.schema.catalog import MOST_TOKENS, Deployment
from serve_app.config.sizes import BYTES_A_TOKEN, hard_limit, sizes_of, window_tokens
from serve_app.config.tree import Loc


def check_sizes(review: Review, loc: Loc, name: str, deployment: Deployment) -> None:
    scan = deployment.scan_window
    at: Loc = (*loc, "scan_window")
    if not _in_range(review, at, deployment):
        return
    card = review.card(name)
    if card is None:
        return
    limit = hard_limit(deployment, card)
    if limit is None:
        return
    written = {
        (*loc, "routing_view", "max_tokens"): deployment.routing_view.max_tokens,
        (*at, "tokens"): scan.tokens,
        (*at, "max_tokens"): scan.max_tokens,
    }
    window = sizes_of(deployment, card)
    if scan.overlap is not None and window.overlap < scan.overlap * BYTES_A_TOKEN:
        what = f"is more than a quarter of the window: {window.overlap} bytes are used"
        review.warn((*at, "overlap"), what)
    for place, value in written.items():
        if value is not None and value * BYTES_A_TOKEN > limit:
            review.warn(place, f"is more than the model reads for certain: {limit} bytes are used")


def _in_range(review: Review, at: Loc, deployment: Deployment) -> bool:
    """Reports what is beyond the range that a window's tokens give it (SIZE-2). Tokens that are
    wrong themselves give none."""
    if not review.whole((*at, "tokens")):
        return False
    scan, tokens = deployment.scan_window, window_tokens(deployment)
    found = len(review.problems)
    if scan.overlap is not None and not 0 <= 2 * scan.overlap < tokens:
        what = f"out of range: 0 to less than half a window of {tokens} tokens"
        review.error((*at, "overlap"), what)
    if scan.max_tokens is not None and not tokens <= scan.max_tokens <= MOST_TOKENS:
        what = f"out of range: scan_window.tokens, {tokens}, to {MOST_TOKENS}"
        review.error((*at, "max_tokens"), what)
    return len(review.problems) == found
