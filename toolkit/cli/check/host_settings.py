"""What the rules find in the settings of hosts, which Ansible prepares: no manifest has them."""

from collections.abc import Iterator
from typing import Any

from policies.check import Checker
from policies.rule import Finding
from policies.rules.nodes.configuration import SELINUX_ENFORCING

SUBJECT = "settings site.hosts"
"""What findings and exceptions call them."""


def findings(selinux: str, checker: Checker, origin: Any) -> Iterator[Finding]:
    """Yield what is wrong with hosts whose mode of SELinux is `selinux`, if the rule of it runs."""
    severity = checker.severity(SELINUX_ENFORCING)
    if severity is not None and selinux != "enforcing":
        yield Finding(
            rule=SELINUX_ENFORCING.name,
            severity=severity,
            object=SUBJECT,
            message=f"the playbook of the hosts sets SELinux to {selinux}",
            remedy=SELINUX_ENFORCING.remedy,
            path=("selinux",),
            origin=origin,
        )
