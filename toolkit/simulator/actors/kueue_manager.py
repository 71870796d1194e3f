"""Kueue's manager: the real one, which lets jobs start, and preempts them, by the queues' quotas."""

import base64
import json
from pathlib import Path

from core.apis import kinds
from core.files import write_atomically
from toolkit.engine.tools.table import KUEUE
from toolkit.simulator.actors import kueue, kueue_settings
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.processes.ports import LOOPBACK

MOUNT_SECONDS = 0.2
GATES = "VisibilityOnDemand=false,MultiKueue=false"
"""The first starts an API server of its own on a fixed port; there is one cluster here."""


class KueueManager(Controller):
    """Runs `kueue` with what its ConfigMap says."""

    tool = "kueue"

    @property
    def port(self) -> int:
        """Where it serves webhooks."""
        return self.runtime.settings.ports["kueue"]

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.log_line(f"real: Kueue {KUEUE} on a simulated cluster, in place of the image {kueue.MANAGER_IMAGE}")
        mounted = self.runtime.config_maps.get(kueue.CONFIG, self.namespace)
        document = ((mounted or {}).get("data") or {}).get(kueue.CONFIG_FILE, "{}")
        certificates = self.folder / "certificates"
        whole = kueue_settings.listening(json.loads(document), LOOPBACK, self.port, str(certificates))
        file = self.folder / "config.json"
        write_atomically(file, json.dumps(whole))
        return ["-kubeconfig", kubeconfig, "-config", file, "-feature-gates", GATES]

    def accompany(self) -> None:
        """Mount the certificate that the manager makes, as a kubelet does with a Secret."""
        folder = self.folder / "certificates"
        while not self.stopped.is_set():
            secret = self.api.get(kinds.SECRET, kueue.SECRET, self.namespace).get("data") or {}
            if "tls.crt" in secret:
                for name in ("tls.key", "tls.crt"):
                    write_atomically(folder / name, base64.b64decode(secret[name]))
                return
            self.stopped.wait(MOUNT_SECONDS)
