"""Objects of a cluster as the rules see them, with the one walk over pod templates that all rules share.

Where a kind keeps its pod templates is data of `kinds`; another version of the same group and kind is walked the
same way, so that a rule does not fall silent when a release moves an object to another version. Kinds that are not
known there are searched (`pod_specs`).
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from core.apis.kind import EVERY
from core.apis.kinds import KINDS, POD, TRAIN_JOB
from core.apis.kinds import Path as TemplatePath
from policies.manifests.inner_objects import CARRIERS, OPERATOR_VERSION, TEXT_HOLDERS, inner_objects
from policies.manifests.part import Root
from policies.manifests.pod_specs import pod_specs
from policies.manifests.pods import Container, Pod, Step, is_virtual_machine, machine_pods
from policies.manifests.templates import OBJECTS, late_values
from policies.manifests.train_jobs import TrainedPod, trained_pod
from policies.manifests.values import Path, ReadLog, Tree, Unknown, entries, read, text

_LIST = "List"
_LEVELS = 16
"""Objects inside one another that are opened."""
_ITSELF: tuple[TemplatePath, ...] = ((),)
_TEMPLATES: dict[tuple[str, str], tuple[TemplatePath, ...]] = {
    **{(kind.group, kind.kind): kind.pod_templates for kind in KINDS if kind.pod_templates},
    (POD.group, POD.kind): _ITSELF,
}
_TRAINED = (TRAIN_JOB.group, TRAIN_JOB.kind)
_KNOWN = frozenset({*((kind.group, kind.kind) for kind in KINDS), *_TEMPLATES})


class Obj(Root):
    """One object.

    `origin` is whatever finds it again; `partial` says that the tree has only some of the object's fields (a patch);
    `unknown` are the values of the tree that are unknown until the update. `runtime` is what completes a TrainJob.
    `holder` is the ConfigMap or Secret that has the object in a text, None for any other: whether something applies it
    is another object's matter. `idle` says that the object is inside one that only compares it with what exists.
    `known` says that it is of a kind of which the walk knows where it has pods, or that it has none.
    """

    def __init__(
        self,
        tree: Tree,
        origin: object = None,
        *,
        partial: bool = False,
        unknown: tuple[Unknown, ...] = (),
        log: ReadLog | None = None,
        runtime: "Obj | None" = None,
        holder: "Obj | None" = None,
    ) -> None:
        super().__init__(tree, unknown, log)
        self.origin = origin
        self.partial = partial
        self.runtime = runtime
        self.holder = holder
        self.idle = False
        self.known = (self.group, self.kind) in _KNOWN

    def logged(self, log: ReadLog) -> "Obj":
        """Return a view of the object that records in `log` which unknown values are read through it."""
        return self._view(self.unknown, self.runtime, log)

    @property
    def trains(self) -> bool:
        """Whether it is a TrainJob, which a runtime completes."""
        return (self.group, self.kind) == _TRAINED

    @property
    def claims(self) -> bool:
        """Whether its pods claim devices, by templates that are objects of their own."""
        return any("resourceClaims" in pod.tree for pod in self.pods)

    def with_runtime(self, runtime: "Obj") -> "Obj":
        """Return the TrainJob as this runtime completes it."""
        return self._view(self._declared_unknown, runtime)

    def with_claims(self, templates: Mapping[str, Any]) -> "Obj":
        """Return the object with what the ResourceClaimTemplates of its namespace ask for."""
        view = self._view(self._declared_unknown, self.runtime)
        view.claim_templates = templates
        return view

    def _view(self, unknown: tuple[Unknown, ...], runtime: "Obj | None", log: ReadLog | None = None) -> "Obj":
        view = Obj(
            self.tree, self.origin, partial=self.partial, unknown=unknown, log=log, runtime=runtime, holder=self.holder
        )
        view.idle = self.idle
        view.claim_templates = self.claim_templates
        return view

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """All values of the tree that are unknown until the update; also what a controller fills in."""
        if self.trains:
            late = [value for pod in self.pods if isinstance(pod, TrainedPod) for value in pod.late]
            return tuple(dict.fromkeys((*self._declared_unknown, *late)))
        if self.known:
            return self._declared_unknown
        late = [image for pod in self.pods if isinstance(pod, Step) for image in pod.late_images]
        return tuple(dict.fromkeys((*self._declared_unknown, *late)))

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """Its pods: itself, its templates, what an object of an unknown kind holds of them, or none."""
        if self.trains:
            return self._of_train_job()
        templates = _TEMPLATES.get((self.group, self.kind))
        if templates is None:
            if is_virtual_machine(self.group, self.kind):
                return machine_pods(self)
            return () if self.known else tuple(map(self._pod, pod_specs(self.tree)))
        places = [place for template in templates for place in _at_template_path(self.tree, template)]
        return tuple([Pod(self, path, tree) for path, tree in places if tree is not None])

    def _of_train_job(self) -> tuple[Pod, ...]:
        """Return the pod that it completes, and those that its other patches change."""
        completed = trained_pod(self, self.runtime)
        merged = completed.merged if completed else frozenset()
        others = tuple(self._pod(spec) for spec in pod_specs(self.tree) if spec[0] not in merged)
        return (completed, *others) if completed else others

    def _pod(self, spec: tuple[Path, bool]) -> Pod:
        path, step = spec
        if step:
            return Step(self, path, read(self.tree, *path))
        return Pod(self, path[:-1], read(self.tree, *path[:-1]), str(path[-1]))

    @property
    def has_pods(self) -> bool:
        """Whether it is or makes pods, or is of a kind that does."""
        return (self.group, self.kind) in _TEMPLATES or bool(self.pods)

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """The containers of all its pods."""
        return tuple([container for pod in self.pods for container in pod.containers])


def _at_template_path(tree: Tree, path: TemplatePath) -> Iterator[tuple[Path, Tree]]:
    if EVERY not in path:
        yield path, read(tree, *path)
        return
    at = path.index(EVERY)
    for index, entry in enumerate(entries(tree, *path[:at])):
        for below, content in _at_template_path(entry, path[at + 1 :]):
            yield (*path[:at], index, *below), content


def items(tree: Tree) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the object of one manifest, or those of a list or of a Template of OpenShift, however deep.

    Each comes with its place in the manifest. The items of a `PodList` need not say that they are pods.
    """
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    while waiting:
        path, item = waiting.pop()
        field, same = _members(item)
        if field:
            entries = item[field]
            for index in reversed(range(len(entries))):
                entry = entries[index]
                typed = {**same, **entry} if same and isinstance(entry, Mapping) else entry
                waiting.append(((*path, field, index), typed))
        elif isinstance(item, Mapping):
            yield path, item


def _members(item: Tree) -> tuple[str, dict[str, str]]:
    """Return the field with an object's members, empty when it has none, and what all of them are."""
    kind, version = text(read(item, "kind")), text(read(item, "apiVersion"))
    if kind.endswith(_LIST) and isinstance(read(item, "items"), list):
        of = kind.removesuffix(_LIST)
        return "items", {"apiVersion": version, "kind": of} if of else {}
    if kind == "Template" and version.startswith("template.openshift.io/") and isinstance(read(item, OBJECTS), list):
        return OBJECTS, {}
    return "", {}


def objects(tree: Tree, origin: object = None) -> Iterator[Obj]:
    """Yield the object of one manifest, or those of a `List`, however deep, each with the objects inside it."""
    return (inner for _, item in items(tree) for _, inner in opened(Obj(item, origin)))


def opened(subject: Obj, levels: int = _LEVELS) -> Iterator[tuple[Path, Obj]]:
    """Yield an object, and those inside it that a controller applies, however deep, each with its place in it."""
    yield (), subject
    kind = (subject.group, subject.kind)
    # The engine shows a patch as the whole object: an operator's version with all that its catalogue gives it.
    is_of_catalogue = subject.partial and kind == OPERATOR_VERSION
    if levels == 0 or is_of_catalogue or (kind in _KNOWN and kind not in CARRIERS):
        return
    holder = subject.holder or (subject if kind in TEXT_HOLDERS else None)
    for inner in inner_objects(*kind, subject.tree, subject.unknown):
        for path, item in items(inner.tree):
            tree, unknown = late_values(item) if path and inner.unknown else (item, inner.unknown)
            content = Obj(tree, subject.origin, partial=inner.partial, unknown=unknown, holder=holder)
            content.idle = subject.idle or inner.idle
            for below, nested in opened(content, levels - 1):
                yield inner.path if inner.text else (*inner.path, *path, *below), nested
