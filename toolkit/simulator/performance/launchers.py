"""Launchers of ranks, mpirun of Open MPI and torchrun: which pod gets which process, with what environment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.apis.mpirun import number, read
from toolkit.simulator.performance.job import Launched, Worker
from toolkit.simulator.performance.printed import Printed, Program

_RULE = "-" * 74
MOST_PROCESSES = 10_000
"""Of one job, whatever its command line says."""
_NODES, _PROCESSES = "PET_NNODES", "PET_NPROC_PER_NODE"
_WITHOUT_VALUE = frozenset({"--standalone", "--no-python", "--no_python", "-m", "--module"})


def mpirun(words: Sequence[str], job: Launched, program: Program) -> Printed:
    """Return what a job prints: `program` simulates what each process runs, all of them together."""
    call = read(words)
    if not call.program:
        return _refused("mpirun could not find anything to do.")
    slots = {worker.name: job.slots.get(worker.name, 1) for worker in job.workers}
    requested = number(call.processes.text) if call.processes is not None else None
    count = sum(slots.values()) if requested is None else requested
    allowed = MOST_PROCESSES if "oversubscribe" in call.flags else sum(slots.values())
    if count > allowed:
        return _too_many(count, call.program[0])
    if any(name not in slots for name in job.slots):
        return _refused("ORTE was unable to reliably start one or more daemons.")
    # Processes beside mpirun have its environment; those on other hosts what is exported, and their own.
    environment = dict(job.environment) if job.me in job.workers else {}
    exports = {name: job.environment.get(name) if value is None else value for name, (value, _) in call.exports.items()}
    environment |= {name: value for name, value in exports.items() if value is not None}
    started = replace(job, processes=_placed(job.workers, slots, count), environment=environment)
    done = program(call.program, started)
    if "tag-output" in call.flags:
        tag = "[1,0]<stdout>:"
        steps = replace(done.steps, tag=tag) if done.steps else None
        done = replace(done, lines=tuple(f"{tag}{line}" for line in done.lines), steps=steps)
    if done.steps is not None:
        return replace(done, steps=replace(done.steps, launcher="mpirun"))
    return replace(done, lines=(*done.lines, *_ended(done.exit_code))) if done.exit_code else done


def _placed(workers: Sequence[Worker], slots: Mapping[str, int], count: int) -> tuple[Worker, ...]:
    """Return the pod of each process: slot by slot, pod by pod, and around again beyond them."""
    round_of = [worker for worker in workers for _ in range(slots[worker.name])]
    return tuple(round_of[process % len(round_of)] for process in range(count)) if round_of else ()


def _too_many(count: int, name: str) -> Printed:
    lines = (
        _RULE,
        f"There are not enough slots available in the system to satisfy the {count}",
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


def torchrun(words: Sequence[str], job: Launched, program: Program) -> Printed:
    """Return what one pod prints; `program` simulates the script, of which all ranks run together.

    It waits for the pods of all nodes: the rendezvous does. Nodes and processes are read from PET_* alone.
    """
    rest = [*words[1:]]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if "=" not in option and option not in _WITHOUT_VALUE and rest:
            rest.pop(0)
    if not rest:
        why = "torchrun: error: the following arguments are required: training_script, training_script_args"
        return Printed((why,), 2, why)
    if len(job.workers) < _number(job, _NODES, 1):
        return Printed(waits=True)
    per_node = _number(job, _PROCESSES, max(len(job.me.gpus), 1))
    ranks = tuple(worker for worker in job.workers for _ in range(per_node))
    done = program(("python", *rest), replace(job, processes=ranks))
    if done.exit_code:
        return done
    others = tuple(f"{worker.name}:" for worker in job.workers if worker != job.me)
    first = job.workers[0] == job.me
    # NCCL names the host in its lines; what has none is rank 0's.
    own = f"{job.me.name}:"
    lines = (line for line in done.lines if line.startswith(own) or (first and not line.startswith(others)))
    return replace(done, lines=tuple(lines), steps=replace(done.steps, reports=first) if done.steps else None)


def _number(job: Launched, name: str, otherwise: int) -> int:
    text = job.environment.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 6 else otherwise  # noqa: PLR2004 - of any script
