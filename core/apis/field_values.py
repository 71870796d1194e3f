"""The values that a field of the API takes beyond its type: one of several words, a range, a quantity."""

import re
from collections.abc import Mapping

_PULL = frozenset({"Always", "IfNotPresent", "Never"})
_RESTART = frozenset({"Always", "OnFailure", "Never"})
_TERMINATION = frozenset({"File", "FallbackToLogsOnError"})
_SECCOMP = frozenset({"Localhost", "RuntimeDefault", "Unconfined"})
_MODES = frozenset({"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"})
_VOLUME_MODE = frozenset({"Block", "Filesystem"})

WORDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("AppArmorProfile", "type"): _SECCOMP,
    ("Container", "imagePullPolicy"): _PULL,
    ("Container", "restartPolicy"): _RESTART,
    ("Container", "terminationMessagePolicy"): _TERMINATION,
    ("ContainerPort", "protocol"): frozenset({"TCP", "UDP", "SCTP"}),
    ("CronJobSpec", "concurrencyPolicy"): frozenset({"Allow", "Forbid", "Replace"}),
    ("DaemonSetUpdateStrategy", "type"): frozenset({"OnDelete", "RollingUpdate"}),
    ("DeploymentStrategy", "type"): frozenset({"Recreate", "RollingUpdate"}),
    ("EphemeralContainer", "imagePullPolicy"): _PULL,
    ("EphemeralContainer", "terminationMessagePolicy"): _TERMINATION,
    ("HTTPGetAction", "scheme"): frozenset({"HTTP", "HTTPS"}),
    ("JobSpec", "completionMode"): frozenset({"Indexed", "NonIndexed"}),
    ("KubeletConfiguration", "cpuManagerPolicy"): frozenset({"none", "static"}),
    ("KubeletConfiguration", "memoryManagerPolicy"): frozenset({"None", "Static"}),
    ("KubeletConfiguration", "topologyManagerPolicy"): frozenset(
        {"best-effort", "none", "restricted", "single-numa-node"}
    ),
    ("KubeletConfiguration", "topologyManagerScope"): frozenset({"container", "pod"}),
    ("PersistentVolumeClaimSpec", "accessModes"): _MODES,
    ("PersistentVolumeClaimSpec", "volumeMode"): _VOLUME_MODE,
    ("PersistentVolumeSpec", "accessModes"): _MODES,
    ("PersistentVolumeSpec", "persistentVolumeReclaimPolicy"): frozenset({"Delete", "Recycle", "Retain"}),
    ("PersistentVolumeSpec", "volumeMode"): _VOLUME_MODE,
    ("PodSpec", "dnsPolicy"): frozenset({"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}),
    ("PodSpec", "preemptionPolicy"): frozenset({"Never", "PreemptLowerPriority"}),
    ("PodSpec", "restartPolicy"): _RESTART,
    ("SeccompProfile", "type"): _SECCOMP,
    ("Toleration", "effect"): frozenset({"NoExecute", "NoSchedule", "PreferNoSchedule"}),
}
"""The words that a field takes, by type and field; an empty one means its default."""

PORTS = frozenset(
    {("ContainerPort", "containerPort"), ("ContainerPort", "hostPort"), ("GRPCAction", "port")}
    | {("HTTPGetAction", "port"), ("TCPSocketAction", "port")}
)
"""Fields that hold the number of a port; those of probes may hold its name."""
PORT_RANGE = range(1, 65536)

QUANTITIES = frozenset({("EmptyDirVolumeSource", "sizeLimit"), ("ResourceFieldSelector", "divisor")})
"""Fields that hold one quantity."""
QUANTITY = re.compile(r"[+-]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][+-]?\d{1,3}|[numkMGTPE]|[KMGTPE]i)?")
"""How a quantity is written."""

NARROW = frozenset(
    {"containerPort", "defaultMode", "failureThreshold", "hostPort", "initialDelaySeconds", "lun", "maxSkew"}
    | {"minDomains", "mode", "partition", "periodSeconds", "port", "priority", "successThreshold", "timeoutSeconds"}
    | {"weight"}
)
"""Fields of a pod or an SCC that hold a number of 32 bits; others hold 64."""
