"""In a namespace with queues, every object that takes GPUs waits in one of them."""

from collections.abc import Iterator
from typing import Any

from core.apis.kinds import CRON_JOB, KUEUE, LOCAL_QUEUE, NAMESPACE
from core.apis.names import KUEUE_MANAGED, QUEUE_NAME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path
from policies.rule import ALL_KINDS, Rule
from policies.views.devices import gpus
from policies.views.tenants import Tenancy

_LABELS = ("metadata", "labels")
_JOBS: Path = ("spec", "jobTemplate")
_OWNERS = ("metadata", "ownerReferences")
_NEVER = frozenset({"DaemonSet", "ReplicaSet", "ReplicationController", "DeploymentConfig"})
_FRAMEWORKS = {"Job": "BatchJob", "CronJob": "BatchJob"}
_ALL_FRAMEWORKS = frozenset(
    {"AppWrapper", "BatchJob", "Deployment", "JobSet", "LeaderWorkerSet", "MPIJob", "PaddleJob", "Pod", "PyTorchJob"}
    | {"RayCluster", "RayJob", "StatefulSet", "TFJob", "TrainJob", "XGBoostJob"}
)
"""What Red Hat's Kueue calls the kinds that it can admit."""
_KIND = "Use a kind that Kueue admits, such as a Job, or add this kind to integrations.frameworks of Kueue"
_QUEUE = f"Write the label {QUEUE_NAME} with a LocalQueue of the namespace"
_MANAGED = f'Label the namespace {KUEUE_MANAGED}: "true"'


def _examine(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    namespace = subject.name if _is_kind(subject, NAMESPACE) else subject.namespace
    if not inventory.once(_queues).get(namespace) or parameters.excepts(subject):
        return
    if _is_kind(subject, NAMESPACE):
        if inventory.of(KUEUE) and subject.read(*_LABELS, KUEUE_MANAGED) != "true":
            message = f"has a LocalQueue and not the label {KUEUE_MANAGED}, without which Kueue leaves its jobs alone"
            yield subject.violation(message, *_LABELS, KUEUE_MANAGED).with_remedy(_MANAGED)
        return
    requested = sorted({request.resource for container in subject.containers for request in gpus(container)})
    if not requested:
        return
    labels: Path = (*_JOBS, *_LABELS) if subject.kind == CRON_JOB.kind else _LABELS
    if not subject.read(*labels, QUEUE_NAME) and not subject.hidden(*labels):
        message = (
            f"asks for {', '.join(requested)[:200]} and names no queue, and {namespace or 'its namespace'} has one"
        )
        yield subject.violation(message, *labels, QUEUE_NAME).with_remedy(_QUEUE)
    elif reason := _unmanaged(subject, inventory):
        yield subject.violation(f"asks for {', '.join(requested)[:200]} and {reason}", "kind").with_remedy(_KIND)
    for owner in subject.parts(*_OWNERS):
        yield from _owner(owner)


def _unmanaged(subject: Obj, inventory: Inventory) -> str:
    """Return why Kueue ignores an object although it names a queue; empty when it does not, or that is unknown."""
    if subject.kind in _NEVER:
        return f"Kueue has no queue for a {subject.kind}"
    framework = _FRAMEWORKS.get(subject.kind, subject.kind)
    for operator in inventory.of(KUEUE) if framework in _ALL_FRAMEWORKS else ():
        listed = operator.entries("spec", "config", "integrations", "frameworks")
        if listed and framework not in listed:
            return f"{operator} leaves {framework} out of its frameworks"
    return ""


def _owner(owner: Part) -> Iterator[Violation]:
    if owner.read("controller") is True:
        controller = f"{owner.text('kind')} {owner.text('name')}"[:200]
        yield owner.violation(f"names {controller} as its controller, whose queue Kueue then uses for it", "controller")


def _is_kind(subject: Obj, kind: Any) -> bool:
    return (subject.group, subject.kind) == (kind.group, kind.kind)


def _queues(inventory: Inventory) -> dict[str, bool]:
    return {queue.namespace: True for queue in inventory.of(LOCAL_QUEUE)}


KUEUE_QUEUE_NAMED = Rule(
    name="kueue-queue-named",
    what=f"In a namespace with a LocalQueue, every object that asks for GPUs has the label {QUEUE_NAME} (a CronJob on "
    "its jobs) and names no controller as its owner, and Kueue's operator manages the namespace.",
    why="Kueue ignores a job that names no queue: it starts at once, ahead of all waiting jobs, and takes GPUs that "
    "the queue has given to others. Kueue also ignores what another job owns, and every job in a namespace without its "
    "label.",
    remedy="Delete the ownerReference; a controller writes it itself",
    source="platform-facts 1.12; kueue.sigs.k8s.io/docs/tasks/run",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=ALL_KINDS,
    links=True,
)
