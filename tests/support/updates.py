"""`./hpc` as a user runs it, with a folder of simulated clusters of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.clusters import homes
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.simulated import backend as simulated_backend
from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError
from toolkit.simulator import cluster


@dataclass(frozen=True)
class ClusterFolder:
    """The folder of the simulated clusters, and ./hpc with it."""

    folder: Path
    cluster: str = "default"

    @property
    def home(self) -> Path:
        """Home of the cluster."""
        return self.folder / self.cluster

    @property
    def backend(self) -> Backend:
        """The stack's state."""
        return simulated_backend.of_cluster(self.home)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ./hpc, with more variables in its environment."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
        return subprocess.Popen(
            [ROOT / "hpc", *arguments],
            env={**environment, "HPC_SIM_HOME": str(self.folder), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Run ./hpc to its end."""
        process = self.start(*arguments, **variables)
        output, _ = process.communicate(timeout=1200)
        return process.returncode, output

    def state(self) -> dict[str, object]:
        """Return the deployment in the stack's checkpoint."""
        return self.backend.checkpoint("dev")


@contextmanager
def cluster_folder(name: str, cluster_name: str = "default") -> Iterator[ClusterFolder]:
    """Give a folder for the clusters, emptied and stopped at the end."""
    try:
        tools.ensure()
    except SimulatorError as error:
        pytest.skip(f"needs the simulated cluster's tools: {error}")
    folder = homes() / f"{name}-{os.getpid()}"
    folder.mkdir()
    try:
        yield ClusterFolder(folder, cluster_name)
    finally:
        for home in folder.iterdir():
            if home.is_dir():
                cluster.clean(home)
        shutil.rmtree(folder)
