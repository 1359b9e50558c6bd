"""``global``: who calls, and the decision models the router may ask (CFG-3)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, HttpUrl, Tag

from serve_app.config.schema.base import Name, Section, Variable

Artifact: TypeAlias = Literal["embedded"]
"""Names of the models that ship with the project."""

SYSTEM_ALIASES: Final = ("jev-latest", "jev-preview")
"""Of the system's decision model, where it has none of its own (S1-8)."""


TIMEOUT_MS: Final = 1_000
"""Of a judge's call, and of a signal's to a remote deployment, that nothing else bounds (BUD-3)."""


class Placement(Section):
    """Where replicas of a model run (SRV-13). ``threads``: of one forward."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    num_cpus: float = Field(default=0.25, gt=0, le=1024)
    num_gpus: float = Field(default=0, ge=0, le=64)
    threads: int | None = Field(default=None, ge=1, le=256)
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"


class Autoscaling(Section):
    """How many replicas of a model run."""

    min_replicas: int = Field(default=1, ge=1, le=1024)


MOST_TOKENS: Final = 1_048_576
LEAST_TOKENS: Final = 256
"""Of a view and of a window, at four bytes a token (SIZE-1)."""


class RoutingView(Section):
    """What routing questions see of a long message (VIEW-2). ``max_tokens``: ``None`` where not
    written, which depends on the provider.
    """

    max_tokens: int | None = Field(default=None, ge=LEAST_TOKENS, le=MOST_TOKENS)
    head_share: float = Field(default=0.25, ge=0, le=1)


class ScanWindow(Section):
    """How guards read a long input. What is ``None`` was not written (SIZE-1). The ranges of
    ``overlap`` and ``max_tokens`` depend on ``tokens``, also where that is a default: they are
    checked with the meaning of the file (SIZE-2).
    """

    tokens: int | None = Field(default=None, ge=LEAST_TOKENS, le=MOST_TOKENS)
    overlap: int | None = None
    max_parallel: int = Field(default=4, ge=1, le=64)
    max_tokens: int | None = None
    reread_margin: float = Field(default=3, ge=0, le=20)


class LocalDeployment(Section):
    """A decision model in the router's own graph. ``aliases``: further names clients may put into
    ``model`` (S1-8); ``None`` where none are written. ``timeout_ms`` bounds judges alone (BUD-3).
    """

    provider: Literal["model_runtime"]
    artifact: Artifact
    aliases: list[Name] | None = None
    placement: Placement = Placement()
    autoscaling: Autoscaling = Autoscaling()
    timeout_ms: int | None = Field(default=None, ge=1, le=60_000)
    routing_view: RoutingView = RoutingView()
    scan_window: ScanWindow = ScanWindow()
    max_queue_s: float = Field(default=10, gt=0, le=3600)


SYSTEMONE_PATH: Final = "/v1/systemone"
"""Where a System One API takes its calls."""


def _with_path(endpoint: HttpUrl) -> HttpUrl:
    if endpoint.path not in (None, "/") or endpoint.query is not None or endpoint.fragment:
        return endpoint
    return HttpUrl(str(endpoint).removesuffix("/") + SYSTEMONE_PATH)


class RemoteDeployment(Section):
    """A System One API elsewhere. ``endpoint``: the URL that takes its calls; one without a path
    has been given ``SYSTEMONE_PATH``. ``model``: its name there. ``timeout_ms``: how long a call
    waits (BUD-3). ``validated_input_tokens``: how much it is known to read (SIZE-1).
    """

    provider: Literal["systemone"]
    endpoint: Annotated[HttpUrl, AfterValidator(_with_path)] = Field(strict=False)
    model: Annotated[str, Field(min_length=1, max_length=256)]
    api_key_env: Variable | None = None
    aliases: list[Name] | None = None
    timeout_ms: int | None = Field(default=None, ge=1, le=60_000)
    routing_view: RoutingView = RoutingView()
    scan_window: ScanWindow = ScanWindow()
    validated_input_tokens: int | None = Field(default=None, ge=1280, le=2**31 - 1)

    @property
    def timeout_s(self) -> float:
        """How long a rule without a bound of its own waits (BUD-3)."""
        return (self.timeout_ms or TIMEOUT_MS) / 1000


def _provider(value: Any) -> str:
    """A mapping without a provider is read as what its keys are of."""
    if not isinstance(value, dict):
        return str(getattr(value, "provider", "model_runtime"))
    remote = value.get("provider", "systemone" if "endpoint" in value else None) == "systemone"
    return "systemone" if remote else "model_runtime"


Deployment: TypeAlias = Annotated[
    Annotated[LocalDeployment, Tag("model_runtime")]
    | Annotated[RemoteDeployment, Tag("systemone")],
    Discriminator(_provider),
]


class SystemModel(Section):
    deployment: Name = "primary"


class SystemModels(Section):
    decision_model: SystemModel = SystemModel()


class SignalOverload(Section):
    action: Literal["refuse"] = "refuse"


def _primary() -> dict[str, Deployment]:
    return {"primary": LocalDeployment(provider="model_runtime", artifact="embedded")}


class ModelCatalog(Section):
    """``signal_timeout_ms``: 0 derives the signal deadline from the request's (BUD-3)."""

    system: SystemModels = SystemModels()
    signal_timeout_ms: int = Field(default=0, ge=0, le=600_000)
    on_signal_overload: SignalOverload = SignalOverload()
    deployments: dict[Name, Deployment] = Field(default_factory=_primary, min_length=1)

    @property
    def local(self) -> dict[str, LocalDeployment]:
        """The decision models that the graph runs."""
        return {n: d for n, d in self.deployments.items() if isinstance(d, LocalDeployment)}

    @property
    def remote(self) -> dict[str, RemoteDeployment]:
        """The decision models that are asked over HTTP."""
        return {n: d for n, d in self.deployments.items() if isinstance(d, RemoteDeployment)}

    def names(self, deployment: str) -> list[str]:
        """The deployment's own name and its aliases. Those that the system's model has unless it
        writes others yield to the names of every other deployment (S1-8).
        """
        aliases = self.deployments[deployment].aliases
        if aliases is None and deployment == self.system.decision_model.deployment:
            others = [(n, *(d.aliases or ())) for n, d in self.deployments.items()]
            claimed = {name for names in others for name in names}
            aliases = [alias for alias in SYSTEM_ALIASES if alias not in claimed]
        return [deployment, *(aliases or ())]


class Caller(Section):
    name: Name
    api_key_env: Variable


class DebugHeaders(Section):
    callers: list[Name] = Field(default_factory=list)


class Headers(Section):
    debug: DebugHeaders = DebugHeaders()


MIB = 1024 * 1024


class Router(Section):
    """``max_body_bytes`` bounds a body before anything is parsed (API-6)."""

    headers: Headers = Headers()
    callers: list[Caller] | None = Field(default=None, min_length=1)
    max_body_bytes: int = Field(default=8 * MIB, ge=1024, le=48 * MIB)


class Global(Section):
    router: Router = Router()
    model_catalog: ModelCatalog = ModelCatalog()
