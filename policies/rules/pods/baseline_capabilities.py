"""No container adds a capability beyond IPC_LOCK and those of the Pod Security Standards' baseline."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import IPC_LOCK
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Rule
from policies.views.constraints import capability
from policies.views.infrastructure import AGENTS, Infrastructure

_FIELD = ("securityContext", "capabilities", "add")


class BaselineCapabilities(Infrastructure):
    """Which capabilities may be added."""

    capabilities: tuple[str, ...] = Field(
        default=(
            IPC_LOCK,
            *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
            *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
        ),
        description="capabilities that a container may add; default: IPC_LOCK, for RDMA, and those of the baseline of "
        "the Pod Security Standards",
    )


def _examine(subject: Obj, _: Inventory, parameters: BaselineCapabilities) -> Iterator[Violation]:
    for container in subject.containers:
        added = container.capabilities("add")
        if added and not all(capability(name) in parameters.capabilities for name in added):
            others = [name for name in added if capability(name) not in parameters.capabilities]
            if not parameters.excepts(subject):
                yield container.violation(f"adds {', '.join(map(brief, others[:8]))}", *_FIELD)


BASELINE_CAPABILITIES = Rule(
    name="baseline-capabilities",
    what="A container adds only IPC_LOCK and the capabilities that the baseline of the Pod Security Standards allows; "
    "objects in the parameter infrastructure are exempt.",
    why="SYS_ADMIN, SYS_PTRACE, NET_ADMIN, NET_RAW or ALL amount to most of a privileged container. Under an ordinary "
    "account the pod is refused anyway (capability may not be added).",
    remedy=f"Delete the capability from add; {AGENTS}",
    source="P-7, R-1.3, platform-facts 4.1",
    severity=Severity.MANDATORY,
    parameters=BaselineCapabilities,
    examine=_examine,
)
