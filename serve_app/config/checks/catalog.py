"""Providers and ``global``: models, decision models, callers (CFG-2, CFG-3, API-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import HttpUrl

from serve_app.config.checks.names import unique
from serve_app.config.checks.review import Review
from serve_app.config.checks.sizes import check_sizes
from serve_app.config.schema.catalog import SYSTEMONE_PATH, LocalDeployment, RemoteDeployment
from serve_app.config.tree import Loc

_CATALOG: Loc = ("global", "model_catalog")
_ROUTER: Loc = ("global", "router")


def check_catalog(review: Review) -> None:
    _check_providers(review)
    _check_deployments(review)
    _check_callers(review)
    for loc, variable in _variables(review):
        if not review.environ.get(variable):
            review.warn(loc, f"the environment here does not set {variable}")


def _check_providers(review: Review) -> None:
    providers = review.config.providers
    default = providers.defaults.default_model
    if default is not None and default not in review.declared.models:
        review.error(
            ("providers", "defaults", "default_model"),
            "there is no such model",
            name=default,
            allowed=review.declared.models,
        )
    for m, model in enumerate(providers.models):
        for b, backend in enumerate(model.backends):
            loc: Loc = ("providers", "models", m, "backends", b, "base_url")
            _check_url(review, loc, backend.base_url, "paths are appended to it")
            if model.api_format == "anthropic" and backend.base_url.path in (None, "/"):
                # Anthropic's own clients are configured without a path, and add /v1/messages.
                review.warn(loc, "has no path, and /messages is appended to it: is /v1 missing?")


def _check_url(review: Review, loc: Loc, url: HttpUrl, why: str) -> None:
    if url.username or url.password:
        what = "holds a user or a password: name the key with api_key_env"
        review.error(loc, what, shown=False)
    elif url.query is not None or url.fragment is not None:
        review.error(loc, f"ends in a query or a fragment: {why}", shown=False)


def _check_deployments(review: Review) -> None:
    catalog, declared = review.config.global_.model_catalog, review.declared
    system = catalog.system.decision_model.deployment
    at = (*_CATALOG, "system", "decision_model", "deployment")
    if system not in declared.deployments and review.whole(at):
        review.error(
            at,
            "there is no such deployment, and every rule without one asks it",
            name=system,
            allowed=declared.deployments,
        )
    names: list[tuple[Loc, str]] = []
    for name, deployment in catalog.deployments.items():
        loc = (*_CATALOG, "deployments", name)
        own = [(loc, name)]
        own += [((*loc, "aliases", i), alias) for i, alias in enumerate(deployment.aliases or ())]
        names += own
        _check_not_a_models(review, name, own)
        if isinstance(deployment, LocalDeployment):
            _check_local(review, loc, deployment)
        else:
            _check_remote(review, loc, deployment)
        check_sizes(review, loc, name, deployment)
    unique(review, "name of a decision model", names)


def _check_not_a_models(review: Review, deployment: str, names: Iterable[tuple[Loc, str]]) -> None:
    """Clients may call a local model by its card's name (S1-8): no other may have it."""
    local = review.config.global_.model_catalog.local
    resolved = {
        n: review.cards[d.artifact].name for n, d in local.items() if d.artifact in review.cards
    }
    for loc, name in names:
        for other, model in resolved.items():
            if name == model and resolved.get(deployment) != model:
                what = f"is also the name of {other}'s model: a client could not tell them apart"
                review.error(loc, what, shown=False)
                break


def _check_local(review: Review, loc: Loc, deployment: LocalDeployment) -> None:
    if deployment.artifact not in review.cards:
        review.error((*loc, "artifact"), "no model of this name has a card", allowed=review.cards)
    placement = deployment.placement
    if placement.device == "cuda" and placement.num_gpus == 0:
        review.error((*loc, "placement", "device"), "cuda needs num_gpus above 0: 1, or a fraction")
    if placement.device == "cpu" and placement.num_gpus > 0:
        review.warn(
            (*loc, "placement", "num_gpus"), "keeps GPUs that a model on the CPU leaves idle"
        )


def _check_remote(review: Review, loc: Loc, deployment: RemoteDeployment) -> None:
    at, endpoint = (*loc, "endpoint"), deployment.endpoint
    _check_url(review, at, endpoint, "it is the URL that takes the calls")
    if (endpoint.path or "").rstrip("/") == "/v1":
        review.warn(at, f"calls are sent to this very URL; an API takes them at {SYSTEMONE_PATH}")


def _check_callers(review: Review) -> None:
    router = review.config.global_.router
    callers = router.callers or []
    keys = [((*_ROUTER, "callers", i, "api_key_env"), c.api_key_env) for i, c in enumerate(callers)]
    unique(review, "key", keys)
    for index, name in enumerate(router.headers.debug.callers):
        if name not in review.declared.callers:
            review.error(
                (*_ROUTER, "headers", "debug", "callers", index),
                "there is no such caller",
                name=name,
                allowed=review.declared.callers,
            )


def _variables(review: Review) -> Iterator[tuple[Loc, str]]:
    for m, model in enumerate(review.config.providers.models):
        for b, backend in enumerate(model.backends):
            if backend.api_key_env is not None:
                yield ("providers", "models", m, "backends", b, "api_key_env"), backend.api_key_env
    for name, deployment in review.config.global_.model_catalog.remote.items():
        if deployment.api_key_env is not None:
            yield (*_CATALOG, "deployments", name, "api_key_env"), deployment.api_key_env
    for index, caller in enumerate(review.config.global_.router.callers or []):
        yield (*_ROUTER, "callers", index, "api_key_env"), caller.api_key_env
