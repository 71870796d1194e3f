"""A pod takes whole GPUs or slices of one kind, not both."""

from collections.abc import Iterator

from core.apis.names import GPU_RESOURCE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, is_share


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        resources = {request.resource for container in pod.containers for request in gpus(container)}
        if len(resources) > 1 and len(resources := {resource for resource in resources if not is_share(resource)}) > 1:
            kinds = ", ".join(sorted(resources))[:200]
            yield pod.violation(
                f"asks for {kinds} in one pod: each has a quota of its own, and none counts both", "containers"
            )


GPU_WHOLE_OR_SLICE = Rule(
    name="gpu-whole-or-slice",
    what=f"A pod asks for only one kind of GPU resource: {GPU_RESOURCE}, a shared GPU, or slices of one size "
    "(nvidia.com/mig-*).",
    why="Quotas and queues count each resource separately, so a tenant that has used up its whole GPUs can still take "
    "slices. CUDA sees either one slice or whole GPUs, never both: the rest is held for nothing.",
    remedy="Ask for one of them; split programs of different sizes into separate jobs",
    source="D-2.7, P-13; docs.nvidia.com/datacenter/tesla/mig-user-guide",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
