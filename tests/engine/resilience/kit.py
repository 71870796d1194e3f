"""A stack on a backend of choice, and what `./hpc` does for it: its lock, its interrupted creates."""

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from tests.engine.kit import Cluster, Stack
from toolkit.cli.shared import cluster_client
from toolkit.cli.shared.backends.backend import Backend, of_url
from toolkit.cli.shared.checkpoints import interrupted
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.paths import PROJECT
from toolkit.engine.tools import find

LABELS = {"app.kubernetes.io/part-of": "hpc"}


def s3_url(bucket: str, endpoint: str) -> str:
    """Return a backend's URL for a bucket."""
    return f"s3://{bucket}?endpoint={endpoint}&s3ForcePathStyle=true&region=us-east-1"


@dataclass
class Kept(Stack):
    """A stack of project hpc, so that our reader of backends finds its state."""

    project: str = PROJECT
    url: str = ""

    @classmethod
    def make(cls, folder: Path, cluster: Cluster, url: str) -> "Kept":
        """Make the project and its empty stack."""
        made = cls(folder, cluster, url=url)
        folder.mkdir()
        made.use("objects.py")
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": PROJECT, "main": "program", "runtime": runtime}))
        outcome = made.pulumi("stack", "init", made.name)
        assert outcome.status == 0, outcome.text
        return made

    def environment(self) -> dict[str, str]:
        """Return the engine's environment with this stack's backend."""
        # The engine knows --event-log only with its debugging commands on.
        return {**super().environment(), "PULUMI_BACKEND_URL": self.url, "PULUMI_DEBUG_COMMANDS": "true"}

    @property
    def backend(self) -> Backend:
        """The backend as `./hpc` reads that of a simulated cluster."""
        return replace(self.shared, own=True)

    @property
    def shared(self) -> Backend:
        """The backend as `./hpc` reads that of a real cluster, which other machines write to."""
        found = of_url(self.url)
        assert found
        return found

    @property
    def latest(self) -> dict[str, Any]:
        """The deployment in the state."""
        return self.backend.checkpoint(self.name)

    def resources_of(self, kind: str) -> list[dict[str, Any]]:
        """Return the resources of a kind in the state."""
        return [each for each in self.latest.get("resources") or () if each["type"].endswith(f":{kind}")]

    def repair(self, *, thorough: bool = False) -> bool:
        """Do what `./hpc up` does before it starts the engine; thorough: what `./hpc state repair` does."""
        engine = Engine(find("pulumi"), self.name, self.environment())
        reached = cluster_client.Cluster(self.cluster.kubeconfig, self.cluster.context)
        with patch("toolkit.cli.shared.engine.ROOT", self.folder):
            backup = self.folder / f"backup-{time.monotonic_ns()}.json"
            return interrupted.repair(self.name, self.backend, engine, reached.find, backup, thorough=thorough)
