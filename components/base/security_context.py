"""The security context of job containers: no privilege that they do not need."""

from typing import Any


def confined(*capabilities: str, **more: Any) -> dict[str, Any]:
    """Return a container's security context: no way to more privilege, no capability but `capabilities`.

    A runtime takes ALL away first and adds after it, so that an added capability is not lost.
    """
    added = {"add": list(capabilities)} if capabilities else {}
    return {"allowPrivilegeEscalation": False, "capabilities": {**added, "drop": ["ALL"]}, **more}


def confined_pod(*, seccomp: bool = True) -> dict[str, Any]:
    """Return a pod's security context; without `seccomp` where the release lets no ordinary account set a profile."""
    return {"runAsNonRoot": True, **({"seccompProfile": {"type": "RuntimeDefault"}} if seccomp else {})}
