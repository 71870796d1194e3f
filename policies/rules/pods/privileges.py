"""Privileges of containers, and namespaces of the node that pods share."""

from collections.abc import Iterator

from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.values import brief, read
from policies.rule import Rule, Severity
from policies.views.admitted_pods import Admitting, admitted_pod
from policies.views.tenants import AGENTS, Infrastructure

_PRIVILEGED = ("securityContext", "privileged")


def _not_privileged(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for container in subject.containers:
        # Any value but false counts: a text is for the API server to refuse.
        if container.read(*_PRIVILEGED) not in (None, False) and not parameters.excepts(subject):
            yield container.violation("is privileged", *_PRIVILEGED)


NOT_PRIVILEGED = Rule(
    name="not-privileged",
    what="No container is privileged; objects in the parameter infrastructure are exempt.",
    why="A privileged container is root on its node, with every device, the disks and the memory of all other tenants. "
    "GPUs and RDMA come through device plugins and do not need it. Under an ordinary account the pod is refused anyway "
    "(unable to validate against any security context constraint: Privileged containers are not allowed).",
    remedy=f"Delete privileged; set limits for nvidia.com/gpu and rdma/<name>, and add IPC_LOCK for RDMA; {AGENTS}",
    source="E-40, R-1.3, D-5.3, P-7, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_not_privileged,
)


_ESCALATION = ("securityContext", "allowPrivilegeEscalation")


def _no_privilege_escalation(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for container in subject.containers:
        if container.read(*_ESCALATION) is True and not parameters.excepts(subject):
            yield container.violation("sets allowPrivilegeEscalation: true", *_ESCALATION)


NO_PRIVILEGE_ESCALATION = Rule(
    name="no-privilege-escalation",
    what="No container sets allowPrivilegeEscalation: true; objects in the parameter infrastructure are exempt.",
    why="A setuid program in the image makes an ordinary user root in the container. `restricted` of 4.4 allows it; "
    "under restricted-v2 the pod is refused when it is created (Allowing privilege escalation for containers is not "
    "allowed), perhaps long after its workload was applied.",
    remedy=f"Write securityContext.allowPrivilegeEscalation: false; {AGENTS}",
    source="S-6.3, E-40, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_no_privilege_escalation,
)


_NEEDING = frozenset({"SYS_ADMIN", "CAP_SYS_ADMIN"})


class EscalationSet(Infrastructure, Admitting):
    """Which objects are exempt, and which SCCs set the field themselves."""


def _escalation_set(subject: Obj, inventory: Inventory, parameters: EscalationSet) -> Iterator[Violation]:
    for pod in subject.pods:
        containers = [
            container
            for container in pod.containers
            if container.read(*_ESCALATION) is None and not _cannot_be_false(container)
        ]
        if containers and not parameters.excepts(subject):
            completed = admitted_pod(pod, inventory, parameters.release)
            for container in containers:
                if completed is None or completed.missing or completed.read(container, _ESCALATION[1]) is not False:
                    yield container.violation("does not set allowPrivilegeEscalation", *_ESCALATION)


def _cannot_be_false(container: Container) -> bool:
    """Return whether the API server would refuse false here, which other rules report."""
    if read(container.tree, "securityContext", "privileged") is True:
        return True
    return not _NEEDING.isdisjoint(container.capabilities("add"))


ESCALATION_SET = Rule(
    name="escalation-set",
    what="Every container sets allowPrivilegeEscalation, or is admitted by an SCC that does; objects in the "
    "parameter infrastructure are exempt.",
    why="The SCC decides what an unset field means: under `restricted` of OpenShift 4.4 it is true, and a setuid "
    "program in the image makes an ordinary user root in the container; restricted-v2 sets it to false. Pod Security "
    "admission at the restricted level refuses the pod (allowPrivilegeEscalation != false).",
    remedy="Write securityContext.allowPrivilegeEscalation: false in every container",
    source="S-6.3, E-40, platform-facts 4.3",
    severity=Severity.ADVISORY,
    parameters=EscalationSet,
    examine=_escalation_set,
    links=True,
)


def _no_host_namespaces(subject: Obj, _: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for pod in subject.pods:
        fields = [field for field in ("hostNetwork", "hostPID", "hostIPC") if field in pod.tree or subject.unknown]
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
    examine=_no_host_namespaces,
)
