"""The command line."""

from serve_app.cli import app

app()
