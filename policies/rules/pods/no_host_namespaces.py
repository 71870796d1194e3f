"""No pod shares the network, the processes, the memory segments or a port of its node."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Rule
from policies.views.infrastructure import AGENTS, Infrastructure

_FIELDS = ("hostNetwork", "hostPID", "hostIPC")


def _examine(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for pod in subject.pods:
        fields = [field for field in _FIELDS if field in pod.tree or subject.unknown]
        shared = [field for field in fields if pod.read(field) not in (None, False)]
        if shared and not parameters.excepts(subject):
            for field in shared:
                yield pod.violation(f"sets {field}", field)
        for container in pod.containers:
            for entry in container.parts("ports") if "ports" in container.tree else ():
                port = entry.read("hostPort")
                if port and not parameters.excepts(subject):
                    yield entry.violation(f"takes port {brief(port)} of its node", "hostPort")


NO_HOST_NAMESPACES = Rule(
    name="no-host-namespaces",
    what="No pod sets hostNetwork, hostPID or hostIPC, and no container takes a hostPort; objects in the parameter "
    "infrastructure are exempt.",
    why="A pod on its node's network bypasses every network policy and reaches the kubelet; one that sees its node's "
    "processes can signal them and read their environment. RDMA does not need it: the device comes with rdma/<name>. "
    "Under an ordinary account the pod is refused anyway (Host network is not allowed to be used).",
    remedy=f"Delete the field; ask for rdma/<name> to get the adapters, and use a Service for a port; {AGENTS}",
    source="P-7, R-3.4.2-5, platform-facts 4.1",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_examine,
)
