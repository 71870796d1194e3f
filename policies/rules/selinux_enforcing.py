"""No node is configured to run without SELinux enforcing."""

import re
from collections.abc import Iterator

from apis.kinds import MACHINE_CONFIG
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rule import Parameters, Rule
from policies.values import Path
from policies.views.ignition import texts
from policies.violation import Violation

_ARGUMENTS: Path = ("spec", "kernelArguments")
_OFF = frozenset({"selinux=0", "enforcing=0"})
_CONFIG_FILES = frozenset({"/etc/selinux/config", "/etc/sysconfig/selinux"})
_MODE = re.compile(r"^[ \t]*SELINUX[ \t]*=[ \t]*[\"']?(permissive|disabled)\b", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile(r"\bsetenforce[ \t]+(0|permissive)\b", re.IGNORECASE)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for index, argument in enumerate(subject.entries(*_ARGUMENTS)):
        for word in argument[:4096].split() if isinstance(argument, str) else ():
            if word in _OFF:
                yield subject.violation(f"starts its nodes with {word}", *_ARGUMENTS, index)
    for found in texts(subject):
        mode = _MODE.search(found.text) if found.name in _CONFIG_FILES else None
        if mode is not None:
            yield subject.violation(f"sets SELinux to {mode[1].lower()} in {found.name}", *found.place)
        if command := _COMMAND.search(found.text):
            yield subject.violation(f"runs {command[0]} in {found.name[:80]}", *found.place)


SELINUX_ENFORCING = Rule(
    name="selinux-enforcing",
    what="No MachineConfig sets SELinux to permissive or disabled.",
    why="On a node, only the MCS level that SELinux enforces separates the files and processes of two tenants. In "
    "permissive mode the jobs of all namespaces may read each other's data, and the faults it hides return on other "
    "nodes.",
    remedy="Leave SELinux enforcing and load the module for the device files (infiniband.pp); if an operator cannot "
    "run that way, add an exception with a last day",
    source="E-10, R-3.4.1-8, P-15",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MACHINE_CONFIG,),
)
