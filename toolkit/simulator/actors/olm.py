"""Operator Lifecycle Manager, the real one: its two operators, and the server of the simulated catalogues.

On a real cluster they are Deployments of the control plane; here they are processes beside the API server, like its
controllers, and are started again when they end. OLM makes a pod and a Service of each CatalogSource with an image. The
pod runs no program here: what its image is known to have is served in its place, and OLM reaches it by that Service.
"""

import json
import logging
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.files import write_atomically
from toolkit.engine.tools.table import OLM_TOOLS
from toolkit.simulator import pods
from toolkit.simulator.access import rbac
from toolkit.simulator.actors import catalogue
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import die_with_parent
from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.service_names import ServiceNames
from toolkit.simulator.home import Layout
from toolkit.simulator.processes import ports
from toolkit.simulator.processes.ports import LOOPBACK
from toolkit.simulator.state import CATALOGUES

log = logging.getLogger(__name__)

REGISTRY_LABEL = "olm.catalogSource"
"""Of the pod of a CatalogSource."""
REGISTRY_PORT = 50051
MARKETPLACE = "openshift-marketplace"
AGAIN_SECONDS = 1.0
LISTEN_SECONDS = 0.05
LOOK_SECONDS = 10.0
LOG_BYTES = 16 * 2**20
"""Where a log begins again: while a version waits for what it replaces, OLM writes a thousand lines a second."""


class Olm:
    """Runs `olm`, `catalog` and `operator-catalogues` until the process of the actors ends."""

    def __init__(self, runtime: Runtime, names: ServiceNames) -> None:
        self._runtime = runtime
        self._names = names
        self._folder = runtime.settings.home / "data" / "olm"
        settings = runtime.settings.ports
        self._ports = {
            **{name: settings[field] for name, field in CATALOGUES.items()},
            catalogue.EMPTY: ports.free(),
        }

    def start(self) -> None:
        """Start all three in the background, the server first: a client that finds none waits before it retries."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._runtime.pods.on_change(self._pod_changed)
        threading.Thread(target=self._start, name="olm", daemon=True).start()

    def _start(self) -> None:
        missing = sorted({*OLM_TOOLS} - {*self._runtime.settings.tools})
        if missing:
            log.warning("the simulated cluster was started without the tools %s: nothing resolves", ", ".join(missing))
            return
        file = self._folder / "catalogues.json"
        write_atomically(file, json.dumps(catalogue.served(self._ports, self._runtime.settings.tools)))
        catalogues, olm, catalog = OLM_TOOLS
        self._run(catalogues, ["-catalogues", file])
        while any(map(ports.is_free, self._ports.values())):
            time.sleep(LISTEN_SECONDS)
        self._run(olm, [f"--namespace={rbac.OLM.namespace}"])
        self._run(catalog, [f"--namespace={MARKETPLACE}"])

    def _run(self, tool: str, arguments: Sequence[str | Path]) -> None:
        threading.Thread(target=self._keep_running, args=(tool, arguments), name=tool, daemon=True).start()

    def _keep_running(self, tool: str, arguments: Sequence[str | Path]) -> None:
        binary = self._runtime.settings.tools[tool]
        while True:
            with (self._folder / f"{tool}.log").open("ab") as output:
                process = subprocess.Popen(
                    [binary, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self._environment,
                    cwd=self._folder,
                    preexec_fn=die_with_parent,  # noqa: PLW1509 - as for other controllers
                )
            while (code := ended(process)) is None:
                if Path(output.name).stat().st_size > LOG_BYTES:
                    os.truncate(output.name, 0)
            # OLM ends by itself when it has labelled what an earlier version left without labels.
            log.warning("%s ended with %d, see %s", tool, code, output.name)
            time.sleep(AGAIN_SECONDS)

    @property
    def _environment(self) -> Mapping[str, str]:
        return {
            "PATH": os.environ.get("PATH", ""),
            "GOGC": "50",
            "TMPDIR": str(self._folder),
            "KUBECONFIG": str(Layout(self._runtime.settings.home).identity(rbac.OLM.name)),
            "OPERATOR_NAMESPACE": str(rbac.OLM.namespace),
            # Names of Services mean nothing outside the cluster. Go calls loopback without it.
            "GRPC_PROXY": f"socks5://{LOOPBACK}:{self._names.port}",
        }

    def _pod_changed(self, _key: Key, old: Object | None, pod: Object | None) -> None:
        """Have a registry pod lead to the catalogue of its image, once it runs."""
        for version in (old, pod):
            if version is None or REGISTRY_LABEL not in pods.labels(version):
                continue
            address = (str((version.get("status") or {}).get("podIP")), REGISTRY_PORT)
            if version is pod and pods.runs(pod):
                self._runtime.listening[address] = self._ports[catalogue.of_images(images(pod))]
            else:
                self._runtime.listening.pop(address, None)


def ended(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit status of a process if it ends within a while, None if it runs on."""
    try:
        return process.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def images(pod: Object) -> list[str]:
    """Return the images of a pod; that of a catalogue is the first one's of all, or that of an init container."""
    spec = pod["spec"]
    return [str(container.get("image", "")) for container in (*(spec.get("initContainers") or ()), *spec["containers"])]
