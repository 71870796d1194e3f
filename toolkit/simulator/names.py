"""Annotations of the simulated cluster: what is simulated, and what the runtime passes to kwok's stages."""

from core.simulated import MARKS

PREFIX = MARKS

PROFILE = PREFIX + "profile"
"""On nodes: name of the hardware profile; a node without one has no GPUs and no adapters."""
MEMLOCK = PREFIX + "memlock"
"""On nodes: `unlimited` once the container runtime runs with LimitMEMLOCK=infinity."""
UNLIMITED = "unlimited"
HOST_DRIVER = PREFIX + "host-driver"
"""On nodes: `true` where the system brings the GPU driver along."""
MACHINE = PREFIX + "machine"
"""On nodes whose machine is the stack's own: all of it, as JSON."""
PORTS = PREFIX + "ports"
"""On nodes whose ports have other names than their profile says: these, as JSON."""
PORT_MTUS = PREFIX + "port-mtus"
"""On nodes: interface -> the MTU that a policy for the node's network gave it, bytes, as JSON."""
PORTS_DOWN = PREFIX + "ports-down"
"""On nodes, by users and tests: the HCAs whose port has no link, as JSON, e.g. ["mlx5_2"]."""
FAULTS = PREFIX + "faults"
"""On nodes, by users and tests: what is wrong with GPUs and bridges, as JSON (performance/job.py)."""
LOST = PREFIX + "lost"
"""On nodes, by users and tests: the machine is off, whatever the value. On pods: they were on such a machine."""
EVICT = PREFIX + "evict"
"""On pods, by users and tests: the resource for lack of which the kubelet evicts them, e.g. `memory`."""
REGISTRIES_DOWN = PREFIX + "registries-down"
"""On nodes, by users and tests: the registries that the node does not reach, as JSON, e.g. ["quay.io"]."""
PULL_SECONDS = PREFIX + "pull-seconds"
"""On nodes, by users and tests: the seconds that the images of a pod take to pull; without it, none."""
NVLINK_CLIQUE = PREFIX + "nvlink-clique"
"""On nodes whose GPUs have NVLink to those of other nodes: the UUID of their NVLink domain, a dot, and the clique."""
MIG_CONFIG = PREFIX + "mig-config"
"""On nodes: how the GPUs are divided; they keep it when the manager's pod goes."""

ADMITTED_BY = PREFIX + "admitted-by"
"""On pods: what chose the SCC; OpenShift's own plugin is not here."""

VOLUMES = PREFIX + "volumes"
"""On pods: `ready` when everything that the pod mounts is there; containers start only then."""
INIT = PREFIX + "init"
"""On pods: `done` when the work of the init containers is done."""
EXIT_CODE = PREFIX + "exit-code"
"""On pods: the containers end, with this exit code, after RUN_FOR; pods without it run until they are deleted."""
RUN_FOR = PREFIX + "run-for"
"""On pods: a duration in Go's form, e.g. `1.5s`."""
UNREADY = PREFIX + "unready"
"""On pods: `true` when the containers start and never pass their probes."""
TAKES = PREFIX + "takes"
"""On pods, by their creator: the seconds that their work takes, in place of the cluster's `run_seconds`."""
COLLECTIVE_SECONDS = PREFIX + "collective-seconds"
"""On pods, by their creator: the seconds until their ranks give up on one that is silent, in place of NCCL's 600."""
TERMINATION_MESSAGE = PREFIX + "termination-message"
"""On pods: becomes `terminated.message` of the containers."""
RDMA_CONFIG = PREFIX + "rdma-config"
"""On the pods of RDMA and SR-IOV plugins: the resources of the configuration that was read at the start, as JSON."""
RDMA_DEVICES = PREFIX + "rdma-devices"
"""On the pods of RDMA plugins: resource -> interfaces of the node that its configuration names, as JSON."""

DEVICES = PREFIX + "devices"
"""On pods with claims: the devices that drivers prepared for them, as JSON (`actors/pod_devices.py`)."""

READY = "ready"
DONE = "done"

INTERFACES = PREFIX + "interfaces"
"""On nodes: the network interfaces of its adapters as they are called now, as JSON; nothing else knows them."""
KERNEL_ARGUMENTS = PREFIX + "kernel-arguments"
"""On nodes: what its kernel was started with, from MachineConfigs, as one line."""

EXTENSIONS = PREFIX + "extensions"
"""On nodes: what MachineConfigs add to the system, as one line, e.g. kernel-devel."""

SCALE_CLUSTERS = PREFIX + "scale-clusters"
"""On the Spectrum Scale driver's pods: the clusters that its operator configured, as JSON."""

GATEWAY = PREFIX + "gateway"
"""On StorageClasses of caches, by users and tests: `none` where their storage cluster has no gateway node."""

SCALE_CLUSTER_ID = "8027419560331176409"
"""Of container-native Storage Scale on every simulated cluster, where a real one draws a number."""
SCALE_STORAGE_ID = "215057217487177715"
"""Of the storage cluster behind its GUI, which no part of the cluster names: the Redpaper's."""

FILES_PROVISIONER = PREFIX + "files"
FILES_CLASS = "sim-files"
"""StorageClass of every simulated cluster, for volumes that many nodes mount."""


def system_version(release: str) -> str:
    """Return the version of the nodes' system, of a cluster of an OpenShift release, e.g. 4.20."""
    return f"{release.replace('.', '')}.simulated"
