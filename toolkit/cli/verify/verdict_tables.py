"""Judges jobs and shows it: what each must show, what it did, the lines behind it, and what went wrong."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from toolkit.cli.shared.console import console, print_parts, print_text, show_rows, styled
from toolkit.cli.shared.options import print_json
from toolkit.evidence.criterion import readings_of
from toolkit.evidence.goodput.reading import Goodput
from toolkit.evidence.judge import exit_status, judge
from toolkit.evidence.report.links import headline
from toolkit.evidence.verdict import Job, Proof, Status, Verdict

MEANING = ("passed", "failed", "not enough evidence")
"""By exit status."""
_COLOURS = {Status.PASS: "green", Status.FAIL: "red", Status.WARN: "yellow", Status.MISSING: "magenta"}
_SHOWN = 4
"""Lines that are shown below a verdict."""


def conclude(jobs: Sequence[Job], *, plain: bool = False) -> int:
    """Judge jobs, print the verdicts as tables or, `plain`, as JSON, and return the exit status.

    0: all criteria that apply are met; 1: one is not; 2: the logs lack what is needed.
    """
    verdicts = judge(jobs)
    show(jobs, verdicts, plain=plain, everything=True)
    return exit_status(verdicts)


def show(jobs: Sequence[Job], verdicts: Sequence[Verdict], *, plain: bool = False, everything: bool = False) -> None:
    """Print verdicts that were reached: of each job how it came out, and what did not pass, or `everything`."""
    if plain:
        print_json(json_data(jobs, verdicts))
        return
    cited = False
    for title, all_of_it in _by_job(jobs, verdicts):
        mine = [verdict for verdict in all_of_it if everything or verdict.status is not Status.PASS]
        if not mine:
            continue
        cited = True
        show_rows(
            title,
            ("criterion", "verdict", "measured", "limit", "source"),
            (
                (
                    verdict.criterion,
                    styled(verdict.status, _COLOURS[verdict.status]),
                    verdict.measured,
                    verdict.limit,
                    verdict.source,
                )
                for verdict in mine
            ),
        )
        explain([verdict for verdict in mine if verdict.status is not Status.PASS])
    _totals(jobs, verdicts)
    if cited:
        print_text("docs/coverage/sources.md explains the source ids")
    console.print(sentence(verdicts))


def _totals(jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> None:
    """Print how each of several jobs came out, with the figure that it is known by."""
    figures = {job.request.job: headline(job) for job in jobs}
    counts = {name: Counter(verdict.status for verdict in mine) for name, mine in _by_name(verdicts).items()}
    if len(counts) > 1:
        show_rows(
            "Jobs",
            ("job", *Status, "figures"),
            (
                (
                    name,
                    *(styled(count[status], _COLOURS[status]) if count[status] else "" for status in Status),
                    figures.get(name) or _measured(verdicts, name),
                )
                for name, count in counts.items()
            ),
        )


def _measured(verdicts: Sequence[Verdict], name: str) -> str:
    # A comparison has no readings of its own, and one verdict.
    measured = [verdict.measured for verdict in verdicts if verdict.job == name]
    return measured[0] if len(measured) == 1 else ""


def sentence(verdicts: Sequence[Verdict]) -> str:
    """Return the outcome as one line."""
    counts = Counter(verdict.status for verdict in verdicts)
    numbers = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    return f"{MEANING[exit_status(verdicts)]}: {numbers or 'nothing to judge'}"


def json_data(jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return the verdicts with what was requested of each job as JSON."""
    status = exit_status(verdicts)
    return {
        "exit_status": status,
        "outcome": MEANING[status],
        "simulated": any(reading.simulated for job in jobs for reading in job.readings),
        "jobs": [
            {
                **job.request.model_dump(mode="json"),
                "ended": job.ended.value,
                "why": job.why,
                "files": list(dict.fromkeys(reading.file for reading in job.readings)),
                **_goodput(job),
            }
            for job in jobs
        ],
        "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
    }


def _goodput(job: Job) -> dict[str, object]:
    """Return the figures of a job's goodput, without what a plot needs; nothing where it was not measured."""
    kept = {"wall_s", "seconds", "of_wall", "without_waiting", "steps", "step_s", "interruptions"}
    figures = [reading.model_dump(mode="json", include=kept) for reading in readings_of(job, Goodput)]
    return {"measured_goodput": figures[0]} if figures else {}


def _by_job(jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    simulated = {job.request.job for job in jobs if any(reading.simulated for reading in job.readings)}
    return [(f"{name} (simulated)" if name in simulated else name, mine) for name, mine in _by_name(verdicts).items()]


def _by_name(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.job, []).append(verdict)
    return groups


def explain(verdicts: Sequence[Verdict]) -> None:
    """Print the lines behind what did not pass, each once, and then the causes with what they explain."""
    shown: set[tuple[str, int]] = set()
    causes: dict[str, list[str]] = {}
    for verdict in verdicts:
        new = [proof for proof in verdict.proofs if (proof.file, proof.line) not in shown][:_SHOWN]
        shown |= {(proof.file, proof.line) for proof in new}
        if new:
            print_parts(styled(verdict.criterion, _COLOURS[verdict.status]), f": {verdict.measured}")
        for proof in new:
            console.print(f"  {_line(proof)}")
        for cause in verdict.causes:
            causes.setdefault(cause, []).append(verdict.criterion)
    for cause, explained in causes.items():
        console.print(f"cause of {', '.join(explained)}:\n  {cause}")
    if shown or causes:
        console.print()


def _line(proof: Proof) -> str:
    file = Path(proof.file)
    shown = file.relative_to(Path.cwd()) if file.is_absolute() and file.is_relative_to(Path.cwd()) else file
    return f"{proof.where(str(shown))}: {proof.text}".rstrip(": ")
