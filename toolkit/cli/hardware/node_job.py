"""The Job that prints what a node's tools show, and the parts of its log. Pure functions."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from core.apis.kinds import JOB
from core.apis.names import GPU_RESOURCE, KUBERNETES_TAINTS, SCC_EXEMPT_NAMESPACES, SIMULATED
from core.hardware.profiles import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR

CONTAINER = "tools"
KEPT_SECONDS = 600
"""How long a finished Job stays that could not be removed, s."""
NOBODY = 65534
"""User of the pod where no SCC gives it one: an image's own may be root."""
_MARK = "$ "
"""What precedes a command in the log, as on a terminal, so that readers of logs know it."""
_OF_GPUS = "needs the node's GPUs, which the pod requests unless --gpus is 0, and NVIDIA's container runtime"
_OF_SYSFS = "the node has no verbs device, or the drivers of its adapters are not loaded"

COMMANDS: Mapping[str, str] = {
    "nvidia-smi -q": _OF_GPUS,
    "nvidia-smi topo -m": _OF_GPUS,
    "lscpu": "util-linux is not in the image",
    "numactl -H": "numactl is not in the image",
    "cat /proc/meminfo": "the container hides it",
    f"lspci -D -nnv -d {MELLANOX_PCI_VENDOR}:": "pciutils are not in the image, or the node has no such adapter",
    f"lspci -D -nn -d {NVIDIA_PCI_VENDOR}:": "pciutils are not in the image, or the node has no GPU",
    "ibstat": f"infiniband-diags are not in the image, or {_OF_SYSFS}",
    "ls -l /sys/class/infiniband": _OF_SYSFS,
    "ibdev2netdev": "interfaces are in the node's network namespace, where a pod is with --host-network only; "
    "or it is not in the image, as it comes with the drivers (DOCA, MLNX_OFED)",
}
"""Each command, and why it may print nothing."""


class Unseen(NamedTuple):
    """A command that printed nothing of the node."""

    command: str
    reason: str


def name(node: str) -> str:
    """Return the name of a node's Job, the same each time: two at once would wait for the same GPUs."""
    return f"hpc-discover-{hashlib.sha256(node.encode()).hexdigest()[:10]}"


def manifest(
    node: str,
    *,
    image: str,
    namespace: str,
    gpus: int,
    seconds: int,
    account: str = "",
    host_network: bool = False,
    taints: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the Job of a node, which ends after `seconds` at the latest.

    Its pod has no privilege, and all GPUs of the node or none: fewer would look like a node with fewer. The scheduler
    decides whether they are free. It tolerates the node's `taints` with a key of a site's own.
    """
    labels = {"app.kubernetes.io/name": "hpc-discover", "app.kubernetes.io/managed-by": "hpc"}
    security: dict[str, Any] = {"runAsNonRoot": True}
    if namespace in SCC_EXEMPT_NAMESPACES:
        security["runAsUser"] = NOBODY
    amounts = {"cpu": "500m", "memory": "512Mi", **({GPU_RESOURCE: str(gpus)} if gpus else {})}
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        **({"serviceAccountName": account} if account else {}),
        **({"hostNetwork": True} if host_network else {}),
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [here]}}},
        "tolerations": [{"key": key, "operator": "Exists"} for key in _tolerated(taints)],
        "securityContext": security,
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}],
        "containers": [
            {
                "name": CONTAINER,
                "image": image,
                "command": ["/bin/sh", "-c", script()],
                "resources": {"requests": amounts, "limits": amounts},
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - in the container
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.kind,
        "metadata": {"name": name(node), "namespace": namespace, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _tolerated(taints: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return keys of taints, without those by which Kubernetes keeps pods off a node that is not well or a master."""
    own = (str(taint.get("key") or "") for taint in taints)
    return [*dict.fromkeys((GPU_RESOURCE, *(key for key in own if key and not key.startswith(KUBERNETES_TAINTS))))]


def script() -> str:
    """Return what the pod runs: each command after its name; one that fails does not end it."""
    return "\n".join(f"echo '{_MARK}{command}'; {command} || echo '{_failed(command)}'" for command in COMMANDS)


def unseen(log: str) -> Iterator[Unseen]:
    """Yield the commands that printed nothing, or failed, by the log of a pod that has run the script."""
    parts = _parts(log)
    for command, why in COMMANDS.items():
        lines = parts.get(command)
        if lines is None:
            yield Unseen(command, "not run: the log ends before it")
        elif not lines:
            yield Unseen(command, f"prints nothing: {why}")
        elif lines[-1] == _failed(command):
            message = f" ({lines[-2]})" if len(lines) > 1 else ""
            yield Unseen(command, f"fails{message}: {why}")


def _failed(command: str) -> str:
    return f"hpc: {command} failed"


def _parts(log: str) -> dict[str, list[str]]:
    """Return the lines of each command of a log, without empty ones and those of the simulator."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in log.splitlines():
        if line.startswith(_MARK) and line.removeprefix(_MARK) in COMMANDS:
            lines = parts.setdefault(line.removeprefix(_MARK), [])
        elif line.strip() and not line.startswith(SIMULATED):
            lines.append(line)
    return {
        command: [line for line in output if not (command.startswith("ls ") and line == "total 0")]
        for command, output in parts.items()
    }
