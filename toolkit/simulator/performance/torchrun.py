"""torchrun: which process gets which pod's GPUs, and what a pod prints of it."""

from collections.abc import Sequence
from dataclasses import replace

from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, Program

_NODES, _PROCESSES = "PET_NNODES", "PET_NPROC_PER_NODE"
_WITHOUT_VALUE = frozenset({"--standalone", "--no-python", "--no_python", "-m", "--module"})


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
    return replace(done, lines=tuple(lines))


def _number(job: Launched, name: str, otherwise: int) -> int:
    text = job.environment.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 6 else otherwise  # noqa: PLR2004 - of any script
