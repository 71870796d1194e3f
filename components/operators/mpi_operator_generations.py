"""What the MPI operator is in each API generation: rights, schema of its kind, command line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.base.rights import Rule
from core.apis import mpirun
from core.apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1

Schema = dict[str, Any]

OPEN: Any = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of what may hold anything."""
_COUNT = {"type": "integer", "format": "int32", "minimum": 0}


@dataclass(frozen=True)
class Generation:
    """One generation of the operator."""

    rules: tuple[Rule, ...]
    schema: Callable[[], Any]
    own_rules: tuple[Rule, ...] = ()
    """Rights in its own namespace only."""
    delivers_kubectl: bool = False
    """Its launchers reach their workers by kubectl exec, and get kubectl from an image of the operator's."""
    former: tuple[str, ...] = ()
    """Versions whose objects can still be read and deleted (`schema_former`)."""
    confined: bool = False
    """Its cluster has the SCC restricted-v2, and its pod declares what that requires."""


RULES_V1ALPHA2: tuple[Rule, ...] = (
    ("", ("configmaps", "serviceaccounts"), ("create", "list", "watch")),
    # The operator hands these two on to every launcher, so it must hold them itself.
    ("", ("pods",), ("get", "list", "watch")),
    ("", ("pods/exec",), ("create",)),
    ("", ("events",), ("create", "patch")),
    ("rbac.authorization.k8s.io", ("roles", "rolebindings"), ("create", "list", "watch")),
    ("apps", ("statefulsets",), ("create", "list", "update", "watch")),
    ("batch", ("jobs",), ("create", "list", "update", "watch")),
    ("kubeflow.org", ("mpijobs", "mpijobs/finalizers", "mpijobs/status"), ("get", "list", "watch", "update", "patch")),
)
"""What v0.2.3 does without leader election, gang scheduling and disruption budgets."""

RULES_V2BETA1: tuple[Rule, ...] = (
    ("", ("configmaps", "secrets", "services"), ("create", "list", "update", "watch")),
    ("", ("pods",), ("create", "delete", "list", "watch")),
    ("", ("events",), ("create", "patch")),
    ("batch", ("jobs",), ("create", "list", "update", "watch")),
    # A job that Kueue resumes gets its start time cleared; upstream's own role lacks this.
    ("batch", ("jobs/status",), ("update",)),
    # Watched without gang scheduling too: v0.8.2 ends when it may not.
    ("scheduling.k8s.io", ("priorityclasses",), ("list", "watch")),
    ("kubeflow.org", ("mpijobs",), ("get", "list", "watch")),
    # On OpenShift only accounts that may set an owner's finalizers may block its deletion.
    ("kubeflow.org", ("mpijobs/finalizers", "mpijobs/status"), ("update", "patch")),
)
"""What v0.8.2 does without gang scheduling, read from its controller; upstream's role also has exec, endpoints, CRDs.

It reads the Secrets of all namespaces, among which it looks for its own key pairs.
"""

ELECTION: tuple[Rule, ...] = (("coordination.k8s.io", ("leases",), ("create", "get", "update")),)
"""The lock of v0.8.2, which always elects a leader."""


def schema_v1alpha2() -> Schema:
    """Return the OpenAPI schema of MPIJob v1alpha2: what upstream's v1beta1 definition checked, and no more."""

    def replicas(**bounds: int) -> Schema:
        return {**OPEN, "properties": {"replicas": {"type": "integer", **bounds}}}

    spec = {
        **OPEN,
        "properties": {
            "slotsPerWorker": {"type": "integer", "minimum": 1},
            "mpiReplicaSpecs": {
                "type": "object",
                "properties": {"Launcher": replicas(minimum=1, maximum=1), "Worker": replicas(minimum=1)},
            },
        },
    }
    return {"type": "object", "properties": {"spec": spec, "status": OPEN}}


def schema_v2beta1() -> Schema:
    """Return the OpenAPI schema of MPIJob v2beta1: every field outside pod templates, with the operator's rules.

    Upstream's definition is 8,900 lines, most of them the pod template; here a template may hold anything, and the
    API server validates the pods. Ports get upstream's default protocol: Kueue compares a job with its Workload, where
    the protocol is set, and would replace the Workload for ever. What v0.8.2 would only report in an event, without
    acting, is rejected here.
    """
    policy = {
        "type": "object",
        "properties": {
            "cleanPodPolicy": _choice(mpirun.VALUES["cleanPodPolicy"]),
            "ttlSecondsAfterFinished": _COUNT,
            "activeDeadlineSeconds": {**_COUNT, "format": "int64"},
            "backoffLimit": _COUNT,
            "suspend": {"type": "boolean"},
            "managedBy": _choice(mpirun.MANAGERS),
            "schedulingPolicy": OPEN,
        },
    }
    spec = {
        "type": "object",
        "required": ["mpiReplicaSpecs"],
        "properties": {
            "slotsPerWorker": {**_COUNT, "default": 1},
            "runLauncherAsWorker": {"type": "boolean"},
            "sshAuthMountPath": {"type": "string", "minLength": 1, "default": mpirun.SSH_MOUNT},
            "launcherCreationPolicy": _choice(mpirun.VALUES["launcherCreationPolicy"], default="AtStartup"),
            "mpiImplementation": _choice(mpirun.VALUES["mpiImplementation"], default="OpenMPI"),
            "runPolicy": policy,
            "mpiReplicaSpecs": {
                "type": "object",
                "required": ["Launcher"],
                "properties": {"Launcher": _replicas(maximum=1), "Worker": _replicas()},
            },
        },
    }
    return {"type": "object", "properties": {"spec": spec, "status": OPEN}}


def schema_former(version: str) -> Any:
    """Return the schema of a version that exists only so that its old objects, and what they own, can be deleted.

    A server keeps every version that it ever stored an object in. New objects are rejected: the operator would read
    them as its own version, whose fields differ.
    """
    message = f"MPIJob {version} can only be read and deleted; use {MPI_JOB_V2BETA1.api_version}"
    spec = {**OPEN, "x-kubernetes-validations": [{"rule": "false", "message": message}]}
    return {"type": "object", "required": ["spec"], "properties": {"spec": spec, "status": OPEN}}


def _choice(values: frozenset[str], **more: str) -> Schema:
    return {"type": "string", "enum": sorted(values), **more}


def _replicas(**bounds: int) -> Schema:
    return {
        "type": "object",
        "required": ["template"],
        "properties": {
            "replicas": {**_COUNT, "minimum": 1, **bounds},
            "restartPolicy": _choice(mpirun.RESTART_POLICIES),
            "template": _template(),
        },
    }


def _template() -> Schema:
    port = {**OPEN, "properties": {"protocol": {"type": "string", "default": "TCP"}}}
    containers = _list({**OPEN, "properties": {"ports": _list(port)}})
    pod = {**OPEN, "properties": {"containers": containers, "initContainers": containers}}
    return {**OPEN, "properties": {"spec": pod}}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


GENERATIONS: Mapping[str, Generation] = {
    MPI_JOB_V1ALPHA2.version: Generation(rules=RULES_V1ALPHA2, schema=schema_v1alpha2, delivers_kubectl=True),
    MPI_JOB_V2BETA1.version: Generation(
        rules=RULES_V2BETA1,
        schema=schema_v2beta1,
        own_rules=ELECTION,
        former=(MPI_JOB_V1ALPHA2.version,),
        confined=True,
    ),
}
