"""Every rdma/<name> that a container asks for is one that the device plugin's configuration offers."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Parameters, Rule
from policies.views.device_plugins import offers
from policies.views.devices import place, rdma


def _examine(subject: Obj, inventory: Inventory, __: Parameters) -> Iterator[Violation]:
    for container in subject.containers:
        if container.requests:
            yield from _container(container, inventory)


def _container(container: Container, inventory: Inventory) -> Iterator[Violation]:
    for request in rdma(container):
        offered = inventory.once(offers)
        if request.resource in offered.resources:
            continue
        if not offered.configured:
            yield container.unlinked(
                f"asks for {request.resource}, and no configuration of the RDMA device plugin is among the objects",
                *place(request),
            )
        elif not offered.complete:
            yield container.unverified(
                f"the configuration of the RDMA device plugin, from which {request.resource} should come, is unknown "
                "until the update",
                *place(request),
            )
        else:
            names = ", ".join(sorted(offered.resources)[:10]) or "nothing"
            yield container.violation(
                f"asks for {request.resource}, and the RDMA device plugin offers {names}", *place(request)
            )


RDMA_OFFERED = Rule(
    name="rdma-offered",
    what="Every rdma/<name> that a container asks for comes from an entry of the RDMA device plugin's configuration.",
    why="A resource that no node has keeps the pod Pending forever (0/2 nodes are available: Insufficient "
    "rdma/shared_ib4). The job is admitted, and nothing reports that the name is wrong.",
    remedy="Ask for a resource that the plugin's configList names (resourcePrefix/resourceName), or add an entry to it",
    source="R-3.4.2-3, R-3.4.2-6, platform-facts 4.3 rule 16",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    links=True,
)
