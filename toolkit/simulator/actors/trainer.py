"""Kubeflow Trainer's controller: the real one. No catalogue has it: a program, or an administrator, declares it."""

import json
from functools import cached_property
from pathlib import Path

from core.files import write_atomically
from core.yaml import text as yaml_text
from toolkit.engine.tools.table import TRAINER
from toolkit.simulator import pods
from toolkit.simulator.actors import mounts
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.processes import ports
from toolkit.simulator.processes.ports import LOOPBACK

CERTIFICATES = "k8s-webhook-server/serving-certs"
"""Where it reads its certificate below the temporary folder; no setting says otherwise."""
DEFAULT_PORT = 9443
"""Of its webhooks, where its configuration has none."""


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
        content = mounts.read(self.runtime, self.pod, file) if file else None
        return next(iter(yaml_text.read_all(content.decode())), {}) if content else {}

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.log_line(f"real: Trainer {TRAINER} on a simulated cluster, in place of the image {pods.image(self.pod)}")
        for name in ("tls.crt", "tls.key"):
            content = mounts.read(self.runtime, self.pod, f"/tmp/{CERTIFICATES}/{name}")  # noqa: S108 - in the pod
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
