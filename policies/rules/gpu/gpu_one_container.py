"""At most one container of a pod asks for GPUs."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, place, runs_along


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        if len(pod.containers) == 1:
            continue
        askers = [
            (container, requests)
            for container in pod.containers
            if runs_along(container) and (requests := gpus(container))
        ]
        for container, requests in askers[1:]:
            yield container.violation(
                f"asks for {requests[0].resource} beside container {askers[0][0].name}, which asks for GPUs already",
                *place(requests[0]),
            )


GPU_ONE_CONTAINER = Rule(
    name="gpu-one-container",
    what="At most one of the containers that run together in a pod asks for GPUs. "
    "An init container that ends before the others start does not count.",
    why="If a pod's GPUs are split between containers, each container sees only its own devices: NCCL falls back from "
    "NVLink to copies through the host, or the ranks hang at ncclCommInitRank.",
    remedy="Let one container ask for all GPUs of the pod, or give each container a pod of its own",
    source="R-4.4-10, P-4",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
