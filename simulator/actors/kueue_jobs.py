"""What Kueue knows of each kind of job: where its pods and its switch are, and how it ends. Pure functions."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from apis import kinds, names
from apis.kinds import Kind
from simulator.actors import kueue_quota, pods, sim_kinds
from simulator.actors.api import Object
from simulator.actors.kueue_quota import PodSet
from simulator.manifests import manifest, owner_reference, simulated_by

JOB_UID = "kueue.x-k8s.io/job-uid"
Template = tuple[str, int, Object]
"""Name of a pod set, how many pods, their template."""


@dataclass(frozen=True)
class Framework:
    """One kind of job."""

    kind: Kind
    templates: Callable[[Object], list[Template]]
    ends: frozenset[str]
    """Conditions of which one is True when the job has ended."""
    switch: tuple[str, ...]
    """Where `suspend` is."""
    places: Callable[[str], tuple[str, ...]]
    """Where the template of a pod set is."""

    def suspended(self, job: Object) -> bool:
        """Return whether the job waits."""
        found = job
        for step in self.switch[:-1]:
            found = found.get(step) or {}
        return bool(found.get(self.switch[-1]))

    def ended(self, job: Object) -> str | None:
        """Return the condition by which the job has ended, None before."""
        return next((end for end in sorted(self.ends) if pods.condition(job, end)), None)

    def pod_sets(self, job: Object) -> list[PodSet]:
        """Return the job's pods and what they ask for."""
        return [PodSet(name, count, kueue_quota.requests(template)) for name, count, template in self.templates(job)]


def _replicas(job: Object) -> list[Template]:
    specs = job["spec"]["mpiReplicaSpecs"]
    return [
        (role.lower(), int(specs[role].get("replicas", 1)), specs[role]["template"])
        for role in ("Launcher", "Worker")
        if role in specs
    ]


def _main(job: Object) -> list[Template]:
    spec = job["spec"]
    parallel = int(spec.get("parallelism", 1))
    return [("main", min(parallel, int(spec.get("completions") or parallel)), spec["template"])]


FRAMEWORKS: Mapping[str, Framework] = {
    "MPIJob": Framework(
        kinds.MPI_JOB_V2BETA1,
        _replicas,
        frozenset({"Succeeded", "Failed"}),
        ("spec", "runPolicy", "suspend"),
        lambda name: ("spec", "mpiReplicaSpecs", name.capitalize(), "template"),
    ),
    "BatchJob": Framework(
        kinds.JOB,
        _main,
        frozenset({"Complete", "Failed"}),
        ("spec", "suspend"),
        lambda _name: ("spec", "template"),
    ),
}
"""By the names that the Kueue object of Red Hat's operator has for them."""


def queue_of(job: Object) -> str | None:
    """Return the LocalQueue that a job names; None for none, and for a job that another one made."""
    return (
        None if pods.owner_kind(job) == kinds.MPI_JOB_V2BETA1.kind else pods.labels(job).get(names.QUEUE_NAME) or None
    )


def nested(path: Iterable[str], value: object) -> Object:
    """Return `value` at a path inside of an object."""
    for step in reversed(tuple(path)):
        value = {step: value}
    assert isinstance(value, dict)  # noqa: S101 - paths are not empty
    return value


def merged(left: Object, right: Object) -> Object:
    """Return both trees in one; where they meet in a leaf, `right` has it."""
    both = {key: merged(left[key], right[key]) for key in left.keys() & right.keys() if isinstance(left[key], dict)}
    return {**left, **right, **both}


def switched(framework: Framework, *, suspend: bool) -> Object:
    """Return the patch that stops a job, or lets it go."""
    return nested(framework.switch, suspend)


def started(framework: Framework, job: Object, flavors: Mapping[str, Iterable[Object]]) -> Object:
    """Return the patch that lets a job go on the machines of its flavors: pod set -> the specs of its ResourceFlavors.

    Where the job says already where its pods go, it keeps that beside the labels of the flavor.
    """
    patch = switched(framework, suspend=False)
    for name, _count, template in framework.templates(job):
        have = (template.get("spec") or {}).get("tolerations") or []
        selector: dict[str, str] = {}
        borne: list[Object] = []
        for spec in flavors.get(name, ()):
            selector |= spec.get("nodeLabels") or {}
            borne += [one for one in spec.get("tolerations") or [] if one not in [*have, *borne]]
        wanted = ({"nodeSelector": selector} if selector else {}) | ({"tolerations": [*have, *borne]} if borne else {})
        if wanted:
            patch = merged(patch, nested((*framework.places(name), "spec"), wanted))
    return patch


def workload_name(framework: Framework, job: Object) -> str:
    """Return the name of a job's Workload; another job of the same name has another one."""
    meta = job["metadata"]
    digest = hashlib.sha256(str(meta["uid"]).encode()).hexdigest()[:5]
    return f"{framework.kind.kind.lower()}-{meta['name']}-{digest}"


def workload(framework: Framework, job: Object, queue: str) -> Object:
    """Return the Workload of a job, which goes with it."""
    meta = job["metadata"]
    typed = {**job, "apiVersion": framework.kind.api_version, "kind": framework.kind.kind}
    pod_sets = [
        {"name": name, "count": count, "template": {"spec": template.get("spec") or {}}}
        for name, count, template in framework.templates(job)
    ]
    return manifest(
        sim_kinds.WORKLOAD,
        workload_name(framework, job),
        meta["namespace"],
        labels={JOB_UID: meta["uid"]},
        annotations=simulated_by("Kueue"),
        owners=[owner_reference(typed)],
        spec={"active": True, "queueName": queue, "podSets": pod_sets},
    )
