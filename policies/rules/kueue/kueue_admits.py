"""Kueue alone admits jobs: tenants make no Workloads, name none that exists, and choose no priority among all jobs."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import CRON_JOB, WORKLOAD
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Tree, is_mapping, read
from policies.rule import ALL_KINDS, Rule
from policies.views.tenants import TENANTS, Tenancy

_PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
_PRIORITY = "kueue.x-k8s.io/priority-class"
_KEYS = frozenset({_PREBUILT, _PRIORITY})
_OTHER_PLACES = frozenset({CRON_JOB.kind, WORKLOAD.kind})
_TEMPLATE: Path = ("spec", "jobTemplate")
_OFFERED = "Delete the label, or name the class in the parameter workload_priorities if tenants may use it"


class KueueAdmits(Tenancy):
    """Which priorities tenants may choose."""

    workload_priorities: tuple[str, ...] | None = Field(
        default=None,
        description="patterns of the WorkloadPriorityClasses that tenants may name, since a job of a higher one "
        "displaces the jobs of other tenants; default: none of a stack that declares the queues, and undetermined "
        "without such a stack",
    )


def _examine(subject: Obj, _: Inventory, parameters: KueueAdmits) -> Iterator[Violation]:
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
    for above in (_TEMPLATE, ()) if subject.kind == CRON_JOB.kind else ((),):
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
    examine=_examine,
    kinds=ALL_KINDS,
)
