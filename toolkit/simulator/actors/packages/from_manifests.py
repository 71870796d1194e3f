"""Operators that no catalogue has: the program declares their Deployments, or IBM's manifest installs them."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from core.files import write_atomically
from core.yaml import text as yaml_text
from toolkit.engine.tools.table import MPI_OPERATORS
from toolkit.engine.tools.versions import TRAINER
from toolkit.simulator import pods
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.package import Package
from toolkit.simulator.actors.scale_operator import ScaleOperator
from toolkit.simulator.actors.volumes import read_mounted
from toolkit.simulator.processes import ports
from toolkit.simulator.processes.ports import LOOPBACK
from toolkit.simulator.state import MpiGeneration

CERTIFICATES = "k8s-webhook-server/serving-certs"
"""Where it reads its certificate below the temporary folder; no setting says otherwise."""
DEFAULT_PORT = 9443
"""Of its webhooks, where its configuration has none."""
FLAGS: Mapping[MpiGeneration, Mapping[str, str]] = {
    "v1alpha2": {"kubectl-delivery-image": "mpioperator/kubectl-delivery:latest"},
    "v2beta1": {"kube-api-qps": "5", "kube-api-burst": "10"},
}
"""Flags that the controllers here adopt from a container, with the controllers' own defaults."""


class TrainerManager(Controller):
    """Runs `trainer` with what its pod mounts: a certificate, and a configuration."""

    tool = "trainer"

    @cached_property
    def port(self) -> int:
        """Where it serves webhooks; a new pod of its Deployment starts beside the old one."""
        return ports.free()

    @cached_property
    def pod_port(self) -> int:
        """Where its pod serves them."""
        return int((self._configuration.get("webhook") or {}).get("port") or DEFAULT_PORT)

    @cached_property
    def _configuration(self) -> Object:
        arguments = (argument.partition("=") for argument in pods.command(self.pod).split())
        file = next((value for name, _, value in arguments if name == "--config"), "")
        content = read_mounted(self.runtime, self.pod, file) if file else None
        return next(iter(yaml_text.read_all(content.decode())), {}) if content else {}

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.log_line(f"real: Trainer {TRAINER} on a simulated cluster, in place of the image {pods.image(self.pod)}")
        for name in ("tls.crt", "tls.key"):
            content = read_mounted(self.runtime, self.pod, f"/tmp/{CERTIFICATES}/{name}")  # noqa: S108 - in the pod
            if content is not None:
                write_atomically(self.folder / CERTIFICATES / name, content)
        file = self.folder / "config.json"
        write_atomically(file, json.dumps(listening(self._configuration, self.namespace, self.port)))
        return ["-kubeconfig", kubeconfig, "-config", file]


def listening(configuration: Object, namespace: str, port: int) -> Object:
    """Return a configuration by which it serves its webhooks on loopback, and nothing else there.

    A process outside the cluster does not know its own namespace, in which the leader is elected.
    """
    elected = configuration.get("leaderElection")
    return {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        **configuration,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": port},
        **({"leaderElection": {"resourceNamespace": namespace, **elected}} if elected else {}),
    }


def own_flags(generation: MpiGeneration, arguments: list[str]) -> list[str]:
    """Return the flags of a container that the real controller gets, in any of their four spellings.

    Only v1alpha2 delivers a kubectl; of v2beta1 it is how many requests a second it may make.
    """
    flags = [_flag(arguments, name, default) for name, default in FLAGS[generation].items()]
    return [word for flag in flags for word in flag]


def _flag(arguments: list[str], flag: str, default: str) -> tuple[str, str]:
    for index, argument in enumerate(arguments):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == flag:
            return f"-{flag}", value if equals else arguments[index + 1]
    return f"-{flag}", default


class MpiOperator(Controller):
    """Runs the controller of the cluster's generation of MPIJob."""

    @property
    def tool(self) -> str:
        """The command."""
        return MPI_OPERATORS[self.runtime.settings.mpi]

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the flags of its container that it knows."""
        container = self.pod["spec"]["containers"][0]
        arguments = [*(container.get("command") or []), *(container.get("args") or [])]
        return ["-kubeconfig", kubeconfig, *own_flags(self.runtime.settings.mpi, arguments)]


PACKAGES: tuple[Package, ...] = ()
ACTORS = (
    (images.MPI_OPERATORS, "", MpiOperator),
    (images.SCALE_OPERATORS, "", ScaleOperator),
    (images.TRAINER_MANAGERS, "", TrainerManager),
)
