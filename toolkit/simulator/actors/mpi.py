"""The MPI operator: its real controller."""

from collections.abc import Mapping
from pathlib import Path

from toolkit.engine.tools.table import MPI_OPERATORS
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.spec import MpiGeneration

FLAGS: Mapping[MpiGeneration, Mapping[str, str]] = {
    "v1alpha2": {"kubectl-delivery-image": "mpioperator/kubectl-delivery:latest"},
    "v2beta1": {"kube-api-qps": "5", "kube-api-burst": "10"},
}
"""Flags that the controllers here adopt from a container, with the controllers' own defaults."""


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
