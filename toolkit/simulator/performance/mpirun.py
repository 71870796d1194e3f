"""mpirun of Open MPI: which pod gets which process, with what environment."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolkit.simulator.performance.job import Launched, Worker
from toolkit.simulator.performance.printed import Printed, Program

_RULE = "-" * 74
_ARGUMENTS: Mapping[str, int] = {
    **dict.fromkeys(("np", "n", "c", "x", "bind-to", "map-by", "rank-by", "H", "host", "hostfile"), 1),
    **dict.fromkeys(("machinefile", "default-hostfile", "wdir", "wd", "N", "npernode", "ppr", "timeout", "prefix"), 1),
    **dict.fromkeys(("output", "stdin", "report-uri", "launch-agent", "path"), 1),
    **dict.fromkeys(("mca", "gmca", "pmixmca", "prtemca"), 2),
}
"""Option -> words that follow it; others have none."""
MOST_PROCESSES = 10_000
"""Of one job, whatever its command line says."""
_NUMBER = re.compile(r"[0-9]{1,15}")
COUNT = frozenset({"np", "n", "c"})


@dataclass(frozen=True)
class Command:
    """A command line of mpirun."""

    processes: int | None
    """None: as many as there are slots."""
    exports: tuple[str, ...]
    flags: frozenset[str]
    program: tuple[str, ...]


def command(words: Sequence[str]) -> Command:
    """Read a command line; what is not a number of processes means none was given."""
    processes: int | None = None
    exports: list[str] = []
    flags: set[str] = set()
    rest = [*words[1:]]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0).lstrip("-")
        values = [rest.pop(0) for _ in range(_ARGUMENTS.get(option, 0)) if rest]
        flags.add(option)
        if option in COUNT and values and _NUMBER.fullmatch(values[0].strip()):
            processes = int(values[0])
        elif option == "x" and values:
            exports.append(values[0])
    return Command(processes, tuple(exports), frozenset(flags), tuple(rest))


def mpirun(words: Sequence[str], job: Launched, program: Program) -> Printed:
    """Return what a job prints: `program` simulates what each process runs, all of them together."""
    wanted = command(words)
    if not wanted.program:
        return _refused("mpirun could not find anything to do.")
    slots = {worker.name: job.slots.get(worker.name, 1) for worker in job.workers}
    number = sum(slots.values()) if wanted.processes is None else wanted.processes
    allowed = MOST_PROCESSES if "oversubscribe" in wanted.flags else sum(slots.values())
    if number > allowed:
        return _too_many(number, wanted.program[0])
    if any(name not in slots for name in job.slots):
        return _refused("ORTE was unable to reliably start one or more daemons.")
    # Processes beside mpirun have its environment; those on other hosts what is exported, and their own.
    environment = dict(job.environment) if job.me in job.workers else {}
    environment |= dict(export.split("=", 1) for export in wanted.exports if "=" in export)
    environment |= {name: job.environment[name] for name in wanted.exports if name in job.environment}
    started = replace(job, processes=_placed(job.workers, slots, number), environment=environment)
    done = program(wanted.program, started)
    if "tag-output" in wanted.flags:
        done = replace(done, lines=tuple(f"[1,0]<stdout>:{line}" for line in done.lines))
    return replace(done, lines=(*done.lines, *_ended(done.exit_code))) if done.exit_code else done


def _placed(workers: Sequence[Worker], slots: Mapping[str, int], number: int) -> tuple[Worker, ...]:
    """Return the pod of each process: slot by slot, pod by pod, and around again beyond them."""
    round_of = [worker for worker in workers for _ in range(slots[worker.name])]
    return tuple(round_of[process % len(round_of)] for process in range(number)) if round_of else ()


def _too_many(number: int, name: str) -> Printed:
    lines = (
        _RULE,
        f"There are not enough slots available in the system to satisfy the {number}",
        "slots that were requested by the application:",
        "",
        f"  {name}",
        "",
        "Either request fewer slots for your application, or make more slots",
        "available for use.",
        _RULE,
    )
    return Printed(lines, 1, f"{lines[1]} {lines[2]}")


def _refused(why: str) -> Printed:
    return Printed((_RULE, why, _RULE), 1, why)


def _ended(code: int) -> tuple[str, ...]:
    return (
        _RULE,
        "Primary job  terminated normally, but 1 process returned",
        "a non-zero exit code. Per user-direction, the job has been aborted.",
        _RULE,
        _RULE,
        "mpirun detected that one or more processes exited with non-zero status, thus causing",
        "the job to be terminated. The first process to do so was:",
        "",
        "  Process name: [[8531,1],0]",
        f"  Exit code:    {code}",
        _RULE,
    )
