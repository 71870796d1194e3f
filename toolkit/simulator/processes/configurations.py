"""The configuration files of the API server, the scheduler and kwok."""

from pathlib import Path

import yaml

from toolkit.simulator.home import REPOSITORY, SERVICE_SOCKET, Layout

_STAGES = REPOSITORY / "toolkit/simulator/stages"


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
