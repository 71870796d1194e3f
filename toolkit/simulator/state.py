"""What is stored of a cluster between two commands: cluster.json."""

import json
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from core.files import write_atomically
from core.model import Model
from toolkit.engine.errors import SimulatorError
from toolkit.simulator.home import Layout
from toolkit.simulator.spec import ClusterSpec


class PortNumbers(Model):
    """The ports of a cluster; that of the API server stays for the cluster's life."""

    # Clusters of before had further ones.
    model_config = ConfigDict(extra="ignore")

    api: int
    etcd: int
    etcd_peer: int
    kubelet: int
    admission: int = Field(default=0, description="0 until it is drawn: clusters of before did not have it")
    objects: int = Field(default=0, description="of the object store; 0 until it is drawn")
    discover: int = Field(default=0, description="of Spectrum Discover; 0 until it is drawn")
    scale_gui: int = Field(default=0, description="of the GUI of Storage Scale; 0 until it is drawn")
    metrics: int = Field(default=0, description="of metrics, for a Prometheus; 0 until it is drawn")
    kueue: int = Field(default=0, description="of Kueue's webhooks; 0 until it is drawn, as below")
    jobset: int = Field(default=0, description="of JobSet's webhooks")


LISTENERS = {
    "kube-apiserver": "api",
    "etcd": "etcd",
    "kwok": "kubelet",
    "scc-admission": "admission",
    "object-store": "objects",
    "discover": "discover",
    "scale-gui": "scale_gui",
}
"""Process -> the port on which it is called."""
CONTROLLERS = ("kueue", "jobset")
"""Controllers, children of the actors, whose webhooks are called on loopback, at the port of their name."""
METRICS = "metrics"
"""The port of the actors' own server, which exporters' metrics are read from."""


class State(Model):
    """The content of cluster.json."""

    version: Literal[1] = 1
    spec: ClusterSpec
    ports: PortNumbers
    tools: dict[str, Path] = Field(default_factory=dict)
    bootstrap: str | None = None
    """Fingerprint of the bootstrap that was brought onto the cluster completely."""

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://127.0.0.1:{self.ports.api}"

    @property
    def object_store(self) -> str | None:
        """Address of the object store; None where the cluster has none."""
        return f"http://127.0.0.1:{self.ports.objects}" if self.spec.object_store else None

    @property
    def discover(self) -> str | None:
        """Host and port of Spectrum Discover; None where the cluster has none."""
        return f"127.0.0.1:{self.ports.discover}" if self.spec.discover else None

    @property
    def scale_gui(self) -> str | None:
        """Host and port of the GUI of Storage Scale; None where the cluster has none."""
        return f"127.0.0.1:{self.ports.scale_gui}" if self.spec.scale_gui else None

    @property
    def metrics(self) -> str | None:
        """Address of the metrics of its simulated exporters; None for a cluster without them."""
        return f"http://127.0.0.1:{self.ports.metrics}" if self.spec.actors and self.ports.metrics else None


def load(layout: Layout) -> State | None:
    """Return the state of a cluster, None when there is none; raise SimulatorError for one that cannot be read."""
    try:
        return State.model_validate_json(layout.state.read_text())
    except FileNotFoundError:
        return None
    except (ValidationError, ValueError) as error:
        raise SimulatorError(
            f"{layout.state} is damaged or of another version of this program, so the cluster's ports are not known:"
            f" run `./hpc sim clean --name {layout.home.name}` and start it again."
            f" ({str(error).splitlines()[0]})"
        ) from error


def save(layout: Layout, state: State) -> None:
    """Write the state of a cluster."""
    write_atomically(layout.state, json.dumps(state.model_dump(mode="json"), indent=1))
