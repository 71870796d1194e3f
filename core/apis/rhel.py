"""Which minor release of Red Hat Enterprise Linux a kernel is of (access.redhat.com/articles/3078)."""

import re
from collections.abc import Mapping

KERNELS: Mapping[str, str] = {
    "7.4": "3.10.0-693",
    "7.5": "3.10.0-862",
    "7.6": "3.10.0-957",
    "7.7": "3.10.0-1062",
    "7.8": "3.10.0-1127",
    "7.9": "3.10.0-1160",
    "8.4": "4.18.0-305",
    "8.6": "4.18.0-372",
    "8.8": "4.18.0-477",
    "8.10": "4.18.0-553",
}
"""Minor release -> version and build of its kernel; errata append further numbers."""
_NAMED = re.compile(r"Red Hat Enterprise Linux(?: Server)?(?: release)? (\d+\.\d+)")
_GENERATION = re.compile(r"\.el(\d+)")
RHCOS = "RHCOS"


def minor(kernel: str) -> str | None:
    """Return the minor release of a kernel, as `uname -r` prints it; None: not known."""
    return next((name for name, build in KERNELS.items() if re.match(rf"{re.escape(build)}(?!\d)", kernel)), None)


def system(image: str, kernel: str) -> str | None:
    """Return the system of a node, `RHCOS`, `RHEL 7.6`, `RHEL 7` or another one's name; None: the node does not say.

    A RHEL node of OpenShift 3.11 and 4.4 calls itself `OpenShift Enterprise`: its kernel has the release then.
    """
    if "CoreOS" in image:
        return RHCOS
    if named := _NAMED.search(image):
        return f"RHEL {named[1]}"
    if "OpenShift" in image:
        generation = _GENERATION.search(kernel)
        number = minor(kernel) or (generation and generation[1])
        return f"RHEL {number}" if number else None
    return None if image in ("", "simulated") else image
