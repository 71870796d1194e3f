"""What is wrong between the memory of NUMA nodes and pods that must get theirs from them."""

from collections.abc import Iterator

from core.hardware.topology import system_gib
from stacks.resolved import jobs
from stacks.resolved.jobs import ProgramJob
from stacks.settings.platform import Settings

_STRICT = ("restricted", "single-numa-node")


def problems(settings: Settings) -> Iterator[str]:
    """Yield jobs whose pods the kubelet rejects because the NUMA nodes of their GPUs have too little memory."""
    for job in jobs.every(settings):
        kubelet = job.pool.tuning.kubelet if job.pool.tuning else None
        strict = kubelet is not None and kubelet.memory_manager and kubelet.topology_policy in _STRICT
        if isinstance(job, ProgramJob) and kubelet and strict:
            yield from _pods(job, kubelet.topology_policy)


def _pods(job: ProgramJob, policy: str) -> Iterator[str]:
    """Yield why the pods of a job that come to one NUMA node have no room there.

    A pod gets its memory from the NUMA node of its GPUs; so the second one of a node waits for what the first one has.
    A single pod with more than a node's memory gets a second node's with `restricted`, and nothing otherwise.
    """
    machine, gpus, memory = job.pool.machine, job.layout.gpus, job.share.memory_gib
    capacity = (machine.memory_gib - system_gib(machine)) // len(machine.numa)
    pods = max(len(node.gpus) for node in machine.numa) // gpus
    if pods * memory <= capacity or (pods == 1 and policy == "restricted"):
        return
    yield (
        f"stages: job {job.workload.name}: tuning.kubelet has memory_manager and topology_policy {policy}, and a NUMA "
        f"node of {machine.name} has {capacity} GiB for {pods} of its pods, which take {memory} each: the nodes end "
        f"{'them' if pods == 1 else 'all but the first'} for ever; raise reserve.memory_gib to "
        f"{machine.memory_gib - capacity // pods // gpus * machine.gpus}, or turn memory_manager off"
    )
