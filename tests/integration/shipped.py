"""The shipped single-machine profile as a process of its own: `make serve`'s command."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Running:
    """``pid``: of ``serve run``, the root of the process tree. ``environment``: what it began
    with. ``serve_file``: what it runs. ``log``: its output.
    """

    pid: int
    url: str
    environment: Mapping[str, str]
    serve_file: Path
    log: Path

    @property
    def dashboard(self) -> str:
        """The address that ``serve deploy`` talks to."""
        found = re.search(r"dashboard at\W.*?(127\.0\.0\.1:\d+)", self.log.read_text())
        assert found, self.log.read_text()[-4000:]
        return f"http://{found[1]}"

    @property
    def joining(self) -> dict[str, str]:
        """The environment of a driver that joins this Ray instance and no other of the machine."""
        for pid in tree_of(self.pid):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                continue
            if found := re.search(r"--gcs-address=(127\.0\.0\.1:\d+)", command):
                return {**self.environment, "RAY_ADDRESS": found[1]}
        pytest.fail("no process of the tree names the instance's address")

    def replicas(self) -> dict[str, set[int]]:
        """The processes of each Serve deployment's replicas, by the title that Ray gives them."""
        found: dict[str, set[int]] = {}
        for pid in tree_of(self.pid):
            try:
                title = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                continue
            if replica := re.match(r"ray::ServeReplica:router:([\w-]+)", title):
                found.setdefault(replica[1], set()).add(pid)
        return found

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of this Ray instance as a user of the profile would."""
        return subprocess.run(
            ["sh", "-c", '. configs/local.sh && exec "$@"', "sh", *command],
            cwd=ROOT,
            env=self.joining,
            capture_output=True,
            text=True,
            timeout=120,
        )


@contextmanager
def shipped(
    *, application: str = "serve_app.app:build", config: str = "configs/router.yaml", ready: str
) -> Iterator[Running]:
    """``configs/serve.yaml`` on a free port; only the port and the graph may be others.

    ``ready`` is the path that answers 200 once the graph is up.
    """
    # HAProxy refuses paths of Unix sockets over 97 characters, and Ray adds a node id of 56.
    folder = Path(tempfile.mkdtemp(prefix="r-", dir="/tmp"))
    port, *others = free_ports(4)
    environment = _environment(folder, others)
    file, log = folder / "serve.yaml", folder / "serve.log"
    document: dict[str, Any] = yaml.safe_load((ROOT / "configs/serve.yaml").read_text())
    document["http_options"]["port"] = port
    document["applications"][0] |= {"import_path": application}
    document["applications"][0]["args"]["config"] = config
    file.write_text(yaml.safe_dump(document))
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["sh", "-c", f". configs/local.sh && exec serve run {file}"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
            preexec_fn=_interruptible,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}{ready}", process, log)
        yield Running(process.pid, url, environment, file, log)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            process.kill()
            shutil.rmtree(folder, ignore_errors=True)


def _interruptible() -> None:
    """A test run in the background ignores interrupts, and its children would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def beyond_loopback(router: Running) -> list[tuple[str, str]]:
    """Program and address of each of its TCP listeners that other machines could reach."""
    found = _listeners(router.pid)
    assert {"gcs_server", "raylet", "haproxy"} <= {name for name, _ in found}
    return [listener for listener in found if not _loopback(listener[1])]


def tree_of(pid: int) -> set[int]:
    """The process and all its descendants."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found = {pid}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return found


def _listening_inodes(pid: int) -> dict[str, str]:
    """Socket inode -> local address, of all TCP listeners that the process may see."""
    found: dict[str, str] = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A":
                address = bytes.fromhex(local.partition(":")[0])
                words = [address[i : i + 4][::-1] for i in range(0, len(address), 4)]
                found[rest[5]] = str(ipaddress.ip_address(b"".join(words)))
    return found


def _listeners(pid: int) -> list[tuple[str, str]]:
    """Program and address of every TCP listener in the process tree."""
    inodes = _listening_inodes(pid)
    found = []
    for member in tree_of(pid):
        try:
            name = Path(f"/proc/{member}/comm").read_text().strip()
            links = [os.readlink(fd) for fd in Path(f"/proc/{member}/fd").iterdir()]
        except OSError:
            continue
        names = (link.removeprefix("socket:[").removesuffix("]") for link in links)
        found += [(name, inodes[inode]) for inode in names if inode in inodes]
    return found


def _loopback(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [server.getsockname()[1] for server in held]
    finally:
        for server in held:
            server.close()


def _environment(folder: Path, ports: list[int]) -> dict[str, str]:
    """Folders and ports of this run's own, so that a router on this machine goes on."""
    haproxy = folder / "h"
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "RAY_TMPDIR": str(folder),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(ports[0]),
        "RAY_SERVE_HAPROXY_STATS_PORT": str(ports[1]),
        "RAY_SERVE_HAPROXY_METRICS_PORT": str(ports[2]),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(haproxy / "haproxy.cfg"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(haproxy / "admin.sock"),
        "RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH": str(haproxy / "metrics.sock"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(haproxy),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(haproxy / "server-state"),
    }


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, limit_s: float = 90) -> None:
    end = time.monotonic() + limit_s
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    pytest.fail(f"nothing answers at {url}:\n{log.read_text()[-4000:]}")
