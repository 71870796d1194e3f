"""No node is configured to run without SELinux enforcing."""

import re
from collections.abc import Iterator

from core.apis.kinds import MACHINE_CONFIG
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.ignition import texts
from policies.views.kernel_arguments import KINDS, arguments, profiles
from policies.views.node_paths import canonical

_OFF = frozenset({"selinux=0", "enforcing=0"})
_MODULES = frozenset({"security", "lsm"})
"""Arguments that name the kernel's security modules: one that is not among them is off."""
_CONFIG_FILES = frozenset({"/etc/selinux/config", "/etc/sysconfig/selinux"})
_MODE = re.compile(r"^[ \t]*SELINUX[ \t]*=[ \t]*[\"']?(permissive|disabled)\b", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile(r"\bsetenforce[ \t]+(0|permissive)\b|\bsemanage[ \t]+permissive[ \t]+-a\b", re.IGNORECASE)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for word, place in arguments(subject):
        if _turns_off(word):
            yield subject.violation(f"starts its nodes with {word[:80]}", *place)
    for text, place in profiles(subject):
        if command := _COMMAND.search(text):
            yield subject.violation(f"runs {command[0]} in a profile", *place)
    for file in texts(subject) if subject.kind == MACHINE_CONFIG.kind else ():
        mode = _MODE.search(file.text) if canonical(file.name) in _CONFIG_FILES else None
        if mode is not None:
            yield subject.violation(f"sets SELinux to {mode[1].lower()} in {file.name}", *file.place)
        if command := _COMMAND.search(file.text):
            yield subject.violation(f"runs {command[0]} in {file.name[:80]}", *file.place)


def _turns_off(argument: str) -> bool:
    name, _, value = argument.partition("=")
    return argument in _OFF or (name in _MODULES and "selinux" not in value.split(","))


SELINUX_ENFORCING = Rule(
    name="selinux-enforcing",
    what="No MachineConfig, PerformanceProfile or Tuned sets SELinux to permissive or disabled, or leaves it out of "
    "the kernel's security modules.",
    why="On a node, only the MCS level that SELinux enforces separates the files and processes of two tenants. In "
    "permissive mode the jobs of all namespaces may read each other's data, and the faults it hides return on other "
    "nodes.",
    remedy="Leave SELinux enforcing and load the module for the device files (infiniband.pp); if an operator cannot "
    "run that way, add an exception with a last day",
    source="E-10, R-3.4.1-8, P-15",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=KINDS,
)
