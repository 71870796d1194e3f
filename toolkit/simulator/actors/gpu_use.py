"""Which pod has which GPU of a node, and whether its job computes on it now."""

import re

from core.apis import names as platform
from toolkit.simulator import names, pods
from toolkit.simulator.actors import job_inputs, launcher, pod_devices
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.launcher import together
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.performance import nccl_tests
from toolkit.simulator.performance.job import Machine
from toolkit.simulator.performance.pod_commands import IMAGES

_WORDS = re.compile(r"[\w.+-]+")
_COMPUTING = frozenset({*nccl_tests.PROGRAMS, "run_and_time.sh", "vectorAdd"})
"""Programs, beside Python scripts, that keep their GPUs busy."""


def computes(pod: Object) -> bool:
    """Return whether what a pod runs computes on GPUs; an unknown program is assumed not to.

    A user's own Python script computes, as it does for its log (`toolkit.simulator.performance.pod_commands`).
    """
    words = _WORDS.findall(pods.command(pod))
    if not words:
        return pods.basename(pods.image(pod)) in IMAGES
    return any(word in _COMPUTING or word.endswith(".py") for word in words)


def busy(pod: Object, runtime: Runtime) -> bool:
    """Return whether a pod that runs computes: a worker does while its launcher runs, a rank once all have joined."""
    leader = _launcher(pod, runtime)
    works = pod if leader is None else leader
    if not pods.runs(works) or not computes(works):
        return False
    # Until the end of the work is decided, it waits for another pod.
    return not pods.finite(works) or names.EXIT_CODE in pods.annotations(works)


def holders(machine: Machine, runtime: Runtime) -> dict[int, Object]:
    """Return GPU -> the pod that has it, of those that run on a machine."""
    pod_of_gpu: dict[int, Object] = {}
    for pod in runtime.running_on(machine.name):
        if platform.GPU_RESOURCE in pods.limits(pod) or pod_devices.gpus(pod, admin=False):
            pod_of_gpu |= dict.fromkeys(job_inputs.worker(pod, machine, runtime).gpus, pod)
    return pod_of_gpu


def sending(machine: Machine, runtime: Runtime) -> dict[str, int]:
    """Return HCA -> pods on a machine that send through it: those of jobs of several pods that compute."""
    pods_of_hca: dict[str, int] = {}
    for pod in runtime.running_on(machine.name):
        if pods.limits(pod) and busy(pod, runtime) and _has_peers(pod, runtime):
            for port in job_inputs.worker(pod, machine, runtime).ports:
                pods_of_hca[port.name] = pods_of_hca.get(port.name, 0) + 1
    return pods_of_hca


def _has_peers(pod: Object, runtime: Runtime) -> bool:
    leader = _launcher(pod, runtime)
    if leader is not None:
        return len(launcher.slots(launcher.hostfile(leader, runtime))) > 1
    return len(together(pod, runtime)) > 1


def _launcher(pod: Object, runtime: Runtime) -> Object | None:
    """Return the launcher of a worker's MPIJob that runs; None for a pod of another kind, and without one."""
    if launcher.is_launcher(pod):
        return None
    for job, role in ((launcher.JOB_NAME, launcher.ROLE), (launcher.SSH_JOB_NAME, launcher.SSH_ROLE)):
        name = pods.labels(pod).get(job)
        for other in runtime.pods.items() if name else ():
            same = (
                other["metadata"]["namespace"] == pod["metadata"]["namespace"] and pods.labels(other).get(job) == name
            )
            if same and pods.labels(other).get(role) == "launcher" and pods.runs(other):
                return other
    return None
