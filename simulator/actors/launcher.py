"""The launcher of an MPIJob, generation v1alpha2: its init container waits for the workers of the hostfile."""

from collections.abc import Sequence

from simulator.actors import pods
from simulator.actors.api import Object
from simulator.actors.runtime import Runtime

JOB_NAME = "mpi_job_name"
ROLE = "mpi_role_type"
CONFIG_SUFFIX = "-config"
HOSTFILE = "hostfile"


def hosts(hostfile: str) -> Sequence[str]:
    """Return the worker pods that a hostfile names, one a line: `job-worker-0 slots=8`."""
    return [line.split()[0] for line in hostfile.splitlines() if line.strip()]


def waits_for_workers(pod: Object, runtime: Runtime) -> bool:
    """Return whether the pod is a launcher whose kubectl-delivery has still to wait for a worker to be Ready."""
    marks = pods.labels(pod)
    if marks.get(ROLE) != "launcher":
        return False
    namespace = pod["metadata"]["namespace"]
    config = runtime.config_map(namespace, marks.get(JOB_NAME, "") + CONFIG_SUFFIX)
    names = hosts(((config or {}).get("data") or {}).get(HOSTFILE, ""))
    workers = [runtime.pods.get(name, namespace) for name in names]
    return not names or not all(worker is not None and pods.runs(worker) for worker in workers)
