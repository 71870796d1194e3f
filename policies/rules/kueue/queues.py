"""Who waits in which queue: jobs by their label, namespaces by their queue, and nobody past Kueue."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pydantic import Field

from core.apis.kinds import CLUSTER_QUEUE, CRON_JOB, KUEUE, LOCAL_QUEUE, NAMESPACE, WORKLOAD
from core.apis.names import KUEUE_MANAGED, NAMESPACE_NAME, QUEUE_NAME
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path, Tree, is_empty, is_mapping, read, selects
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
from policies.views.devices import gpus
from policies.views.tenants import TENANTS, Tenancy

_PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
_PRIORITY = "kueue.x-k8s.io/priority-class"
_KEYS = frozenset({_PREBUILT, _PRIORITY})
_OTHER_PLACES = frozenset({CRON_JOB.kind, WORKLOAD.kind})
_OFFERED = "Delete the label, or name the class in the parameter workload_priorities if tenants may use it"


class KueueAdmits(Tenancy):
    """Which priorities tenants may choose."""

    workload_priorities: tuple[str, ...] | None = Field(
        default=None,
        description="patterns of the WorkloadPriorityClasses that tenants may name, since a job of a higher one "
        "displaces the jobs of other tenants; default: none of a stack that declares the queues, and undetermined "
        "without such a stack",
    )


def _kueue_admits(subject: Obj, _: Inventory, parameters: KueueAdmits) -> Iterator[Violation]:
    if subject.kind not in _OTHER_PLACES and not subject.unknown:
        metadata = read(subject.tree, "metadata")  # as most have neither key
        if _without_keys(read(metadata, "labels")) and _without_keys(read(metadata, "annotations")):
            return iter(())
    violations = [*_violations(subject, parameters)]
    return iter(violations if violations and not parameters.excepts(subject) else ())


def _violations(subject: Obj, parameters: KueueAdmits) -> Iterator[Violation]:
    if (subject.group, subject.kind) == (WORKLOAD.group, WORKLOAD.kind):
        yield subject.violation("is an admission of a job, which Kueue alone makes", "kind")
        return
    for above in (("spec", "jobTemplate"), ()) if subject.kind == CRON_JOB.kind else ((),):
        labels: Path = (*above, "metadata", "labels")
        for place in ((*labels, _PREBUILT), (*above, "metadata", "annotations", _PREBUILT)):
            if name := subject.text(*place):
                message = f"takes the admission of Workload {name[:200]}, whatever it requests itself"
                yield subject.violation(message, *place)
        if name := subject.text(*labels, _PRIORITY):
            yield from _priority(subject, name, parameters.workload_priorities, (*labels, _PRIORITY))


def _priority(subject: Obj, name: str, offered: tuple[str, ...] | None, place: Path) -> Iterator[Violation]:
    has = f"has the priority {name[:200]} in all queues"
    if offered is None:
        message = f"{has}, and which classes tenants may name is not known: check with --stack, or set it as a"
        yield subject.unverified(f"{message} parameter of the rule", *place).with_remedy(_OFFERED)
    elif not any(fnmatchcase(name, pattern) for pattern in offered):
        yield subject.violation(f"{has} and displaces the jobs of other tenants", *place).with_remedy(_OFFERED)


def _without_keys(keys: Tree) -> bool:
    return not is_mapping(keys) or _KEYS.isdisjoint(keys)


KUEUE_ADMITS = Rule(
    name="kueue-admits",
    what=f"No object of a tenant is a Workload of Kueue, has {_PREBUILT}, or has {_PRIORITY} with a class that is not "
    "in the parameter workload_priorities; without a stack, what tenants may name is undetermined.",
    why="Kueue admits a job by its Workload. One that a tenant has written requests less than the job, or says that it "
    "is admitted. A WorkloadPriorityClass is open to every namespace: the job with the highest preempts all others "
    "in its cohort.",
    remedy=f"Delete it: Kueue makes a Workload of each job with a queue; {TENANTS}",
    source="platform-facts 1.12; kueue.sigs.k8s.io/docs/concepts/workload_priority_class",
    severity=Severity.MANDATORY,
    parameters=KueueAdmits,
    examine=_kueue_admits,
    kinds=ALL_KINDS,
)


_CLUSTER_QUEUE: Path = ("spec", "clusterQueue")
_SELECTOR: Path = ("spec", "namespaceSelector")
_LABELS: Path = ("metadata", "labels")


def _kueue_namespace_selected(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    queue = inventory.get(CLUSTER_QUEUE, subject.text(*_CLUSTER_QUEUE))
    if queue is None:
        return  # kueue-covers-resources reports it for each job
    selector = queue.read(*_SELECTOR)
    namespace = inventory.get(NAMESPACE, subject.namespace)
    if queue.hidden(*_SELECTOR) or (namespace is not None and namespace.hidden(*_LABELS)):
        message = f"the namespaces of ClusterQueue {queue.name} are unknown until the update"
        yield subject.unverified(message, *_CLUSTER_QUEUE)
    elif selector is None:
        yield subject.violation(f"ClusterQueue {queue.name} has no namespaceSelector", *_CLUSTER_QUEUE)
    elif subject.namespace and not is_empty(selector):
        labels = {**(namespace.mapping(*_LABELS) if namespace else {}), NAMESPACE_NAME: subject.namespace}
        if selects(selector, labels):
            return
        message = f"the namespaceSelector of ClusterQueue {queue.name} does not select {subject.namespace}"
        if namespace is not None or _by_name(selector):
            yield subject.violation(message, *_CLUSTER_QUEUE)
        else:
            yield subject.unlinked(f"{message} by its name, and its labels are not among the objects", *_CLUSTER_QUEUE)


def _by_name(selector: Tree) -> bool:
    """Return whether a selector looks at no other label than that of the namespace's name."""
    labels, expressions = read(selector, "matchLabels"), read(selector, "matchExpressions")
    keys = {*labels} if is_mapping(labels) else set()
    keys.update(str(read(expression, "key")) for expression in (expressions if isinstance(expressions, list) else ()))
    return keys <= {NAMESPACE_NAME}


KUEUE_NAMESPACE_SELECTED = Rule(
    name="kueue-namespace-selected",
    what="The namespaceSelector of a LocalQueue's ClusterQueue selects the LocalQueue's namespace.",
    why="Kueue never admits a job from a namespace that its ClusterQueue does not select (workload namespace doesn't "
    "match ClusterQueue selector): it stays suspended, and nothing fails. Without a namespaceSelector none is "
    "selected; {} selects all.",
    remedy=f"Write a namespaceSelector that selects the namespace, e.g. by the label {NAMESPACE_NAME}, or label the "
    "namespace",
    source="kueue.sigs.k8s.io/docs/concepts/cluster_queue; github.com/kubernetes-sigs/kueue/issues/301",
    severity=Severity.MANDATORY,
    examine=_kueue_namespace_selected,
    kinds=(LOCAL_QUEUE,),
    links=True,
)


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


def _kueue_queue_named(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
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
    labels: Path = ("spec", "jobTemplate", *_LABELS) if subject.kind == CRON_JOB.kind else _LABELS
    if not subject.read(*labels, QUEUE_NAME) and not subject.hidden(*labels):
        message = (
            f"asks for {', '.join(requested)[:200]} and names no queue, and {namespace or 'its namespace'} has one"
        )
        yield subject.violation(message, *labels, QUEUE_NAME).with_remedy(_QUEUE)
    elif reason := _unmanaged(subject, inventory):
        yield subject.violation(f"asks for {', '.join(requested)[:200]} and {reason}", "kind").with_remedy(_KIND)
    for owner in subject.parts("metadata", "ownerReferences"):
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
    examine=_kueue_queue_named,
    kinds=ALL_KINDS,
    links=True,
)
