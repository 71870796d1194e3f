"""Whom a configuration of nodes trusts: containers, and who becomes root."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, brief, read
from policies.rule import Parameters, Rule, Severity
from policies.views import runtime
from policies.views.nodes import Text, arguments, canonical, profiles, texts

_KUBELET: Path = ("spec", "kubeletConfig")
_EXPERIMENTAL: Path = ("metadata", "annotations", "kubeletconfig.experimental")
_LONGEST = 1 << 16
_KUBELET_FILES = ("/etc/kubernetes/kubelet*", "/etc/openshift/kubelet*")
_MOUNTS = "/etc/containers/mounts.conf"
_TOOLKIT = "/etc/nvidia-container-runtime/config.toml"
_BY_VARIABLE = "accept-nvidia-visible-devices-envvar-when-unprivileged"
_RUNTIME_FILES = (*runtime.FILES, *(f"{folder}/*" for folder in runtime.HOOKS), *_KUBELET_FILES, _MOUNTS, _TOOLKIT)
_RUNTIME, _AGENT = ("crio", "cri-o"), ("kubelet",)
_UNITS = tuple(f"{service}*.service" for service in (*_RUNTIME, *_AGENT))


def _nodes_confine_pods(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.kind == KUBELET_CONFIG.kind:
        for effect, path in runtime.field_openings(subject.mapping(*_KUBELET)):
            yield subject.violation(f"opens the kubelet, which {effect}", *_KUBELET, *path)
        return
    if subject.kind == PERFORMANCE_PROFILE.kind:
        for effect in runtime.file_openings(subject.text(*_EXPERIMENTAL)[:_LONGEST]):
            yield subject.violation(f"opens the kubelet, which {effect}", *_EXPERIMENTAL)
        return
    for file in texts(subject):
        name = file.unit or canonical(file.name)
        for effect in dict.fromkeys(_effects(file, name)):
            yield subject.violation(f"{effect} ({file.name[:200]})", *file.place)
        if not file.whole and any(fnmatchcase(name, pattern) for pattern in (*_RUNTIME_FILES, *_UNITS)):
            if file.text:
                yield subject.violation(f"writes {file.name[:200]}, of which only 64 KiB are read", *file.place)
            else:
                yield subject.unverified(f"the content of {file.name[:200]} is not in the manifest", *file.place)


def _effects(file: Text, name: str) -> Iterator[str]:
    """Yield what a file, a unit or a drop-in gives containers, as the end of a sentence."""
    if not file.unit:
        yield from _configured(file.text, name)
    if _is_of(name, _RUNTIME):
        yield from runtime.option_effects(file.text)
    if _is_of(name, _AGENT):
        yield from (f"opens the kubelet, which {effect}" for effect in runtime.option_openings(file.text))


def _configured(text: str, name: str) -> Iterator[str]:
    if any(fnmatchcase(name, pattern) for pattern in runtime.FILES):
        yield from runtime.file_effects(text)
    elif any(name.startswith(f"{folder}/") for folder in runtime.HOOKS):
        if runtime.hook_scope(text) == "all":
            yield "runs a program as root beside every container, which may give it anything"
    elif any(fnmatchcase(name, pattern) for pattern in _KUBELET_FILES):
        yield from (f"opens the kubelet, which {effect}" for effect in runtime.file_openings(text))
    elif name == _MOUNTS and any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        yield "mounts folders of the node into every container"
    elif name == _TOOLKIT and read(runtime.toml(text), _BY_VARIABLE) is True:
        yield "lets every container choose GPUs by NVIDIA_VISIBLE_DEVICES"


def _is_of(name: str, programs: tuple[str, ...]) -> bool:
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
    examine=_nodes_confine_pods,
    kinds=(MACHINE_CONFIG, KUBELET_CONFIG, PERFORMANCE_PROFILE),
)


_MORE: Path = ("spec", "config", "ignition", "config")
_USERS: Path = ("spec", "config", "passwd", "users")
_IMAGE: Path = ("spec", "osImageURL")
_SYSCTLS: Path = ("spec", "kubeletConfig", "allowedUnsafeSysctls")
_STATIC = ("spec", "kubeletConfig", "staticPodURL")
_ROOT_FILES: tuple[tuple[str, str], ...] = (
    ("/etc/kubernetes/manifests/*", "is a static pod, which no admission sees"),
    ("/etc/kubernetes/*kubeconfig*", "decides whom the kubelet obeys"),
    ("/etc/kubernetes/*ca.crt", "decides whom the kubelet obeys"),
    ("*/.ssh/*", "decides who logs in to nodes"),
    ("/etc/ssh/*", "decides who logs in to nodes"),
    ("/etc/passwd", "decides who logs in to nodes"),
    ("/etc/shadow", "decides who logs in to nodes"),
    ("/etc/group", "decides who logs in to nodes"),
    ("/etc/pam.d/*", "decides who logs in to nodes"),
    ("/etc/sudoers*", "decides who is root on nodes"),
    ("/etc/cron*", "runs as root on nodes"),
    ("/var/spool/cron/*", "runs as root on nodes"),
    ("/etc/ld.so.preload", "is loaded into every program of nodes"),
    ("/etc/kubernetes/kubelet-plugins/*", "is run by the kubelet as root"),
    ("/etc/nri/conf.d/*", "changes containers before they start"),
    ("/opt/nri/plugins/*", "changes containers before they start"),
    ("/etc/cdi/*", "names devices that containers can be given"),
    ("/run/cdi/*", "names devices that containers can be given"),
    ("/etc/containers/policy.json", "decides whose images nodes trust"),
    *((f"{folder}/*", "runs as root beside the containers that it chooses") for folder in runtime.HOOKS),
)
_CONTENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\b(?:curl|wget)\b[^\n]{0,400}\|[ \t]*(?:sudo[ \t]+)?(?:ba|da|z)?sh\b"),
        "runs what it downloads as root",
    ),
    (
        re.compile(r"\b(?:podman|docker|nerdctl)\b[^\n]{0,400}--privileged\b"),
        "runs a privileged container past the API",
    ),
)
_UDEV = ("/etc/udev/rules.d/*", re.compile(r"\bRUN(?:\{program\})?[ \t]*\+?:?="))
_SCRIPT = re.compile(r"^[ \t]*\[script\]", re.MULTILINE)
_WEAK = frozenset(
    {"mitigations=off", "nospectre_v1", "nospectre_v2", "spectre_v2=off", "nopti", "pti=off", "kpti=off", "mds=off"}
    | {"l1tf=off", "nosmap", "nosmep", "nokaslr", "module.sig_enforce=0", "lockdown=none", "iomem=relaxed", "audit=0"}
    | {"systemd.debug_shell", "systemd.debug-shell", "systemd.debug_shell=1", "rd.break", "single", "ima_appraise=off"}
)
_SHELLS = ("init=", "systemd.unit=rescue", "systemd.unit=emergency", "pcie_acs_override=")


def _nodes_root_reviewed(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for word, place in arguments(subject):
        if word in _WEAK or word.startswith(_SHELLS):
            yield subject.violation(f"starts nodes with {word[:80]}, which weakens what keeps tenants apart", *place)
    for text, place in profiles(subject):
        if _SCRIPT.search(text):
            yield subject.violation("has a profile with scripts, which run as root on nodes", *place)
    if sysctls := subject.entries(*_SYSCTLS):
        yield subject.violation(f"lets pods set {brief(sysctls)}, where their SCC does, too", *_SYSCTLS)
    if subject.text(*_STATIC):
        yield subject.violation("lets the kubelet take pods from an address, which no admission sees", *_STATIC)
    if subject.kind == MACHINE_CONFIG.kind:
        yield from _configuration(subject)


def _configuration(subject: Obj) -> Iterator[Violation]:
    for index, user in enumerate(subject.parts(*_USERS)):
        fields = [field for field in ("sshAuthorizedKeys", "passwordHash") if user.read(field)]
        if fields:
            message = f"lets who has the {' or '.join(map(_WORDS.__getitem__, fields))} log in to nodes"
            yield subject.violation(message, *_USERS, index)
    if image := subject.text(*_IMAGE):
        yield subject.violation(f"replaces the operating system by {image[:200]}", *_IMAGE)
    for source in _sources(subject):
        yield subject.violation(f"takes further configuration from {source[:200]}, which no manifest shows", *_MORE)
    for file in texts(subject):
        for effect in dict.fromkeys(_root(file)):
            yield subject.violation(f"writes {file.name[:200]}, which {effect}", *file.place)


def _sources(subject: Obj) -> Iterator[str]:
    """Yield the addresses of what Ignition merges into a MachineConfig, or takes in its place."""
    for field in ("merge", "append", "replace"):
        value = subject.read(*_MORE, field)
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(source := read(entry, "source"), str) and source:
                yield source


_WORDS = {"sshAuthorizedKeys": "SSH key", "passwordHash": "password"}


def _root(file: Text) -> Iterator[str]:
    name = "" if file.unit else canonical(file.name)
    if file.text.strip() or not file.whole:  # an empty file takes away what another one wrote
        yield from (effect for pattern, effect in _ROOT_FILES if fnmatchcase(name, pattern))
    yield from (effect for pattern, effect in _CONTENTS if pattern.search(file.text))
    if fnmatchcase(name, _UDEV[0]) and _UDEV[1].search(file.text):
        yield "runs programs as root for devices"


NODES_ROOT_REVIEWED = Rule(
    name="nodes-root-reviewed",
    what="No MachineConfig, Tuned, PerformanceProfile or KubeletConfig writes static pods, SSH keys, passwords, "
    "accounts, hooks or scripts that run as root, runs what it downloads, replaces the operating system, or "
    "weakens the kernel, unless a reviewer has seen it.",
    why="Only an administrator can apply such an object, and whoever writes one has every node: a static pod is "
    "privileged without an SCC, a key of core logs in as root. A review of many files misses it.",
    remedy="Have it reviewed, and write an exception for the object into policies/exceptions.yaml; or delete it",
    source="openshift/machine-config-operator pull 286 and issue 2634, openshift/cluster-node-tuning-operator pull 765",
    severity=Severity.ADVISORY,
    examine=_nodes_root_reviewed,
    kinds=(MACHINE_CONFIG, TUNED, PERFORMANCE_PROFILE, KUBELET_CONFIG),
)
