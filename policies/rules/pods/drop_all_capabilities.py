"""Every container drops all capabilities and adds what it needs."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Rule
from policies.views.accounts import exempt
from policies.views.admitted_pods import Admitted, Admitting, admitted_pod
from policies.views.infrastructure import Infrastructure

_FIELD = ("securityContext", "capabilities", "drop")


class DropAllCapabilities(Infrastructure, Admitting):
    """Which objects are exempt, and which SCCs drop capabilities themselves."""


def _examine(subject: Obj, inventory: Inventory, parameters: DropAllCapabilities) -> Iterator[Violation]:
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
    yield container.violation(f"{drops}, {reason}", *_FIELD)


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
    examine=_examine,
    links=True,
)
