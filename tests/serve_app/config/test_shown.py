"""CFG-2: what of a configuration anyone may see."""

from __future__ import annotations

import pytest

from serve_app.config.schema.document import Config
from serve_app.config.shown import MASK, shown_config
from tests.doubles.router_yaml import changed, loaded


def test_variables_are_shown_as_they_are_written() -> None:
    """CFG-2: never expanded, whether or not a default stands in."""
    for environ in ({}, {"OTHER": "http://sesame:1"}):
        backends = loaded(environ=environ).shown["providers"]["models"][0]["backends"]
        assert backends[1]["base_url"] == "${OTHER:-http://127.0.0.1:9001}/v1"


def test_the_names_of_keys_are_masked_wherever_they_stand() -> None:
    """CFG-2"""
    shown = loaded().shown
    assert shown["providers"]["models"][0]["backends"][0]["api_key_env"] == MASK
    assert shown["global"]["router"]["callers"][1] == {"name": "app", "api_key_env": MASK}
    assert shown["global"]["model_catalog"]["deployments"]["far"]["api_key_env"] == MASK
    assert not any(key in str(shown) for key in ("GENERAL_KEY", "OPS_KEY", "APP_KEY", "FAR_KEY"))


def test_all_else_is_the_document() -> None:
    """CFG-10"""
    found = loaded()
    assert {k: v for k, v in found.shown.items() if k in ("version", "entrypoints", "recipes")} == {
        k: v for k, v in found.document.items() if k in ("version", "entrypoints", "recipes")
    }


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("see https://u:p@h/x", "see https://…@h/x"),
        ("see https://${USER:-u}:p@h/x", "see https://…@h/x"),
        ("see https://h/x", "see https://h/x"),
    ],
)
def test_an_address_is_shown_without_its_user(written: str, seen: str) -> None:
    """CFG-2"""
    found = loaded(changed("Fast general model", f'"{written}"')[0])
    assert found.shown["providers"]["models"][0]["description"] == seen


def test_a_configuration_without_a_file_is_shown_without_its_defaults() -> None:
    """CFG-2"""
    backend = {"base_url": "http://u:p@h/", "api_key_env": "KEY"}
    config = Config.model_validate(
        {"version": "v1", "providers": {"models": [{"name": "m", "backends": [backend]}]}}
    )
    assert shown_config(config) == {
        "version": "v1",
        "providers": {
            "models": [
                {"name": "m", "backends": [{"base_url": "http://…@h/", "api_key_env": MASK}]}
            ]
        },
    }
