"""What a simulated cluster is to be, and what is stored of it between two commands: cluster.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from core.files import write_atomically
from core.hardware import profiles
from core.hardware.profiles import Hca, Profile
from core.model import Model
from policies.scc.shipped import Release
from toolkit.engine.errors import SimulatorError
from toolkit.simulator.home import Layout

Role = Literal["master", "worker"]
MpiGeneration = Literal["v1alpha2", "v2beta1"]
Kubernetes = Literal["1.34", "1.35"]
"""Minor versions that can be served."""
JobController = Literal["kueue", "jobset", "trainer", "cert_manager"]


class NodeSpec(Model):
    """One node. Without a hardware profile it is a plain virtual machine of no special hardware."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)
    roles: tuple[Role, ...] = ("worker",)
    profile: str | None = Field(default=None, description="a name known to core.hardware.profiles")
    machine: str | None = Field(default=None, description="a machine of the stack's own, by `profiles.to_json`")
    ports: tuple[Hca, ...] = Field(default=(), description="compute ports, where they are not called as in the profile")
    taints: tuple[Mapping[str, str], ...] = Field(default=(), description="as whoever made the machine gave them")
    host_driver: bool = Field(default=False, description="the system brings the GPU driver along")
    nvlink_domain: str | None = Field(
        default=None,
        description="rack over whose NVLink switches its GPUs reach those of other nodes; None: they do not",
    )

    @property
    def hardware(self) -> Profile | None:
        """Its machine; None for a plain one. Raises ValueError for an unknown profile."""
        if self.machine:
            return profiles.from_json(self.machine)
        return profiles.profile(self.profile) if self.profile else None


class ScaleGui(Model):
    """The GUI of a storage cluster, whose REST interface is simulated."""

    cluster_id: str = Field(pattern=r"^[0-9]{1,20}$", description="of the storage cluster")
    file_systems: tuple[str, ...] = Field(min_length=1, description="that it has, by name")


class ClusterSpec(Model):
    """A cluster: without nodes and actors it is a bare API server with its controllers."""

    name: str = Field(default="default", pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$")
    nodes: tuple[NodeSpec, ...] = ()
    actors: bool = Field(default=True, description="simulate hardware, operators and the runtime of pods")
    release: Release = Field(default="4.4", description="whose default SCCs the cluster has")
    openshift: str | None = Field(
        default=None,
        pattern=r"^\d+\.\d+$",
        description="release that its ClusterVersion names, e.g. 4.20; None: it has no ClusterVersion",
    )
    hosted: bool = Field(
        default=False, description="its control plane runs elsewhere (HyperShift): nothing serves MachineConfigs"
    )
    mpi: MpiGeneration = Field(default="v1alpha2", description="MPIJob generation whose real operator runs")
    kubernetes: Kubernetes = Field(default="1.34", description="minor version that it serves")
    job_controllers: tuple[JobController, ...] = Field(
        default=(),
        description="real controllers of jobs, and cert-manager, that are there for operators that come later",
    )
    gpu_operator: bool = Field(
        default=False, description="the real GPU Operator is there to be started, for a version that there is one of"
    )
    compute_domains: bool = Field(
        default=False, description="NVIDIA's real controller of ComputeDomains is there to be started"
    )
    storage_classes: tuple[str, ...] = Field(
        default=(), description="further classes of shared files that it has, each simulated like sim-files"
    )
    storage_scale: bool = Field(
        default=False,
        description="IBM's manifest of container-native Storage Scale is applied, as an administrator does",
    )
    object_store: bool = Field(default=False, description="S3 on loopback beside it, for the state of Pulumi")
    discover: bool = Field(default=False, description="Spectrum Discover on loopback beside it, for catalogues of data")
    suite: bool = Field(default=False, description="a suite needs kubectl, with which its script is really run")
    scale_gui: ScaleGui | None = Field(
        default=None, description="on loopback beside it, for caches of Storage Scale; None: there is none"
    )
    run_seconds: float = Field(default=0.25, ge=0, description="seconds that a simulated workload takes")
    node_grace_seconds: int = Field(
        default=50, ge=5, description="seconds after which a node that is not heard of counts as unreachable"
    )

    @property
    def schedules(self) -> bool:
        """True when pods are to get somewhere: the scheduler and kwok run."""
        return bool(self.nodes)

    def dump(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self.model_dump(mode="json")


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
    certified_operators: int = Field(default=0, description="of a catalogue; 0 until it is drawn, as below")
    community_operators: int = Field(default=0, description="of a catalogue")
    redhat_operators: int = Field(default=0, description="of a catalogue")
    kueue: int = Field(default=0, description="of Kueue's webhooks")
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
CATALOGUES = {
    name: name.replace("-", "_") for name in ("certified-operators", "community-operators", "redhat-operators")
}
"""Catalogue of operators that every cluster has -> the port at which a child of the actors serves it."""
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
    def catalogues(self) -> dict[str, int]:
        """Catalogue of operators -> its port on loopback."""
        return {name: getattr(self.ports, field) for name, field in CATALOGUES.items()}

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
