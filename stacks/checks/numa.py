"""What is wrong between the NUMA nodes of a machine and pods that must be on one of them."""

from collections.abc import Iterator

from core.hardware import topology
from core.hardware.cpus import parse
from stacks.resolved.jobs import ProgramJob


def problems(job: ProgramJob) -> Iterator[str]:
    """Yield why no NUMA node has all that a container requests, where the kubelet admits no other pod."""
    kubelet = job.pool.tuning.kubelet if job.pool.tuning else None
    if kubelet is None or kubelet.topology_policy != "single-numa-node":
        return
    machine, cpus = job.pool.machine, job.share.cpus
    reserved = parse(topology.reserved_cpus(machine, kubelet.reserved))
    gpus, free_cpus = max((len(node.gpus), len(node.cpu_set - reserved)) for node in machine.numa)
    refused = "the nodes end its pods for ever"
    if job.layout.gpus > gpus:
        yield (
            f"layout.gpus {job.layout.gpus}: tuning.kubelet.topology_policy is single-numa-node, and a NUMA node of "
            f"{machine.name} has {gpus} GPUs: {refused}; give at most {gpus}, or another policy"
        )
    elif cpus > free_cpus:
        yield (
            f"layout.gpus {job.layout.gpus} takes {cpus} CPUs: tuning.kubelet.topology_policy is single-numa-node, and "
            f"a NUMA node of {machine.name} has {free_cpus} that are not reserved: {refused}; raise reserve.cpus, or "
            "give another policy"
        )
