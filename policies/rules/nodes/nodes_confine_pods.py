"""No configuration of nodes gives containers what they have not requested, or opens the kubelet."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG, PERFORMANCE_PROFILE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, read
from policies.rule import Parameters, Rule
from policies.views import crio, kubelet
from policies.views.ignition import Text, texts
from policies.views.node_paths import canonical

_KUBELET: Path = ("spec", "kubeletConfig")
_EXPERIMENTAL: Path = ("metadata", "annotations", "kubeletconfig.experimental")
_LONGEST = 1 << 16
_KUBELET_FILES = ("/etc/kubernetes/kubelet*", "/etc/openshift/kubelet*")
_MOUNTS = "/etc/containers/mounts.conf"
_TOOLKIT = "/etc/nvidia-container-runtime/config.toml"
_BY_VARIABLE = "accept-nvidia-visible-devices-envvar-when-unprivileged"
_FILES = (*crio.FILES, *(f"{folder}/*" for folder in crio.HOOKS), *_KUBELET_FILES, _MOUNTS, _TOOLKIT)
_RUNTIME, _AGENT = ("crio", "cri-o"), ("kubelet",)
_UNITS = tuple(f"{service}*.service" for service in (*_RUNTIME, *_AGENT))


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.kind == KUBELET_CONFIG.kind:
        for effect, path in kubelet.field_openings(subject.mapping(*_KUBELET)):
            yield subject.violation(f"opens the kubelet, which {effect}", *_KUBELET, *path)
        return
    if subject.kind == PERFORMANCE_PROFILE.kind:
        for effect in kubelet.file_openings(subject.text(*_EXPERIMENTAL)[:_LONGEST]):
            yield subject.violation(f"opens the kubelet, which {effect}", *_EXPERIMENTAL)
        return
    for file in texts(subject):
        name = file.unit or canonical(file.name)
        for effect in dict.fromkeys(_effects(file, name)):
            yield subject.violation(f"{effect} ({file.name[:200]})", *file.place)
        if not file.whole and any(fnmatchcase(name, pattern) for pattern in (*_FILES, *_UNITS)):
            if file.text:
                yield subject.violation(f"writes {file.name[:200]}, of which only 64 KiB are read", *file.place)
            else:
                message = f"the content of {file.name[:200]} is not in the manifest"
                yield subject.unverified(message, *file.place)


def _effects(file: Text, name: str) -> Iterator[str]:
    """Yield what a file, a unit or a drop-in gives containers, as the end of a sentence."""
    if not file.unit:
        yield from _configured(file.text, name)
    if _is_of(name, _RUNTIME):
        yield from crio.option_effects(file.text)
    if _is_of(name, _AGENT):
        yield from (f"opens the kubelet, which {effect}" for effect in kubelet.option_openings(file.text))


def _configured(text: str, name: str) -> Iterator[str]:
    if any(fnmatchcase(name, pattern) for pattern in crio.FILES):
        yield from crio.file_effects(text)
    elif any(name.startswith(f"{folder}/") for folder in crio.HOOKS):
        if crio.hook_scope(text) == "all":
            yield "runs a program as root beside every container, which may give it anything"
    elif any(fnmatchcase(name, pattern) for pattern in _KUBELET_FILES):
        yield from (f"opens the kubelet, which {effect}" for effect in kubelet.file_openings(text))
    elif name == _MOUNTS and any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        yield "mounts folders of the node into every container"
    elif name == _TOOLKIT and read(crio.toml(text), _BY_VARIABLE) is True:
        yield "lets every container choose GPUs by NVIDIA_VISIBLE_DEVICES"


def _is_of(name: str, programs: tuple[str, ...]) -> bool:
    """Return whether a unit, or a file by its name or folder, is of one of the programs."""
    return any(part.startswith(programs) for part in name.split("/"))


NODES_CONFINE_PODS = Rule(
    name="nodes-confine-pods",
    what="No MachineConfig gives every container of its nodes capabilities, devices, mounts, hooks or another runtime, "
    "or takes seccomp or SELinux from them, by a file or an option of CRI-O. No MachineConfig, KubeletConfig or "
    "PerformanceProfile opens the kubelet to anonymous requests.",
    why="What CRI-O adds is in no pod, so that neither an SCC nor a rule about pods sees it: default_capabilities with "
    "IPC_LOCK gives it to all tenants, and additional_devices the adapters. A kubelet that takes anonymous requests "
    "lets every pod run commands in every other one. Below /etc is not harmless: only files of the operating system "
    "are elsewhere.",
    remedy="Delete it, and give what is needed to the pods that need it: capabilities by an SCC, devices by a device "
    "plugin or a claim, hooks by annotations",
    source="P-7; openshift/openshift-docs pull 89197, cri-o/cri-o pulls 1546 and 5551, "
    "kubernetes/kubernetes issue 38784",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MACHINE_CONFIG, KUBELET_CONFIG, PERFORMANCE_PROFILE),
)
