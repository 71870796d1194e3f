"""Pods, containers, what these ask for, and steps of workflows: the parts of an object that most rules are about.

A virtual machine of KubeVirt is the pod in which it runs: its devices are requests, its disks of the node hostPaths.
Everything else of that pod is KubeVirt's own, and runs under an SCC of its own. An instance type counts as one machine
of its namespace. Source: kubevirt.io/user-guide/compute/host-devices; kubevirt/kubevirt,
pkg/virt-controller/services/template.go.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from core.apis.names import NETWORKS
from core.apis.quantity import whole
from policies.manifests.part import Part, Root
from policies.manifests.pod_specs import CONTAINERS, SHARED, SINGLE, SPEC, STEPS, VARIABLES, role_of
from policies.manifests.values import Path, Tree, Unknown, brief, is_mapping, mapping, read, text


@dataclass(slots=True)  # a frozen one takes three times as long to make, and there is one per quantity
class Request:
    """One resource that a container asks for: `limit` and `request` are None when absent, and may be `Unknown`.

    Devices that it claims are one as well: of the resource that each DeviceClass is, with their number as the limit.
    """

    resource: str
    limit: Any
    request: Any
    claimed: bool = False
    """Whether a claim asks for it."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The quantities that are written down and known."""
        both = (self.limit, self.request)
        return tuple([value for value in both if value is not None and not isinstance(value, Unknown)])

    @property
    def hidden(self) -> bool:
        """Whether one of the quantities is unknown until the update."""
        return isinstance(self.limit, Unknown) or isinstance(self.request, Unknown)

    @property
    def count(self) -> int:
        """The larger of the quantities as a whole number; 0 when there is none."""
        if self.request is None:
            return whole(self.limit) or 0
        return max((whole(value) or 0 for value in self.values), default=0)


def requests(resources: Tree) -> Iterator[Request]:
    """Yield what a container's `resources` ask for, sorted by resource."""
    if resources is None or not is_mapping(resources):
        return
    limits, requested = (_side(resources.get(side)) for side in ("limits", "requests"))
    for resource in sorted({*limits, *requested}, key=_name):
        yield Request(_name(resource), limits.get(resource), requested.get(resource))


def _name(resource: Any) -> str:
    return resource if isinstance(resource, str) else brief(resource)


def _side(value: Tree) -> Mapping[str, Any]:
    if value is None:
        return {}
    return value if is_mapping(value) else {}


T = TypeVar("T")

CONTAINER_LISTS = ("initContainers", CONTAINERS, "ephemeralContainers")

_STEP = "main"
"""What Argo calls the container of a step."""


class Container(Part):
    """One container of a pod: `group` is the list that it is in."""

    def __init__(
        self,
        owner: Root,
        path: Path,
        tree: Mapping[str, Any],
        group: str,
        claims: Mapping[str, tuple[Request, ...]] | None = None,
    ) -> None:
        """Make one; `claims` is what those of its pod ask for, by the names by which containers refer to them."""
        super().__init__(owner, path, tree)
        self.group = group
        self._claims = claims or {}
        self._shared: dict[Any, Any] = {}
        name = tree.get("name")
        self.name = name if isinstance(name, str) else "?"
        self.container = self.name

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """What it requests, sorted by resource, then what it claims; a value of a request may be an `Unknown`."""
        self.depends_on((*self.path, "resources"))
        resources = self.tree.get("resources")
        if not self._claims:
            return tuple(requests(resources))
        return (*requests(resources), *(request for name in self._named for request in self._claims.get(name, ())))

    @property
    def _named(self) -> list[str]:
        return [text(read(entry, "name")) for entry in _list(read(self.tree.get("resources"), "claims"))]

    @property
    def claims_unknown(self) -> bool:
        """Whether it refers to a claim of which the objects at hand do not say what it asks for."""
        return any(name not in self._claims for name in self._named)

    def once(self, make: Callable[["Container"], T]) -> T:
        """Return `make(self)`, computed at the first call only, since several rules need it."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared

    def capabilities(self, side: str) -> tuple[str, ...]:
        """Return the capabilities that it adds (`side` is "add") or drops ("drop"), in capitals."""
        names = self.read("securityContext", "capabilities", side)
        return tuple([name.upper() for name in names if isinstance(name, str)]) if isinstance(names, list) else ()


class Pod(Part):
    """One pod, or the pod template of a workload: `tree` is the pod's spec, `path` the place of the spec."""

    def __init__(self, owner: Root, template: Path, tree: Tree, spec: str = SPEC) -> None:
        super().__init__(owner, (*template, spec), read(tree, spec))
        self.role = role_of(template)
        """`Launcher` or `Worker` in an MPIJob, else empty."""
        self.metadata = Part(owner, (*template, "metadata"), read(tree, "metadata"))

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """All its containers that are known: init containers first, then main and ephemeral ones."""
        if self.object.log is not None:
            for group in CONTAINER_LISTS:  # what is unknown inside a container counts when it is read
                self.depends_on((*self.path, group), depth=1)
        return self._all_containers()

    def _all_containers(self) -> tuple[Container, ...]:
        claims = self._claims()
        return tuple(
            [
                Container(self.object, (*self.path, group, index), entry, group, claims)
                for group in CONTAINER_LISTS
                if group in self.tree
                for index, entry in enumerate(_list(self.tree[group]))
                if is_mapping(entry)
            ]
        )

    def _claims(self) -> Mapping[str, tuple[Request, ...]]:
        """Return what its claims ask for, by name: of those whose templates are among the objects."""
        templates = self.object.claim_templates
        if not templates or "resourceClaims" not in self.tree:
            return {}
        entries = [entry for entry in _list(self.tree["resourceClaims"]) if is_mapping(entry)]
        return {
            text(entry.get("name")): templates[template]
            for entry in entries
            if (template := text(entry.get("resourceClaimTemplateName"))) in templates
        }

    @property
    def service_account(self) -> str:
        """The service account, by its present or its old field; `default` when none is named."""
        return self.text("serviceAccountName") or self.text("serviceAccount") or "default"


class Step(Pod):
    """A step of a workflow or task: a pod's fields, with its containers in other places than a pod's."""

    def __init__(self, owner: Root, path: Path, tree: Mapping[str, Any]) -> None:
        super().__init__(owner, path, tree)
        steps = [((*path, key), tree.get(key)) for key in (*SINGLE, SHARED)]
        steps += [((*path, key, index), entry) for key in STEPS for index, entry in enumerate(_list(tree.get(key)))]
        self._together = tuple(
            Container(owner, place, {"name": _STEP, **_without_variables(place, entry)}, CONTAINERS)
            for place, entry in steps
            if isinstance(entry, Mapping)
        )
        Part.__init__(self, owner, path, {**tree, CONTAINERS: [container.tree for container in self._together]})

    @property
    def late_images(self) -> tuple[Unknown, ...]:
        """The images that the controller fills in at each run."""
        images = (container.tree.get("image") for container in self._together)
        return tuple(image for image in images if isinstance(image, Unknown))

    def _all_containers(self) -> tuple[Container, ...]:
        return (
            *(container for container in super()._all_containers() if container.group != CONTAINERS),
            *self._together,
        )


def _without_variables(place: Path, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a container whose image is unknown when the controller fills it in at each run."""
    image = tree.get("image")
    if not isinstance(image, str) or not any(mark in image for mark in VARIABLES):
        return tree
    return {**tree, "image": Unknown((*place, "image"), "is filled in at each run")}


def _list(value: Tree) -> list[Any]:
    return value if isinstance(value, list) else []


_SPECS: Mapping[str, Path] = {
    "VirtualMachine": ("spec", "template", "spec"),
    "VirtualMachineInstance": ("spec",),
    "VirtualMachineInstanceReplicaSet": ("spec", "template", "spec"),
    "VirtualMachinePool": ("spec", "virtualMachineTemplate", "spec", "template", "spec"),
    "VirtualMachineInstancetype": ("spec",),
}
_MOST = 64
_PLACING = ("tolerations", "priorityClassName", "schedulerName", "resourceClaims")
"""Fields that the pod has under the same names."""
_CONFINED = {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_SHARED = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}


class MachinePod(Pod):
    """The pod of one virtual machine; `path` is that of the machine's own spec."""

    def __init__(self, owner: Root, path: Path, spec: Mapping[str, Any]) -> None:
        super().__init__(owner, path[:-1], {"spec": _machine_pod(spec)}, str(path[-1]))
        self.metadata = Part(owner, (*path[:-1], "metadata"), {"annotations": _networks(spec)})


def is_virtual_machine(group: str, kind: str) -> bool:
    """Return whether a kind is one of KubeVirt's that run machines."""
    return group.endswith("kubevirt.io") and kind in _SPECS


def machine_pods(owner: Root) -> tuple[Pod, ...]:
    """Return the pod of a virtual machine; none where its spec cannot be read."""
    path = _SPECS[owner.kind]
    spec = read(owner.tree, *path)
    return (MachinePod(owner, path, spec),) if isinstance(spec, Mapping) else ()


def _machine_pod(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    resources = {side: dict(mapping(spec, "domain", "resources", side)) for side in ("limits", "requests")}
    devices: dict[str, int] = {}
    for name in _devices(spec):
        devices[name] = devices.get(name, 0) + 1
    resources["limits"] = {"cpu": 1, "memory": "1Gi", **resources["limits"], **devices}
    resources["requests"] = {key: value for key, value in resources["requests"].items() if "/" in key}
    shared = {"name": _SHARED["name"], "mountPath": "/dev/shm"}  # noqa: S108 - the guest has its own
    compute = {"name": "compute", "resources": resources, "securityContext": _CONFINED, "volumeMounts": [shared]}
    pod = {key: spec[key] for key in _PLACING if key in spec}
    return {**pod, "containers": [compute], "volumes": [*_disks(spec), _SHARED]}


def _devices(spec: Mapping[str, Any]) -> Iterator[str]:
    for field in ("gpus", "hostDevices"):
        listed = read(spec, "domain", "devices", field) or read(spec, field)
        for entry in listed[:_MOST] if isinstance(listed, list) else ():
            name = read(entry, "deviceName")
            if isinstance(name, str) and "/" in name:
                yield name


def _disks(spec: Mapping[str, Any]) -> Iterator[Tree]:
    volumes = read(spec, "volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        path = read(volume, "hostDisk", "path")
        yield {"name": read(volume, "name"), **({"hostPath": {"path": path}} if path is not None else {"emptyDir": {}})}


def _networks(spec: Mapping[str, Any]) -> Mapping[str, str]:
    listed = read(spec, "networks")
    names = [read(network, "multus", "networkName") for network in (listed if isinstance(listed, list) else ())[:_MOST]]
    joined = ",".join(name for name in names if isinstance(name, str) and name)
    return {NETWORKS: joined} if joined else {}
