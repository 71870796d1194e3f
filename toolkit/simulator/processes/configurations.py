"""Configuration files of the cluster's processes, and the environment of those of this program."""

import sys
from functools import cache
from pathlib import Path

import yaml

from core.files import digest
from core.project import PRODUCT
from toolkit.simulator.home import SERVICE_SOCKET, Layout
from toolkit.simulator.processes.supervisor import Command

_STAGES = PRODUCT / "toolkit/simulator/stages"
ROOMS = ("toolkit/simulator", "toolkit/engine", "core", "policies")
"""What the processes of this program consist of."""


def egress() -> str:
    """Return how the API server reaches Services: through the actors (`toolkit.simulator.actors.service_network`).

    Kubelets are reached so, too, and therefore only clusters have it whose controllers of jobs need it.
    """
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": SERVICE_SOCKET}}}
    return yaml.safe_dump(
        {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": connection}],
        }
    )


def scheduler(layout: Layout) -> str:
    """Return the scheduler's settings: pods that did not fit are tried again within two seconds, not ten."""
    return yaml.safe_dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {
                "kubeconfig": str(layout.identity("kube-scheduler")),
                "qps": 200,
                "burst": 400,
            },
            "leaderElection": {"leaderElect": False},
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 2,
            "enableProfiling": False,
        }
    )


def stages() -> tuple[Path, ...]:
    """Return kwok's stages of our own: how nodes become Ready and how pods start, end and go.

    They select on the annotations of `toolkit.simulator.names` that the actors set. kwok's built-in stages complete a
    launcher whose workers are Pending, so they are not used.

    Every patch names the version that it was made for. kwok runs stages of one pod in parallel when changes come close
    together; without that a late patch of an earlier stage took a running pod back to ContainerCreating.
    """
    return tuple(sorted(_STAGES.glob("*.yaml")))


def python(name: str, arguments: list[str], ports: tuple[int, ...], *settings: bytes) -> Command:
    """Return a process of this program, in this very interpreter's environment; changed code makes it restart."""
    environment = {
        "PYTHONPATH": str(PRODUCT),
        "PYTHONUNBUFFERED": "1",
        "HPC_SIM_REVISION": digest(_sources(), *settings),
    }
    return Command(name, [sys.executable, "-m", *arguments], environment, ports)


@cache
def _sources() -> bytes:
    return b"\0".join(path.read_bytes() for room in ROOMS for path in sorted((PRODUCT / room).rglob("*.py")))
