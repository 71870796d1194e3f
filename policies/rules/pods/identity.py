"""The users and capabilities that containers run with."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import IPC_LOCK, SCC_UID_RANGE
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container
from policies.manifests.values import brief
from policies.rule import Rule, Severity
from policies.views.accounts import Namespaces, built_in_namespace, exempt, ids
from policies.views.admitted_pods import Admitted, Admitting, admitted_pod
from policies.views.constraints import capability
from policies.views.tenants import AGENTS, Infrastructure

_USER = ("securityContext", "runAsUser")


def _run_as_user_in_range(subject: Obj, inventory: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for pod in subject.pods:
        for part in (pod, *pod.containers):
            user = part.read(*_USER)
            if isinstance(user, int) and not isinstance(user, bool) and not parameters.excepts(subject):
                yield from _user(part, user, inventory)


def _user(part: Part, user: int, inventory: Inventory) -> Iterator[Violation]:
    if user == 0:
        yield part.violation("runs as user 0, root", *_USER)
        return
    name = part.object.text("metadata", "namespace")
    declared = inventory.once(Namespaces).get(name)
    message = f"runs as user {brief(user)}"
    if declared is None:
        if not name and not part.object.hidden("metadata", "namespace"):
            yield part.unlinked(f"{message}, and names no namespace that could have it", *_USER)
        elif name and not built_in_namespace(name):
            yield part.unlinked(f"{message}, and Namespace {name} is not among the objects", *_USER)
    elif SCC_UID_RANGE in declared.hidden:
        yield part.unverified(f"{message}, and the range of {name} is unknown until the update", *_USER)
    elif not declared.users:
        yield part.unlinked(
            f"{message}, and {name} has no {SCC_UID_RANGE}, so that OpenShift chooses its range", *_USER
        )
    elif (users := ids(declared.users)) is None:
        yield part.violation(f"{message}, and the range of {name}, {declared.users[:60]!r}, cannot be read", *_USER)
    elif not users.start <= user <= users.end:
        yield part.violation(f"{message}, and {name} has {users.start} to {users.end}", *_USER)


RUN_AS_USER_IN_RANGE = Rule(
    name="run-as-user-in-range",
    what=f"runAsUser of a pod and its containers is unset or within its namespace's {SCC_UID_RANGE}, and never 0; "
    "objects in the parameter infrastructure are exempt.",
    why="The strategy MustRunAsRange refuses any other user (runAsUser: Invalid value: 1075481000: must be in the "
    "ranges: [1000660000, 1000669999]). A manifest that works in one namespace is refused in the next.",
    remedy="Leave runAsUser out, or give the namespace a range that includes the owner of the data",
    source="E-17, R-4.3-6, P-12, platform-facts 0 and 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_run_as_user_in_range,
    links=True,
)


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


def _baseline_capabilities(subject: Obj, _: Inventory, parameters: BaselineCapabilities) -> Iterator[Violation]:
    for container in subject.containers:
        added = container.capabilities("add")
        if added and not all(capability(name) in parameters.capabilities for name in added):
            others = [name for name in added if capability(name) not in parameters.capabilities]
            if not parameters.excepts(subject):
                yield container.violation(
                    f"adds {', '.join(map(brief, others[:8]))}", "securityContext", "capabilities", "add"
                )


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
    examine=_baseline_capabilities,
)


class DropAllCapabilities(Infrastructure, Admitting):
    """Which objects are exempt, and which SCCs drop capabilities themselves."""


def _drop_all_capabilities(subject: Obj, inventory: Inventory, parameters: DropAllCapabilities) -> Iterator[Violation]:
    for pod in subject.pods:
        keeping = [
            (container, dropped)
            for container in pod.containers
            if "ALL" not in (dropped := container.capabilities("drop"))
        ]
        if keeping and not parameters.excepts(subject):
            completed = admitted_pod(pod, inventory, parameters.release)
            undecided = completed is None and not exempt(inventory, subject.namespace)
            reason = (
                "and leaves it to the SCC that admits it"
                if undecided
                else "so that it keeps the runtime's default ones"
            )
            for container, dropped in keeping:
                yield from _container(container, dropped, completed, reason)


def _container(
    container: Container, dropped: tuple[str, ...], completed: Admitted | None, reason: str
) -> Iterator[Violation]:
    drops = f"drops {', '.join(dropped)[:200]} only" if dropped else "drops no capability"
    if completed is not None and "ALL" in (completed.read(container, "capabilities", "drop") or ()):
        if not completed.missing:
            return
        reason = f"and leaves it to the SCC that admits it, which need not be {completed.scc}"
    yield container.violation(f"{drops}, {reason}", "securityContext", "capabilities", "drop")


DROP_ALL_CAPABILITIES = Rule(
    name="drop-all-capabilities",
    what="Every container drops ALL capabilities and adds back what it needs, such as IPC_LOCK, unless the SCC that "
    "admits it does so (restricted-v2).",
    why="A runtime gives every container more than ten capabilities, of which `restricted` of 4.4 drops four. Training "
    "needs none, and each helps an intruder in a job. Runtimes drop before they add, so nothing added is lost.",
    remedy="Write securityContext.capabilities.drop: [ALL] in every container",
    source="S-6.3, platform-facts 4.1",
    severity=Severity.ADVISORY,
    parameters=DropAllCapabilities,
    examine=_drop_all_capabilities,
    links=True,
)
