"""CPU time of processes, and what they are called."""

import os

import pytest

from benchmarks.harness.proc import Process, Reading, machine_busy_s, processes, short_command


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (["ray::ServeReplica:router:Ingress"], "ray::ServeReplica:router:Ingress"),
        (["/x/bin/python3.11", "-u", "/y/site-packages/ray/dashboard/agent.py"], "agent.py"),
        (["python", "-m", "benchmarks.servers.lit", "--port", "1"], "benchmarks.servers.lit"),
        (["python", "-c", "from multiprocessing.spawn import spawn_main"], "kernel-name"),
        (["/opt/ray/raylet", "--raylet_socket_name=/x"], "raylet"),
        (["/opt/haproxy", "-f", "/x.cfg"], "haproxy"),
        ([], "kernel-name"),
    ],
)
def test_a_process_is_called_by_its_title_module_or_script(
    arguments: list[str], called: str
) -> None:
    line = b"".join(word.encode() + b"\0" for word in arguments)
    assert short_command(line, "kernel-name") == called


def process(pid: int, cpu_s: float, started: int = 1, command: str = "a") -> Process:
    return Process(pid=pid, started=started, parent=1, command=command, cpu_s=cpu_s)


def test_used_time_is_summed_by_command() -> None:
    before = Reading.of([process(1, 1.0), process(2, 2.0), process(3, 5.0, command="idle")])
    after = Reading.of([process(1, 1.5), process(2, 2.25), process(3, 5.0, command="idle")])
    assert after.since(before) == {"a": 0.75}


def test_a_process_that_is_new_counts_from_nothing_even_with_an_old_number() -> None:
    before = Reading.of([process(1, 9.0, started=1)])
    after = Reading.of([process(1, 0.5, started=2)])
    assert after.since(before) == {"a": 0.5}


def test_this_process_is_seen_with_its_parent_and_time() -> None:
    me = next(p for p in processes() if p.pid == os.getpid())
    assert me.parent == os.getppid()
    assert 0 < me.cpu_s <= machine_busy_s()
