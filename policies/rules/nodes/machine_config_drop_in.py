"""A MachineConfig changes a unit by a drop-in and leaves the vendor's file alone."""

from collections.abc import Iterator

from core.apis.kinds import MACHINE_CONFIG
from core.apis.names import MACHINE_CONFIG_ROLE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import read
from policies.rule import Parameters, Rule

_VENDOR = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/")
_FILES = ("spec", "config", "storage", "files")
_LABEL = ("metadata", "labels", MACHINE_CONFIG_ROLE)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for index, file in enumerate(subject.entries(*_FILES)):
        path = read(file, "path")
        if isinstance(path, str) and path.startswith(_VENDOR) and not path.startswith("/usr/local/"):
            yield subject.violation(
                f"writes {path[:200]}, which belongs to the operating system", *_FILES, index, "path"
            )
    if not subject.text(*_LABEL):
        yield subject.violation(f"has no label {MACHINE_CONFIG_ROLE}", *_LABEL)


MACHINE_CONFIG_DROP_IN = Rule(
    name="machine-config-drop-in",
    what="A MachineConfig has the label of its pool and changes units through drop-ins below /etc; it never writes a "
    "file of the operating system.",
    why="/usr is read-only on RHCOS, so the node's daemon fails and the pool degrades (read-only file system); on RHEL "
    "the next update overwrites the file. The Redpaper edits /usr/lib/systemd/system/cri-o.service manually. Without "
    "the label a MachineConfig belongs to no pool and changes nothing.",
    remedy="Write a drop-in (systemd.units[].dropins) or a file below /etc, and set the label to the pool's name",
    source="E-19, platform-facts 1.11 and 4.3 rule 30",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MACHINE_CONFIG,),
)
