"""NVIDIA's GPU operator where there is a real one: which versions that is, and the files that it reads."""

import re
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from core.files import write_atomically
from core.yaml import text as yaml_text
from toolkit.engine.tools.table import GPU_OPERATOR_TOOLS
from toolkit.engine.tools.versions import GPU_OPERATOR
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.gpu_cluster_operator import GpuClusterOperator
from toolkit.simulator.actors.gpu_operator import GpuOperator
from toolkit.simulator.actors.podactor import PodActor
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime

VERSION_FILE = "gpu-operator-certified.clusterserviceversion.yaml"
ASSETS = "opt/gpu-operator"
"""Where its image has what it makes DaemonSets of, below the folder that it runs in."""
SYSTEM = "host-etc/os-release"
"""Where its pod mounts the node's file, likewise."""
TOOL, FILES = GPU_OPERATOR_TOOLS
FIRST_WITH_CLAIMS = (26, 7)
"""First version that knows a GPUCluster."""
_VERSION = re.compile(r"^v(\d+)\.(\d+)\.")
_REAL = f"v{GPU_OPERATOR.rpartition('.')[0]}."


def operator(runtime: Runtime, logs: PodLogs, pod: Object) -> PodActor:
    """Return the operator of a pod: the real one where its image is of a version that there is one of."""
    _, _, tag = pods.image(pod).rpartition(":")
    if tag.startswith(_REAL):
        return GpuController(runtime, logs, pod)
    match = _VERSION.match(tag)
    claims = match is not None and (int(match[1]), int(match[2])) >= FIRST_WITH_CLAIMS
    return (GpuClusterOperator if claims else GpuOperator)(runtime, logs, pod)


class GpuController(Controller):
    """Runs `gpu-operator` in a folder that has what its container has at the root."""

    tool = TOOL

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments once its files are complete.

        One that fails at its first reconciliation panics at the next: it registers its metrics a second time.
        """
        self.log_line(f"real: GPU Operator {GPU_OPERATOR} on a simulated cluster, in place of {pods.image(self.pod)}")
        lay_out(self.folder, self._files, self.runtime.settings.openshift)
        return arguments(kubeconfig)

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The operands' images, which the ClusterServiceVersion gives it, and its namespace."""
        return variables(self._files, self.namespace)

    @property
    def _files(self) -> Path:
        return self.runtime.settings.tools[FILES]


def lay_out(folder: Path, files: Path, release: str | None) -> None:
    """Write what the operator reads below the folder that it runs in, on OpenShift of a release; None: elsewhere."""
    for name, inside in (("assets", ASSETS), ("manifests", f"{ASSETS}/manifests")):
        # Copied, as it follows no links.
        shutil.copytree(files / name, folder / inside, dirs_exist_ok=True)
    system = f'ID="rhcos"\nVERSION_ID="{release}"\nOPENSHIFT_VERSION="{release}"\n' if release else 'ID="rhel"\n'
    write_atomically(folder / SYSTEM, system)


def arguments(kubeconfig: Path) -> list[str | Path]:
    """Return its arguments: neither metrics nor probes, as both would listen on all interfaces."""
    return ["-kubeconfig", kubeconfig, "-metrics-bind-address", "0", "-health-probe-bind-address", "0"]


def variables(files: Path, namespace: str) -> dict[str, str]:
    """Return the variables of its container, as its ClusterServiceVersion has them: its namespace, operands' images."""
    version = yaml_text.read((files / VERSION_FILE).read_text())
    (deployment,) = version["spec"]["install"]["spec"]["deployments"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    images = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    return {**images, "OPERATOR_NAMESPACE": namespace}
