"""Pods with GPUs, and pods that are to be retried, belong to a controller."""

from collections.abc import Iterator

from core.apis.kinds import POD
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.devices import gpus


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
    kinds=(POD,),
)
