"""What is wrong between the NUMA nodes of a machine and pods that must be on one of them."""

from collections.abc import Iterator

from components.layout import Layout
from hardware import topology
from hardware.cpus import parse
from stacks.platform import Settings


def problems(wanted: Layout, cpus: int, settings: Settings) -> Iterator[str]:
    """Yield why no NUMA node has all that a container requests, where the kubelet admits no other pod."""
    kubelet = settings.tuning.kubelet if settings.tuning else None
    if kubelet is None or kubelet.topology_policy != "single-numa-node":
        return
    machine = settings.profile
    reserved = parse(topology.reserved_cpus(machine, kubelet.reserved))
    gpus, there = max((len(node.gpus), len(node.cpu_set - reserved)) for node in machine.numa)
    refused = "the nodes end its pods for ever"
    if wanted.gpus > gpus:
        yield (
            f"layout.gpus {wanted.gpus}: tuning.kubelet.topology_policy is single-numa-node, and a NUMA node of "
            f"{machine.name} has {gpus} GPUs: {refused}; give at most {gpus}, or another policy"
        )
    elif cpus > there:
        yield (
            f"layout.gpus {wanted.gpus} takes {cpus} CPUs: tuning.kubelet.topology_policy is single-numa-node, and a "
            f"NUMA node of {machine.name} has {there} that are not reserved: {refused}; raise reserve.cpus, or give "
            "another policy"
        )
