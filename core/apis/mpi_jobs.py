"""The fields of an MPIJob in each API generation, and what they may be."""

from collections.abc import Mapping

Fields = frozenset[str]

_BOUNDS: Fields = frozenset({"backoffLimit", "activeDeadlineSeconds"})
_RUN_POLICY: Fields = _BOUNDS | {"cleanPodPolicy", "ttlSecondsAfterFinished", "schedulingPolicy", "suspend"}

SPEC: Mapping[str, Fields] = {
    "v1alpha2": _BOUNDS | {"slotsPerWorker", "cleanPodPolicy", "mpiReplicaSpecs", "mainContainer", "mpiDistribution"},
    "v1": frozenset({"slotsPerWorker", "cleanPodPolicy", "mpiReplicaSpecs", "mainContainer", "runPolicy"}),
    "v2beta1": frozenset({"slotsPerWorker", "runLauncherAsWorker", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath"})
    | {"launcherCreationPolicy", "mpiImplementation"},
}
"""Fields of `spec`."""

RUN_POLICY: Mapping[str, Fields] = {
    "v1alpha2": frozenset(),
    "v1": _RUN_POLICY | {"managedBy"},
    "v2beta1": _RUN_POLICY | {"managedBy"},
}
"""Fields of `spec.runPolicy`; the operator of v1alpha2 knows no such field."""

FORMER: Fields = frozenset(
    {"gpus", "gpusPerNode", "processingUnits", "processingUnitsPerNode", "processingResourceType"}
    | {"launcherOnMaster", "replicas", "template"}
)
"""Fields of `spec` in v1alpha1, which no later version has."""

REPLICA: Fields = frozenset({"replicas", "template", "restartPolicy"})
"""Fields of a launcher or worker."""

VALUES: Mapping[str, Fields] = {
    "cleanPodPolicy": frozenset({"None", "Running", "All"}),
    "mpiImplementation": frozenset({"OpenMPI", "Intel", "MPICH"}),
    "launcherCreationPolicy": frozenset({"AtStartup", "WaitForWorkersReady"}),
}
"""What a field may be."""

RESTART_POLICIES: Fields = frozenset({"Never", "OnFailure"})
"""Of a launcher or worker in v2beta1."""

MANAGERS: Fields = frozenset({"kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"})
"""What `runPolicy.managedBy` may be."""

SSH_MOUNT = "/root/.ssh"
"""Where v2beta1 mounts the keys of its SSH connections by default."""


def bounds_place(version: str) -> tuple[str, ...]:
    """Return the path of backoffLimit and activeDeadlineSeconds in a version."""
    return ("spec",) if version == "v1alpha2" else ("spec", "runPolicy")
