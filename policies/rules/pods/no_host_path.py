"""No pod and no volume uses a folder of a node."""

import posixpath
from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import PERSISTENT_VOLUME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Tree, Unknown, mapping, read
from policies.rule import ALL_KINDS, Rule
from policies.views.infrastructure import AGENTS, Infrastructure
from policies.views.node_paths import DISKS, OWN, is_system_path

_HOST_PATH = "hostPath"
_LOCAL = (
    "Use a disk, or a folder made for data, such as one below /mnt or /var/mnt; a device that is a disk all the same "
    "goes into the parameter local_disks of the rule"
)
_PATHS = "Use one of these folders, or add this one to the parameter paths of the rule"


class NoHostPath(Infrastructure):
    """Which folders infrastructure may use."""

    paths: tuple[str, ...] = Field(
        default=("/var/lib/kubelet", "/dev", "/run/cdi", "/var/run/cdi"),
        description="folders of a node that infrastructure may use, with what is below them",
    )

    local_paths: tuple[str, ...] = Field(
        default=OWN,
        description="patterns of folders and devices that no `local` PersistentVolume may be, be below or contain: the "
        "operating system's, `*` matches any part of a name; folders for data are allowed",
    )
    local_disks: tuple[str, ...] = Field(
        default=DISKS, description="patterns of what is directly below /dev and may be a `local` PersistentVolume"
    )

    def allows(self, path: str) -> bool:
        """Return whether a path is one of the folders or below one."""
        normalized = posixpath.normpath(path)
        return any(normalized == folder or normalized.startswith(f"{folder.rstrip('/')}/") for folder in self.paths)


def _examine(subject: Obj, _: Inventory, parameters: NoHostPath) -> Iterator[Violation]:
    if subject.kind == PERSISTENT_VOLUME.kind:
        yield from _volume(subject, ("spec", _HOST_PATH), parameters)
        path = subject.text("spec", "local", "path")
        if path and is_system_path(path, parameters.local_paths, parameters.local_disks):
            yield subject.violation(f"is {path[:200]} of its node", "spec", "local", "path").with_remedy(_LOCAL)
    for pod in subject.pods:
        if subject.unknown or _mentions(pod.tree.get("volumes")):
            for volume in pod.parts("volumes"):
                yield from _volume(volume, (_HOST_PATH,), parameters)


def _mentions(volumes: Tree) -> bool:
    return isinstance(volumes, list) and any(_HOST_PATH in mapping(entry) for entry in volumes)


def _volume(part: Part, place: tuple[str, ...], parameters: NoHostPath) -> Iterator[Violation]:
    source = read(part.tree, *place)
    if isinstance(source, Unknown):
        part.read(*place)  # to note it
    elif source is not None and not parameters.excepts(part.object):
        yield part.violation(f"uses {_folder(read(source, 'path'))} of its node", *place)
    elif source is not None and not parameters.allows(path := part.text(*place, "path")):
        allowed = ", ".join(parameters.paths)
        message = f"uses {_folder(path)} of its node; infrastructure may use {allowed}"
        yield part.violation(message, *place, "path").with_remedy(_PATHS)


def _folder(path: Tree) -> str:
    return f"the folder {path[:200]}" if path and isinstance(path, str) else "a folder"


NO_HOST_PATH = Rule(
    name="no-host-path",
    what="No pod or PersistentVolume uses a hostPath, and no `local` PersistentVolume is a folder of the operating "
    "system, contains one, or is a device that is not a disk. Objects in the parameter "
    "infrastructure may mount the folders of the kubelet and the devices.",
    why="A hostPath reaches past the namespace into the node and is a different folder on every node; under SELinux an "
    "ordinary pod cannot open it (Permission denied). Under an ordinary account the pod is refused anyway (hostPath "
    "volumes are not allowed to be used). A `local` volume is not: whoever has a claim to /etc/kubernetes has the "
    "kubelet's keys and its static pods.",
    remedy=f"Use a PersistentVolumeClaim for data and an emptyDir for scratch space; {AGENTS}",
    source="E-40, P-7, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=NoHostPath,
    examine=_examine,
    kinds=ALL_KINDS,
)
