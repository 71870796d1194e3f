"""Every volume that a container mounts is one of its pod's."""

from collections.abc import Iterator, Mapping
from itertools import islice

from core.apis.kinds import LEADER_WORKER_SET, STATEFUL_SET
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, brief, entries, is_mapping, read
from policies.rule import Parameters, Rule

_MOST = 20
_TEMPLATES: Mapping[str, Path] = {
    STATEFUL_SET.kind: ("spec", "volumeClaimTemplates"),
    LEADER_WORKER_SET.kind: ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
}
"""Where kinds have templates of claims that become volumes of their pods; JobSets have them beside their jobs."""
_REPLICATED = "replicatedJobs"
_MOUNTS = (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
_FIELDS = frozenset(field for field, _ in _MOUNTS)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        mounting = [container for container in pod.containers if not _FIELDS.isdisjoint(container.tree)]
        if mounting:
            volumes = _volumes(subject, pod)
            for container in mounting:
                yield from islice(_mounts(container, volumes), _MOST)


def _volumes(subject: Obj, pod: Pod) -> set[str] | None:
    """Return the names of a pod's volumes, or None when not all of them are known."""
    templates = _TEMPLATES.get(subject.kind)
    if pod.hidden("volumes") or (templates and subject.hidden(*templates)):
        pod.read("volumes")
        return None
    names = [read(entry, "name") for entry in pod.entries("volumes")]
    if templates:
        names += [read(entry, "metadata", "name") for entry in subject.entries(*templates)]
    if _REPLICATED in pod.path:
        policies = subject.entries(*pod.path[: pod.path.index(_REPLICATED)], "volumeClaimPolicies")
        claims = (claim for policy in policies for claim in entries(policy, "templates"))
        names += [read(claim, "metadata", "name") for claim in claims]
    return {name for name in names if isinstance(name, str)}


def _mounts(container: Container, volumes: set[str] | None) -> Iterator[Violation]:
    for key, place in _MOUNTS:
        if key not in container.tree and not container.object.unknown:
            continue
        paths: dict[str, int] = {}
        for index, entry in enumerate(container.entries(key)):
            if not is_mapping(entry):
                continue
            name, path = entry.get("name"), entry.get(place)
            if volumes is not None and isinstance(name, str) and name not in volumes:
                yield container.violation(f"mounts {brief(name)}, which is not a volume of its pod", key, index, "name")
            if isinstance(path, str) and paths.setdefault(path, index) != index:
                yield container.violation(f"mounts something at {brief(path)} twice", key, index, place)


MOUNTS_HAVE_VOLUMES = Rule(
    name="mounts-have-volumes",
    what="Every volume that a container mounts is defined in its pod, and no two are mounted at the same path.",
    why='The API server refuses the pod (volumeMounts[0].name: Not found: "data"; mountPath: must be unique). The '
    "operator creates the pods of an MPIJob, so the job is accepted but its workers never appear. This happens when "
    "the volumes of a template are one level too far out.",
    remedy="Add the volume to the pod's volumes, or mount one that the pod has",
    source="E-25, E-54",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
