"""``python -m serve_app``: a command per file of ``serve_app.commands``."""

from __future__ import annotations

import typer

from serve_app.commands.ask import ask
from serve_app.commands.check import check
from serve_app.commands.evaluate import eval_data
from serve_app.commands.serve_config import serve_config
from serve_app.commands.try_prompt import try_prompt

app = typer.Typer(
    name="serve_app",
    help="A System One router on Ray Serve.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


app.command()(check)
app.command("try")(try_prompt)
app.command()(ask)
app.command("eval")(eval_data)
app.command()(serve_config)
