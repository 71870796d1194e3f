"""A container with all GPUs of a node asks for every RDMA resource that the device plugin offers."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import GPU_RESOURCE, RDMA_PREFIX
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Parameters, Rule
from policies.views.device_plugins import offers
from policies.views.devices import gpus, rdma
from policies.views.machines import NOT_KNOWN, largest_node


class RdmaAllPorts(Parameters):
    """What a machine has."""

    gpus_per_node: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of a machine; default: of the stack's, or of the Nodes among the objects; without either, a "
        "container with at least as many GPUs as there are resources is undetermined",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: RdmaAllPorts) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests:
            yield from _container(container, inventory, parameters.gpus_per_node)


def _container(container: Container, inventory: Inventory, of_a_node: int | None) -> Iterator[Violation]:
    requested = {request.resource for request in rdma(container)}
    if not requested:  # without any it may run over TCP
        return
    count = max((request.count for request in gpus(container) if request.resource == GPU_RESOURCE), default=0)
    if not count:
        return
    offered = {resource for resource in inventory.once(offers).resources if resource.startswith(RDMA_PREFIX)}
    if not requested < offered:
        return
    ports = f"{len(requested)} of {len(offered)} RDMA resources, without {', '.join(sorted(offered - requested))}"
    all_gpus = of_a_node or inventory.once(largest_node)
    if all_gpus is None:
        if count >= len(offered):
            yield container.unverified(f"asks for {plural(count, 'GPU')} and for {ports}, {NOT_KNOWN}", "resources")
    elif count >= all_gpus:
        yield container.violation(f"asks for all {all_gpus} GPUs of a node and for {ports}", "resources")


RDMA_ALL_PORTS = Rule(
    name="rdma-all-ports",
    what="A container that asks for all GPUs of a node and for an RDMA resource asks for every one that the RDMA "
    "device plugin offers.",
    why="NCCL spreads its traffic over the ports that the container has. If one is missing, the GPUs beside it use "
    "another GPU's port, and the whole job runs at the speed of the slowest, without an error.",
    remedy="Ask for every rdma/<name> that the plugin's configList names, 1 of each",
    source="R-4.3-8",
    severity=Severity.ADVISORY,
    parameters=RdmaAllPorts,
    examine=_examine,
    links=True,
)
