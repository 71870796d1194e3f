"""Every container sets whether it may gain more privilege than it starts with."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.values import read
from policies.rule import Rule
from policies.views.admitted_pods import Admitting, admitted_pod
from policies.views.infrastructure import Infrastructure

_FIELD = ("securityContext", "allowPrivilegeEscalation")
_NEEDING = frozenset({"SYS_ADMIN", "CAP_SYS_ADMIN"})


class EscalationSet(Infrastructure, Admitting):
    """Which objects are exempt, and which SCCs set the field themselves."""


def _examine(subject: Obj, inventory: Inventory, parameters: EscalationSet) -> Iterator[Violation]:
    for pod in subject.pods:
        containers = [
            container
            for container in pod.containers
            if container.read(*_FIELD) is None and not _cannot_be_false(container)
        ]
        if containers and not parameters.excepts(subject):
            completed = admitted_pod(pod, inventory, parameters.release)
            for container in containers:
                if completed is None or completed.missing or completed.read(container, _FIELD[1]) is not False:
                    yield container.violation("does not set allowPrivilegeEscalation", *_FIELD)


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
    examine=_examine,
    links=True,
)
