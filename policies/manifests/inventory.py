"""All objects that are known together, for the rules about links between them, and which texts of them are applied.

Sources: cluster-api.sigs.k8s.io/tasks/cluster-resource-set; hypershift.pages.dev; projectsveltos.github.io.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from core.apis.kinds import TRAINING_RUNTIME, Kind
from policies.manifests.claims import templates
from policies.manifests.objects import Obj
from policies.manifests.train_jobs import runtime_key
from policies.manifests.values import Path, Tree, read

T = TypeVar("T")


class Inventory:
    """The objects at hand.

    `complete` says that they are all there is: what a link names and is not among them does not exist. Otherwise it
    may exist elsewhere, and the link cannot be verified.
    """

    def __init__(self, objects: Iterable[Obj] = (), *, complete: bool = False) -> None:
        self.complete = complete
        self.objects, self._completed = _completed(tuple(objects))
        self._by_kind: dict[tuple[str, str], list[Obj]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str, str], Obj] = {}
        for subject in self.objects:
            self._by_kind[subject.group, subject.kind].append(subject)
            self._by_name.setdefault((subject.group, subject.kind, subject.namespace, subject.name), subject)
        self._by_cluster_name: dict[tuple[str, str], dict[str, Obj]] = {}
        self._shared: dict[Callable[[Inventory], Any], Any] = {}

    def completed(self, subject: Obj) -> Obj:
        """Return an object as rules see it: a TrainJob with its runtime, pods with what they claim."""
        return self._completed.get(subject, subject) if self._completed else subject

    def of(self, kind: Kind) -> tuple[Obj, ...]:
        """Return the objects of one kind, in any of its versions."""
        return tuple(self._by_kind.get((kind.group, kind.kind), ()))

    def get(self, kind: Kind, name: str, namespace: str = "") -> Obj | None:
        """Return one object, or None when it is not among them.

        Of a kind without namespaces the name decides: where its definition is not installed yet, a preview shows it in
        a namespace all the same.
        """
        if kind.scope == "Cluster":
            return self._cluster_wide(kind).get(name)
        return self._by_name.get((kind.group, kind.kind, namespace, name))

    def _cluster_wide(self, kind: Kind) -> Mapping[str, Obj]:
        key = (kind.group, kind.kind)
        if key not in self._by_cluster_name:
            self._by_cluster_name[key] = {subject.name: subject for subject in reversed(self.of(kind))}
        return self._by_cluster_name[key]

    def once(self, make: Callable[["Inventory"], T]) -> T:
        """Return `make(self)`, computed at the first call only: an index that several rules or objects share."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared


def _completed(objects: tuple[Obj, ...]) -> tuple[tuple[Obj, ...], dict[Obj, Obj]]:
    """Return the objects with what others of them decide, and which have become which."""
    completed = _with_runtimes(objects)
    if claimed := templates(objects):
        for subject in objects:
            if subject.namespace in claimed and subject.has_pods:
                completed[subject] = completed.get(subject, subject).with_claims(claimed[subject.namespace])
    return (tuple(completed.get(subject, subject) for subject in objects) if completed else objects), completed


def _with_runtimes(objects: tuple[Obj, ...]) -> dict[Obj, Obj]:
    jobs = [subject for subject in objects if subject.trains]
    if not jobs:
        return {}
    runtimes = {
        (runtime.kind, runtime.namespace if runtime.kind == TRAINING_RUNTIME.kind else "", runtime.name): runtime
        for runtime in objects
        if runtime.group == TRAINING_RUNTIME.group and not runtime.trains
    }
    pairs = ((job, runtimes.get(runtime_key(job.tree))) for job in jobs)
    return {job: job.with_runtime(runtime) for job, runtime in pairs if runtime is not None}


_HIVE, _SVELTOS = "extensions.hive.openshift.io", "config.projectsveltos.io"
_REFERENCES: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("addons.cluster.x-k8s.io", "ClusterResourceSet"): (("spec", "resources"),),
    ("hypershift.openshift.io", "NodePool"): (("spec", "config"), ("spec", "tuningConfig")),
    (_HIVE, "AgentClusterInstall"): (("spec", "manifestsConfigMapRefs"), ("spec", "manifestsConfigMapRef")),
    (_HIVE, "ImageClusterInstall"): (("spec", "extraManifestsRefs"),),
    ("hive.openshift.io", "ClusterDeployment"): (
        ("spec", "provisioning", "manifestsConfigMapRef"),
        ("spec", "provisioning", "manifestsSecretRef"),
    ),
    ("siteconfig.open-cluster-management.io", "ClusterInstance"): (("spec", "extraManifestsRefs"),),
    (_SVELTOS, "ClusterProfile"): (("spec", "policyRefs"),),
    (_SVELTOS, "Profile"): (("spec", "policyRefs"),),
}
"""Kinds that apply texts, and where they name them: in a list, or in one reference."""


def is_applied(holder: Obj, inventory: Inventory) -> bool:
    """Return whether one of the objects applies the texts of a ConfigMap or Secret."""
    return holder.name in inventory.once(_names)


def _names(inventory: Inventory) -> frozenset[str]:
    return frozenset(_applied_names(inventory))


def _applied_names(inventory: Inventory) -> Iterator[str]:
    for (group, kind), paths in _REFERENCES.items():
        for applier in inventory.of(Kind(group, "", kind, "")):
            for path in paths:
                yield from _referenced(read(applier.tree, *path))


def _referenced(reference: Tree) -> Iterator[str]:
    for entry in reference if isinstance(reference, list) else [reference]:
        name = read(entry, "name")
        if isinstance(name, str):
            yield name
