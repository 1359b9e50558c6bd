"""``serve-config FILE``: a Serve file that carries the router's configuration in itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer
import yaml

from models.cards.shipped import shipped_cards
from serve_app.config.loading import Loaded, load
from serve_app.config.problem import ConfigErrors
from serve_app.deployments.placement.model_spec import MODEL_VARIABLE
from serve_app.deployments.rollout.overrides import overrides
from serve_app.deployments.rollout.policy import Policy

IMPORT_PATH: Final = "serve_app.app:build"

Document: TypeAlias = Mapping[str, Any]
"""A YAML mapping."""

_NESTED: Final = ("ray_actor_options", "runtime_env", "env_vars")
"""Serve takes what a file says of the first instead of the graph's, whole."""


class NotAServeFileError(ValueError):
    """The file is none of the router's; the message says what is missing."""


def serve_config(
    file: Annotated[Path, typer.Argument(help="A Serve file, or KubeRay's RayService.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; default: stdout.")
    ] = None,
    router: Annotated[
        Path | None,
        typer.Option(help="The configuration to take, where `args.config` names one elsewhere."),
    ] = None,
) -> None:
    """Writes FILE with the router's configuration in it, as `serve deploy` applies it: a changed
    policy without a restart. Comments are lost.

    Exit 0: it is written, 1: the configuration cannot be used.
    """
    loaded: list[Loaded] = []

    def read(config: str) -> Policy:
        cards = shipped_cards()
        loaded.append(load(router or Path(config), cards=cards, environ=os.environ))
        return Policy.of_loaded(loaded[-1], cards)

    try:
        text = with_policy(file.read_text("utf-8"), read)
    except (ConfigErrors, NotAServeFileError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        typer.echo(f"{file} cannot be read: {error}", err=True)
        raise typer.Exit(1) from None
    for one in loaded:
        for warning in one.warnings:
            typer.echo(f"warning: {warning}", err=True)
    if output is None:
        typer.echo(text, nl=False)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, "utf-8")
    versions = ", ".join(one.version for one in loaded)
    typer.echo(f"{output}: version {versions}", err=True)


def with_policy(text: str, read: Callable[[str], Policy]) -> str:
    """The Serve file ``text`` with the policy that ``read`` finds under each ``args.config``.

    In and out by Ray's own YAML library: another would leave strings unquoted that it takes for
    numbers or booleans. ``NotAServeFileError`` where there is no application of the router.
    """
    document = yaml.safe_load(text)
    if not isinstance(document, dict):
        raise NotAServeFileError("it is no Serve file: no mapping")
    if document.get("kind") == "RayService":
        spec = document["spec"]
        inner = _document(yaml.safe_load(spec["serveConfigV2"]), read)
        return _text({**document, "spec": {**spec, "serveConfigV2": _text(inner)}})
    return _text(_document(document, read))


def _document(document: Document, read: Callable[[str], Policy]) -> Document:
    applications = list(document.get("applications") or ())
    places = list(_routers(applications))
    if not places:
        raise NotAServeFileError(
            f"no application of it has import_path {IMPORT_PATH} and args.config"
        )
    for place in places:
        application = applications[place]
        policy = read(application["args"]["config"])
        applications[place] = _application(application, policy)
    return {**document, "applications": applications}


def _routers(applications: Sequence[Document]) -> Iterator[int]:
    for place, application in enumerate(applications):
        if application.get("import_path") == IMPORT_PATH and "config" in (
            application.get("args") or {}
        ):
            yield place


def _application(application: Document, policy: Policy) -> Document:
    """What the file says itself of a deployment stands, key by key. Always the policy's are
    ``models`` and, without which no model's replica starts, ``ROUTER_MODEL``.
    """
    models = sorted(policy.config.global_.model_catalog.local)
    written = {entry["name"]: entry for entry in application.get("deployments") or ()}
    added = {entry["name"]: entry for entry in overrides(policy)}
    deployments = [
        _laid_over(added.get(name, {}), written.get(name, {}), name)
        for name in {**written, **added}
    ]
    return {
        **application,
        "args": {**application["args"], "models": models},
        "deployments": deployments,
    }


def _laid_over(
    added: Document, written: Document, where: str, nested: Sequence[str] = _NESTED
) -> Document:
    """``written`` over ``added``. ``where`` they stand, for messages."""
    if not isinstance(written, Mapping):
        raise NotAServeFileError(f"{where} is no mapping")
    merged = {**added, **written}
    if not nested:
        return {**merged, MODEL_VARIABLE: added[MODEL_VARIABLE]}
    inner, *rest = nested
    if inner in added:
        merged[inner] = _laid_over(added[inner], written.get(inner) or {}, f"{where}.{inner}", rest)
    return merged


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Equal parts are each written out, and texts of several lines as such: people read it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> Any:
        style = "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def _text(document: Document) -> str:
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
