"""CFG-2: what is told of a value that does not fit, never the value."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from serve_app.config.refused import refused
from serve_app.config.schema.document import Config

SECRET = "sk-of-a-provider"


def told(document: object) -> str:
    with pytest.raises(ValidationError) as found:
        Config.model_validate(document)
    assert "input_value" in str(found.value)
    return refused(found.value)


def test_places_and_kinds_are_told_and_no_value() -> None:
    """CFG-2"""
    backend = {"base_url": f"nothing {SECRET}", "api_key": SECRET, "weight": SECRET}
    model = {"name": SECRET + " ", "backends": [backend]}
    text = told({"version": SECRET, "providers": {"models": [model]}})
    assert SECRET not in text
    place = "providers.models[0].backends[0]"
    assert f"{place}.api_key (extra_forbidden)" in text
    assert f"{place}.base_url (url_parsing)" in text
    assert "version (literal_error)" in text


def test_what_is_no_mapping_is_told_as_a_whole() -> None:
    assert told(SECRET) == "Config: all of it (model_type)"


def test_many_places_are_counted() -> None:
    text = told({"version": "v1", **{f"key{i}": SECRET for i in range(20)}})
    assert text.startswith("Config: key0 (extra_forbidden), ")
    assert text.endswith("key7 (extra_forbidden), … 12 more")
