"""``eval DATA``: what a deployment's answers are worth on labelled lines (SRV-19, S1-14)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import orjson
import typer
from rich.console import Console
from rich.progress import Progress

from models.cards.digest import ModelFileMismatch
from models.cards.schema import Card
from models.cards.shipped import shipped_cards
from models.engine import Engine
from models.evaluation.floors import Floor, figure_names, missed, parse_floor
from models.evaluation.intervals import RESAMPLES, SEED
from models.evaluation.judged import Judged
from models.evaluation.report import NO_SKILL, Report, evaluate, tags_of
from models.evaluation.truth import DataErrors, Example, read_examples
from serve_app.commands.local_ask import local_ask
from serve_app.config.loading import load
from serve_app.config.problem import ConfigErrors, nearest
from serve_app.config.schema.catalog import ModelCatalog, Placement
from serve_app.deployments.asking.remote_models import RemoteModels
from serve_app.deployments.placement.engines import load_engine
from serve_app.evaluation.asking import ask_all
from serve_app.evaluation.diagram import can_draw, draw
from serve_app.evaluation.view import report_view

MOST_PROBLEMS: Final = 32
"""Most problems of the data that are printed."""

BAD_INPUT: Final = 2


def eval_data(
    data: Annotated[Path, typer.Argument(help="Labelled lines, JSON Lines.")],
    config: Annotated[Path, typer.Option(help="The router's configuration.")] = Path(
        "configs/router.yaml"
    ),
    deployment: Annotated[
        str | None, typer.Option(help="Of the catalog; default: the system's decision model.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Rows by tag as well: `tag`, or the name of some.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A folder for report.json and reliability.png.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="A file for the report as JSON.")] = None,
    floor: Annotated[
        list[str] | None,
        typer.Option(help="ID.FIGURE=BOUND: least; of ece and mae the most. Repeatable."),
    ] = None,
    min_auc: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least mean AUC of the nouls.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help="Open calls to a remote deployment.")
    ] = 4,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a call to a remote deployment waits.")
    ] = 30.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = SEED,
) -> None:
    """Scores a deployment on labelled questions.

    Exit 0: scored, 1: a floor is missed, nothing was answered or the model knows nothing, 2: bad
    input.
    """
    if report is not None and not can_draw():
        _refuse("--report draws with matplotlib: pip install 'systemone-router[eval]'")
    examples = _examples(data)
    floors = _floors(floor or [], examples)
    if by is not None and not any(tags_of(example.tags, by) for example in examples):
        _refuse(f"--by {by}: no line has such a tag")
    cards = shipped_cards()
    try:
        loaded = load(config, cards=cards, environ=os.environ)
    except ConfigErrors as errors:
        _refuse(str(errors))
    catalog = loaded.config.global_.model_catalog
    name = _deployment(catalog, deployment)

    stderr = Console(stderr=True)
    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task(f"asking {name}", total=len(examples))
        try:
            judged = judged_by(
                catalog,
                name,
                examples,
                cards,
                load_engine,
                concurrency=concurrency,
                timeout_s=timeout,
                done=lambda count: progress.advance(task, count),
            )
        except (ModelFileMismatch, RuntimeError) as error:
            _refuse(f"{name} cannot be loaded: {error}")
    result = evaluate(judged, by=by, resamples=RESAMPLES, seed=seed)
    Console().print(report_view(result))
    _write(result, {"data": str(data), "lines": len(examples), "deployment": name}, report, json)
    verdicts = missed(result, floors, min_auc)
    if result.knows_nothing:
        low, high = NO_SKILL
        verdicts += (f"the model knows nothing: mean AUC is within {low:.2f} to {high:.2f}",)
    if not any(row.answers for row in result.rows):
        verdicts += ("no question was answered",)
    for verdict in verdicts:
        typer.echo(verdict, err=True)
    raise typer.Exit(1 if verdicts else 0)


def judged_by(
    catalog: ModelCatalog,
    deployment: str,
    examples: Sequence[Example],
    cards: Mapping[str, Card],
    load_engine: Callable[[Card, Placement], Engine],
    *,
    concurrency: int = 1,
    timeout_s: float | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> list[Judged]:
    """The answers of a deployment of the catalog: a local one in this process, a remote one where
    it is, a line a call. ``cards``: by artifact."""
    local = catalog.local.get(deployment)
    if local is not None:
        card = cards[local.artifact]
        ask = local_ask({deployment: load_engine(card, local.placement)}, time.monotonic)
        return asyncio.run(
            ask_all(
                examples, deployment, ask, time.monotonic, thresholds=card.thresholds, done=done
            )
        )

    async def asked() -> list[Judged]:
        remote = RemoteModels(catalog, env=os.environ)
        try:
            return await ask_all(
                examples,
                deployment,
                remote.ask,
                time.monotonic,
                thresholds={},
                entries=1,
                concurrency=concurrency,
                timeout_s=timeout_s,
                done=done,
            )
        finally:
            await remote.aclose()

    return asyncio.run(asked())


def _examples(data: Path) -> tuple[Example, ...]:
    try:
        lines = data.read_bytes().split(b"\n")
    except OSError as error:
        _refuse(f"{data}: cannot be read: {error.strerror or type(error).__name__}")
    try:
        return read_examples(lines)
    except DataErrors as errors:
        said = [f"{data}:{problem}" for problem in errors.problems[:MOST_PROBLEMS]]
        more = len(errors.problems) - len(said)
        _refuse("\n".join([*said, *([f"… {more} more"] if more else [])]))


def _floors(texts: Sequence[str], examples: Sequence[Example]) -> list[Floor]:
    """Refused before anything is asked: a floor that nothing can miss would go unseen."""
    known = figure_names(examples)
    floors = []
    for text in texts:
        try:
            floor = parse_floor(text)
        except ValueError as error:
            _refuse(f"--floor: {error}")
        if floor.name not in known:
            close = nearest(floor.name, known)
            _refuse(
                f"--floor: the data has no figure {floor.name}"
                + (f"; did you mean {close}" if close else f"; known: {', '.join(known[:24])}")
            )
        floors.append(floor)
    return floors


def _deployment(catalog: ModelCatalog, name: str | None) -> str:
    """The deployment of that name or alias; default: the system's."""
    if name is None:
        return catalog.system.decision_model.deployment
    for deployment in catalog.deployments:
        if name in catalog.names(deployment):
            return deployment
    _refuse(f"--deployment: no {name}; known: {', '.join(catalog.deployments)}")


def _write(
    result: Report, of: dict[str, str | int], folder: Path | None, file: Path | None
) -> None:
    body = orjson.dumps({**of, **result.json()}, option=orjson.OPT_INDENT_2) + b"\n"
    try:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "report.json").write_bytes(body)
            draw(result, folder / "reliability.png")
    except OSError as error:
        _refuse(f"the report cannot be written: {error.strerror or type(error).__name__}")


def _refuse(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(BAD_INPUT)
