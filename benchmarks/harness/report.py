"""A record as Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from benchmarks.harness.markdown import number, pairs, spread, table
from benchmarks.harness.record import Cell, Contest, Record
from benchmarks.harness.statistics import Spread
from benchmarks.harness.verdicts import ROUNDS_FOR_AN_INTERVAL, Verdict, verdicts


def render(record: Record) -> str:
    """The whole record: machine, verdicts, then a table per engine and number of callers."""
    lines = [f"## {record.date}", "", "```", record.command, "```", ""]
    lines += pairs(record.machine) + pairs(record.settings)
    lines += ["", "### Bars", "", *_verdict_table(verdicts(record))]
    if record.policy_ms:
        lines += ["", "### Policy alone, 20 rules", "", *_policy_table(record.policy_ms)]
    for contest in record.contests:
        lines += ["", f"### {contest.engine[0].upper()}{contest.engine[1:]}", "", contest.note]
        for callers in contest.callers:
            lines += ["", f"{_callers(callers)}:", "", *_cell_table(contest, callers)]
        lines += ["", *_cpu_by_command(contest)]
    return "\n".join(lines).rstrip() + "\n"


def render_verdicts(found: Sequence[Verdict]) -> str:
    """The table of bars alone."""
    return "\n".join(_verdict_table(found))


def _verdict_table(found: Sequence[Verdict]) -> list[str]:
    if not found:
        return ["No bar was measured."]
    rows = [
        (
            verdict.what,
            number(verdict.value),
            f"{number(verdict.low)} – {number(verdict.high)}",
            f"{'≥' if verdict.floor else '≤'} {verdict.bar:g}",
            _word(verdict),
            str(verdict.rounds),
        )
        for verdict in found
    ]
    return table(("bar", "value", "interval", "wanted", "met", "rounds"), rows)


def _word(verdict: Verdict) -> str:
    word = "yes" if verdict.met else "**no**"
    few = 1 < verdict.rounds < ROUNDS_FOR_AN_INTERVAL
    return word + (", too few rounds" if few else "" if verdict.certain else ", uncertain")


def _policy_table(policy_ms: Mapping[str, Spread]) -> list[str]:
    rows = [(name, spread(p50)) for name, p50 in policy_ms.items()]
    return table(("", "p50 ms"), rows)


def _cell_table(contest: Contest, callers: int) -> list[str]:
    head = (
        *("", "rate /s", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "of it idle"),
        *("requests", "failed", "foreign CPU"),
    )
    rows = []
    for name in contest.contestants:
        if cells := contest.of(name, callers):
            rows.append((name, *_row(cells)))
    return table(head, rows)


def _row(cells: Sequence[Cell]) -> Iterator[str]:
    for figures in (
        [cell.rate for cell in cells],
        [cell.p50 for cell in cells],
        [cell.p95 for cell in cells],
        [cell.p99 for cell in cells],
        [sum(cell.cpu_ms.values()) for cell in cells],
    ):
        yield spread(Spread.of(figures))
    yield number(median(cell.idle_cpu_ms for cell in cells))
    yield str(sum(cell.requests for cell in cells))
    yield str(sum(cell.failed for cell in cells))
    yield f"{max(cell.foreign for cell in cells):.0%}"


def _cpu_by_command(contest: Contest) -> list[str]:
    """CPU milliseconds of a request by process, idle time included, means over the rounds."""
    lines = []
    for name in contest.contestants:
        parts = []
        for callers in contest.callers:
            cells = contest.of(name, callers)
            by_command: dict[str, list[float]] = defaultdict(list)
            for cell in cells:
                for command, cpu_ms in cell.cpu_ms.items():
                    by_command[command].append(cpu_ms)
            used = {c: sum(values) / len(cells) for c, values in by_command.items()}
            shown = sorted((c for c in used if used[c] >= 0.01), key=lambda c: -used[c])
            if shown:
                figures = ", ".join(f"{c} {used[c]:.2f}" for c in shown)
                parts.append(f"  - {_callers(callers)}: {figures}")
        if parts:
            idle = contest.idle_cores.get(name)
            rest = "" if idle is None else f"; {idle:.2f} processors busy when idle"
            lines += [f"- {name}{rest}", *parts]
    return ["CPU ms of a request by process, idle time included:", "", *lines] if lines else []


def _callers(callers: int) -> str:
    return "1 caller" if callers == 1 else f"{callers} callers"
