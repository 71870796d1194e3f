"""GPUs come by the device plugin or by claims: each offers all GPUs of a node, and counts its own alone."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_POLICY, DAEMON_SET, GPU_CLUSTER
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Parameters, Rule, Severity

_PLUGIN, _DRIVER = "nvidia-device-plugin", "gpu-kubelet-plugin"
"""Programs that offer GPUs: NVIDIA's device plugin, and the part of its DRA driver that is for GPUs."""


def _one_allocation(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if subject.kind == GPU_CLUSTER.kind:
        for policy in inventory.of(CLUSTER_POLICY):
            yield subject.violation(f"stands beside {policy}, and the GPU Operator serves one of the two", "kind")
    elif subject.kind == CLUSTER_POLICY.kind:
        if subject.read("spec", "devicePlugin", "enabled") is not False:
            for plugin in _offering(inventory, _DRIVER):
                yield subject.violation(f"offers GPUs that {plugin} offers by claims", "spec", "devicePlugin")
    elif _offers(subject, _PLUGIN):
        for plugin in (*inventory.of(GPU_CLUSTER), *_offering(inventory, _DRIVER)):
            yield subject.violation(f"offers GPUs that {plugin} offers by claims", "spec")


def _offering(inventory: Inventory, program: str) -> list[Obj]:
    return [subject for subject in inventory.of(DAEMON_SET) if _offers(subject, program)]


def _offers(subject: Obj, program: str) -> bool:
    return any(program in word for container in subject.containers for word in _words(container))


def _words(container: Container) -> Iterator[str]:
    for field in ("command", "args"):
        yield from (word for word in container.entries(field) if isinstance(word, str))
    yield container.text("image").rpartition("/")[2]


GPU_ONE_ALLOCATION = Rule(
    name="gpu-one-allocation",
    what="A cluster has a ClusterPolicy or a GPUCluster, not both, and no device plugin for GPUs beside NVIDIA's DRA "
    "driver for them. The driver for ComputeDomains alone may be beside a device plugin.",
    why="Both offer every GPU of a node, and neither sees what the other has given away: two jobs get one GPU. The GPU "
    "Operator refuses a GPUCluster beside a ClusterPolicy (PrerequisiteNotMet).",
    remedy="Delete one of them, or turn devicePlugin or resources.gpus of the driver off",
    source="NVIDIA/gpu-operator v26.7.0, controllers/gpucluster_controller.go; NVIDIA/aicr pull request 332",
    severity=Severity.MANDATORY,
    examine=_one_allocation,
    kinds=(CLUSTER_POLICY, GPU_CLUSTER, DAEMON_SET),
    links=True,
)
