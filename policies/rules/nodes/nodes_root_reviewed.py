"""What makes somebody or something root on nodes is seen by a reviewer."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, brief, read
from policies.rule import Parameters, Rule
from policies.views import crio
from policies.views.ignition import Text, texts
from policies.views.kernel_arguments import arguments, profiles
from policies.views.node_paths import canonical

_MORE: Path = ("spec", "config", "ignition", "config")
_USERS: Path = ("spec", "config", "passwd", "users")
_IMAGE: Path = ("spec", "osImageURL")
_SYSCTLS: Path = ("spec", "kubeletConfig", "allowedUnsafeSysctls")
_STATIC = ("spec", "kubeletConfig", "staticPodURL")
_FILES: tuple[tuple[str, str], ...] = (
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
    *((f"{folder}/*", "runs as root beside the containers that it chooses") for folder in crio.HOOKS),
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


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
        yield from (effect for pattern, effect in _FILES if fnmatchcase(name, pattern))
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
    parameters=Parameters,
    examine=_examine,
    kinds=(MACHINE_CONFIG, TUNED, PERFORMANCE_PROFILE, KUBELET_CONFIG),
)
