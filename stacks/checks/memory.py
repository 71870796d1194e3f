"""What is wrong between the memory of NUMA nodes and pods that must get theirs from them."""

from collections.abc import Iterator
from contextlib import suppress

from hardware.topology import system_gib
from stacks import layouts
from stacks.platform import Settings
from stacks.workload_settings import RdmaTestWorkload, Started

_STRICT = ("restricted", "single-numa-node")


def problems(settings: Settings) -> Iterator[str]:
    """Yield jobs whose pods the kubelet rejects because the NUMA nodes of their GPUs have too little memory."""
    kubelet = settings.tuning.kubelet if settings.tuning else None
    if kubelet is None or not kubelet.memory_manager or kubelet.topology_policy not in _STRICT:
        return
    for stage in settings.stages:
        for job in stage.workloads:
            if not isinstance(job, RdmaTestWorkload):
                # A workload without a layout is reported with the workloads.
                with suppress(ValueError):
                    yield from _pods(job, settings, kubelet.topology_policy)


def _pods(job: Started, settings: Settings, policy: str) -> Iterator[str]:
    """Yield why the pods of a job that come to one NUMA node have no room there.

    A pod gets its memory from the NUMA node of its GPUs; so the second one of a node waits for what the first one has.
    A single pod with more than a node's memory gets a second node's with `restricted`, and nothing otherwise.
    """
    machine, gpus = settings.profile, layouts.layout(job, settings).gpus
    memory = layouts.pod_share(job, settings).memory_gib
    there = (machine.memory_gib - system_gib(machine)) // len(machine.numa)
    pods = max(len(node.gpus) for node in machine.numa) // gpus
    if pods * memory <= there or (pods == 1 and policy == "restricted"):
        return
    yield (
        f"stages: job {job.name}: tuning.kubelet has memory_manager and topology_policy {policy}, and a NUMA node of "
        f"{machine.name} has {there} GiB for {pods} of its pods, which take {memory} each: the nodes end "
        f"{'them' if pods == 1 else 'all but the first'} for ever; raise reserve.memory_gib to "
        f"{machine.memory_gib - there // pods // gpus * machine.gpus}, or turn memory_manager off"
    )
