"""Kubeflow Trainer's controller: the real one. No catalogue has it: a program, or an administrator, declares it."""

import json
from collections.abc import Mapping
from pathlib import Path

from simulator.actors import pods
from simulator.actors.api import Object
from simulator.actors.controllers import Controller
from simulator.files import write_atomically
from simulator.processes.ports import LOOPBACK
from simulator.tools.table import TRAINER

CERTIFICATES = Path("k8s-webhook-server") / "serving-certs"
"""Where it reads them below the temporary folder; no setting says otherwise."""


class TrainerManager(Controller):
    """Runs `trainer`; it reads its own configuration, as that of its pod is about ports that clusters would share."""

    @property
    def tool(self) -> str:
        """The command."""
        return "trainer"

    @property
    def port(self) -> int:
        """Where it serves webhooks."""
        return self.runtime.settings.ports["trainer"]

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.say(f"real: Trainer {TRAINER} on a simulated cluster, in place of the image {pods.image(self.pod)}")
        self.certificates(self.folder / CERTIFICATES)
        file = self.folder / "config.json"
        write_atomically(file, json.dumps(configuration(self.port)))
        return ["-kubeconfig", kubeconfig, "-config", file]

    def environment(self) -> Mapping[str, str]:
        """Return where its temporary files are."""
        return {"TMPDIR": str(self.folder)}


def configuration(port: int) -> Object:
    """Return the controller's configuration: one process, which has its certificate of the cluster."""
    return {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": port},
        "certManagement": {"enable": False},
    }
