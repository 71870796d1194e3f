"""The launcher of an MPIJob.

In v1alpha2 its init container waits for the workers of the hostfile; in v2beta1 it has none, and finds sshd on them or
fails.
"""

import re
from collections.abc import Sequence

from core.apis import names
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime

JOB_NAME, ROLE = names.MPI_JOB_NAME, names.MPI_ROLE
CONFIG_SUFFIX = "-config"
HOSTFILE = "hostfile"
SSH_JOB_NAME, SSH_ROLE = names.MPI_JOB_NAME_V2BETA1, names.MPI_ROLE_V2BETA1
SSHD = "sshd"
_SLOTS = re.compile(r"\s*([^\s.#]+)\S*(?:.*?\bslots=(\d+))?")
_SSH = re.compile(r"\bssh(-keyscan)? ")


def hosts(hostfile: str) -> Sequence[str]:
    """Return the worker pods that a hostfile names, one a line: `job-worker-0 slots=8`."""
    return [line.split()[0] for line in hostfile.splitlines() if line.strip()]


def slots(hostfile: str) -> dict[str, int]:
    """Return worker pod -> processes that a hostfile allows there, in its order; a line without slots means one."""
    matches = (_SLOTS.match(line) for line in hostfile.splitlines())
    return {line[1]: int(line[2] or 1) for line in matches if line}


def hostfile(pod: Object, runtime: Runtime) -> str:
    """Return the hostfile of the job that a launcher belongs to, empty where it has none."""
    marks = pods.labels(pod)
    job = marks.get(JOB_NAME) or marks.get(SSH_JOB_NAME, "")
    config = runtime.config_maps.get(job + CONFIG_SUFFIX, pod["metadata"]["namespace"])
    return str(((config or {}).get("data") or {}).get(HOSTFILE, ""))


def by_ssh(pod: Object) -> bool:
    """Return whether a pod is of a job of v2beta1, whose ranks have the variables that sshd gives them alone."""
    return SSH_ROLE in pods.labels(pod)


def is_launcher(pod: Object) -> bool:
    """Return whether a pod is a launcher, of either generation."""
    marks = pods.labels(pod)
    return "launcher" in (marks.get(ROLE), marks.get(SSH_ROLE))


def waits_for_workers(pod: Object, runtime: Runtime) -> bool:
    """Return whether the pod is a launcher whose init container has still to wait for a worker to be Ready.

    In v1alpha2 that is the operator's kubectl-delivery; in v2beta1 one that a job brings along, and that calls ssh.
    """
    marks = pods.labels(pod)
    if marks.get(ROLE) != "launcher" and not (marks.get(SSH_ROLE) == "launcher" and _probes_by_ssh(pod)):
        return False
    names = [name.partition(".")[0] for name in hosts(hostfile(pod, runtime))]
    workers = [runtime.pods.get(name, pod["metadata"]["namespace"]) for name in names]
    return not names or not all(worker is not None and pods.runs(worker) for worker in workers)


def _probes_by_ssh(pod: Object) -> bool:
    containers = pod["spec"].get("initContainers") or []
    return any(
        _SSH.search(" ".join([*(container.get("command") or []), *(container.get("args") or [])]))
        for container in containers
    )


def unreachable(pod: Object, runtime: Runtime) -> str | None:
    """Return why ssh of a launcher of v2beta1 does not reach a worker of its hostfile; None if it reaches all.

    Whether the user may log in is not simulated: only that the worker runs, and that what it runs is sshd.
    """
    marks = pods.labels(pod)
    if marks.get(SSH_ROLE) != "launcher":
        return None
    for host in hosts(hostfile(pod, runtime)):
        worker = runtime.pods.get(host.partition(".")[0], pod["metadata"]["namespace"])
        if worker is None or not pods.runs(worker):
            return f"ssh: Could not resolve hostname {host}: Name or service not known"
        if SSHD not in pods.command(worker):
            return f"ssh: connect to host {host}: Connection refused"
    return None


def index(pod: Object) -> int | None:
    """Return the number that the Job controller gave a pod; None for a pod of another kind."""
    text = pods.annotations(pod).get(names.COMPLETION_INDEX, "")
    return int(text) if text.isdecimal() else None


def together(pod: Object, runtime: Runtime) -> Sequence[Object]:
    """Return the pods of a pod's Indexed Job that run or have succeeded, and itself, by their index; else itself."""
    job, own = pods.labels(pod).get(names.JOB_NAME), index(pod)
    if job is None or own is None:
        return (pod,)
    pod_of_index = {
        number: other
        for other in runtime.pods.items()
        if other["metadata"].get("namespace") == pod["metadata"]["namespace"]
        and pods.labels(other).get(names.JOB_NAME) == job
        and (pods.runs(other) or pods.phase(other) == "Succeeded")
        and (number := index(other)) is not None
    }
    return [member for _, member in sorted((pod_of_index | {own: pod}).items())]
