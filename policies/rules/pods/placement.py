"""Where pods run, and which controller runs them again."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import BINDING, MPI_JOB_V1, POD, RESOURCE_FLAVOR
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Pod
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
from policies.views.devices import gpus
from policies.views.tenants import TAINTS, TENANTS, Tenancy, reached_taint

_NODE, _SCHEDULER, _PRIORITY, _TOLERATIONS = "nodeName", "schedulerName", "priorityClassName", "tolerations"
_OF_ALL = (
    ("spec", "runPolicy", "schedulingPolicy", "priorityClass"),
    ("spec", "schedulingPolicy", "priorityClass"),
    ("spec", _PRIORITY),
)
"""Where an MPIJob, a PodGroup or a job of another kind has one priority for all its pods."""
_FIELDS = frozenset({_NODE, _SCHEDULER, _PRIORITY, _TOLERATIONS})


class SchedulerDecides(Tenancy):
    """What a tenant may name."""

    schedulers: tuple[str, ...] = Field(
        default=("default-scheduler",), description="schedulers that a tenant's pods may name"
    )
    priority_classes: tuple[str, ...] = Field(
        default=("system-*", "openshift-user-critical"),
        description="patterns of priority classes that are the platform's own",
    )
    taints: tuple[str, ...] = Field(
        default=TAINTS, description="patterns of the taints of nodes that are not for tenants"
    )


def _scheduler_decides(subject: Obj, _: Inventory, parameters: SchedulerDecides) -> Iterator[Violation]:
    if (subject.group, subject.kind) == (BINDING.group, BINDING.kind):
        violations = [subject.violation("puts a pod on a node past the scheduler", "target")]
    elif (subject.group, subject.kind) == (RESOURCE_FLAVOR.group, RESOURCE_FLAVOR.kind):
        violations = [*_flavor(subject, parameters)]
    else:
        violations = [violation for pod in subject.pods for violation in _pod(pod, parameters)]
        if subject.kind == MPI_JOB_V1.kind or not subject.known:
            violations += _groups(subject, parameters)
    if violations and not parameters.excepts(subject):
        yield from violations


def _pod(pod: Pod, parameters: SchedulerDecides) -> Iterator[Violation]:
    if _FIELDS.isdisjoint(pod.tree) and not pod.object.unknown:
        return
    if node := pod.text(_NODE):
        yield pod.violation(f"names its node, {node[:200]}, so that no scheduler counts what it uses", _NODE)
    scheduler = pod.text(_SCHEDULER)
    if scheduler and scheduler not in parameters.schedulers:
        yield pod.violation(f"names the scheduler {scheduler[:200]}", _SCHEDULER)
    yield from _priority(pod, parameters, _PRIORITY)
    for entry in pod.parts(_TOLERATIONS) if _TOLERATIONS in pod.tree else ():
        yield from _toleration(entry, parameters)


def _flavor(subject: Obj, parameters: SchedulerDecides) -> Iterator[Violation]:
    """Yield what Kueue adds to the pods of each job that it admits to a flavor."""
    for entry in subject.parts("spec", _TOLERATIONS):
        yield from _toleration(entry, parameters)
    for label in subject.mapping("spec", "nodeLabels"):
        if label.startswith("node-role.kubernetes.io/") and reached_taint(label, "", "", parameters.taints):
            yield subject.violation(f"puts jobs on nodes with the label {label[:200]}", "spec", "nodeLabels", label)


def _groups(subject: Obj, parameters: SchedulerDecides) -> Iterator[Violation]:
    """Yield the priorities of all pods of an object together, by which queues and gang schedulers go."""
    for place in _OF_ALL:
        yield from _priority(subject, parameters, *place)


def _priority(part: Part, parameters: SchedulerDecides, *place: str) -> Iterator[Violation]:
    name = part.text(*place)
    if any(fnmatchcase(name, pattern) for pattern in parameters.priority_classes):
        yield part.violation(f"uses the priority class {name[:200]} and displaces the pods of other tenants", *place)


def _toleration(entry: Part, parameters: SchedulerDecides) -> Iterator[Violation]:
    key = entry.text("key")
    reached = reached_taint(key, entry.text("operator"), entry.text("effect"), parameters.taints)
    if reached and (key or not entry.hidden("key")):
        yield entry.violation(f"tolerates {reached}", "key" if key else "operator")


SCHEDULER_DECIDES = Rule(
    name="scheduler-decides",
    what="A tenant's pods name no node, no other scheduler and no system priority class, and tolerate neither every "
    "taint nor those of the control plane, by themselves or by a ResourceFlavor of Kueue; no Binding assigns them to "
    "nodes.",
    why="A pod with nodeName starts before the scheduler has counted GPUs and rdma/<name>, and takes devices that a "
    "waiting job was given. One with a system priority class preempts the jobs of all others. One that tolerates "
    "everything runs on the control plane and on nodes that are being drained.",
    remedy="Delete the field; choose machines by nodeSelector or affinity, and precedence by a priority class that the "
    f"platform declares; {TENANTS}",
    source="R-4.5-7, P-13; kubernetes.io/docs/concepts/scheduling-eviction",
    severity=Severity.MANDATORY,
    parameters=SchedulerDecides,
    examine=_scheduler_decides,
    kinds=ALL_KINDS,
)


def _no_bare_pod(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.entries("metadata", "ownerReferences") or subject.hidden("metadata", "ownerReferences"):
        return
    if any(gpus(container) for container in subject.containers):
        yield subject.violation("has GPUs and no controller that recreates it", "kind")
    elif subject.text("spec", "restartPolicy") == "OnFailure":
        yield subject.violation("is meant to finish, and has no controller that retries it", "kind")


NO_BARE_POD = Rule(
    name="no-bare-pod",
    what="A pod with GPUs, or with restartPolicy OnFailure, is created by a Job or another controller.",
    why="A bare pod is lost when its node is drained or fails, has no limit on its retries and no deadline, and leaves "
    "no record that it has finished.",
    remedy="Write it as a batch/v1 Job with backoffLimit and activeDeadlineSeconds",
    source="E-40",
    severity=Severity.ADVISORY,
    examine=_no_bare_pod,
    kinds=(POD,),
)
