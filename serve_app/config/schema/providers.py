"""``providers``: the chat models that answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from pydantic import Field, HttpUrl

from serve_app.config.schema.base import Name, Section, Variable
from serve_app.errors import WireFormat

ApiFormat: TypeAlias = Literal["openai", "responses", "anthropic"]

_WIRE_FORMATS: Final[Mapping[ApiFormat, WireFormat]] = {
    "openai": WireFormat.CHAT,
    "responses": WireFormat.RESPONSES,
    "anthropic": WireFormat.ANTHROPIC,
}


class Backend(Section):
    """One server of a model. ``timeout_ms`` bounds connecting and the longest silence."""

    base_url: HttpUrl = Field(strict=False)
    api_key_env: Variable | None = None
    weight: float = Field(default=1, gt=0, allow_inf_nan=False)
    timeout_ms: int = Field(default=60_000, ge=1, le=3_600_000)


class Pricing(Section):
    prompt_per_1m: float = Field(default=0, ge=0, allow_inf_nan=False)
    completion_per_1m: float = Field(default=0, ge=0, allow_inf_nan=False)


class ProviderModel(Section):
    """``api_format``: what its backends speak. ``context_window`` in tokens; absent: unbounded."""

    name: Name
    provider_model_id: str | None = None
    api_format: ApiFormat = "openai"
    description: str = ""
    context_window: int | None = Field(default=None, ge=1)
    output: list[Literal["text", "image"]] = Field(default=["text"], min_length=1)
    pricing: Pricing | None = None
    backends: list[Backend] = Field(min_length=1)

    @property
    def wire_format(self) -> WireFormat:
        return _WIRE_FORMATS[self.api_format]

    @property
    def upstream_id(self) -> str:
        return self.provider_model_id or self.name


class ProviderDefaults(Section):
    default_model: Name | None = None


class Providers(Section):
    defaults: ProviderDefaults = ProviderDefaults()
    models: list[ProviderModel] = Field(default_factory=list)
