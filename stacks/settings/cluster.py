"""Settings of the cluster and its nodes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from components.base.model import DnsLabel, DnsName, Model, merged_by
from components.base.scheduling import LabelValue
from core.hardware import hostlist, profiles
from core.hardware.gpus import Gpu
from core.hardware.profiles import Profile

_UID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _names(nodes: Any) -> Any:
    """Return the names of nodes, of which one with a range means several."""
    if not isinstance(nodes, list | tuple):
        return nodes
    return [host for node in nodes for host in (hostlist.expanded(node) if isinstance(node, str) else (node,))]


class ClusterSettings(Model):
    """Which cluster the stack belongs to; the ambient current context is never used."""

    kubeconfig: str = Field(description="path, relative to the project's folder; `~` is the user's home")
    context: str = Field(min_length=1, description="context in the kubeconfig")
    identifier: DnsName = Field(description="identity of the cluster; fixed as long as the stack has objects")
    simulated: bool = Field(default=False, description="whether `./hpc up` starts a simulated cluster for it")
    offline_provider: bool = Field(
        default=False,
        description="whether this project's offline stand-in may write a cluster that is not simulated where Pulumi's "
        "official Kubernetes provider is not installed; updates and reviews report it. false: they are refused",
    )
    hosted: bool = Field(
        default=False,
        description="the control plane is hosted (HyperShift): NodePools of the management cluster configure the "
        "nodes, and the stack declares no MachineConfig; their configuration lifts the limit of locked memory",
    )
    shared_nodes: Annotated[
        tuple[Annotated[DnsName, Field(json_schema_extra={"pattern": hostlist.PATTERN})], ...],
        BeforeValidator(_names),
    ] = Field(
        default=(),
        description="nodes that are not the stack's and that it may configure as well, by name or range, e.g. "
        "gpu[01-04]. The GPU Operator configures every node with NVIDIA's devices: an update that reaches one that is "
        "neither the stack's nor listed is refused. MachineConfigs are for every node of a pool: `./hpc diff` and "
        "`./hpc up` name the others",
    )
    uid: Annotated[str, Field(pattern=_UID)] | None = Field(
        default=None,
        description="UID of its namespace kube-system, which the first `./hpc up` prints; an update or preview "
        "against another cluster is then refused, also by plain `pulumi`. None: only `./hpc` ties the stack to its "
        "cluster",
    )

    def path(self, root: Path) -> Path:
        """Return where the kubeconfig is, for the project in folder `root`."""
        return root / Path(self.kubeconfig).expanduser()


class NodeSettings(Model):
    """One node of the cluster, or several identical ones, with a range in the name: gpu[01-04]."""

    name: DnsName = Field(
        description="node name on the cluster; a range such as gpu[01-04].lab.example.com means four nodes; "
        "[01-04,07] works too",
        json_schema_extra={"pattern": hostlist.PATTERN},
    )
    roles: tuple[Literal["master", "worker"], ...] = Field(min_length=1, description="roles of the node")
    machine: str | None = Field(
        default=None,
        description="machine of a GPU node, if not that of its pool: a file of core/hardware/machines or of "
        "`machines`, without .yaml; None for others",
    )
    pool: DnsLabel | None = Field(
        default=None, description="one of `pools`, of which each GPU node needs one where the stack has some"
    )
    scale_client: bool = Field(default=False, description="whether it is a Spectrum Scale client, where CSI pods run")
    free_gpus: int | None = Field(
        default=None,
        ge=0,
        description="GPUs available to this stack's jobs; None: all. For nodes shared with others",
    )
    mig: str | None = Field(
        default=None,
        description="MIG configuration of its GPUs, by its name in the GPU Operator's list, e.g. all-1g.5gb: "
        "label nvidia.com/mig.config. The node then has MIG instances for jobs with `instance`, and no whole GPUs; "
        "needs `gpu.mig: mixed`. None: whole GPUs",
    )
    topology: dict[DnsLabel, LabelValue] = Field(
        default={},
        description="position of a GPU node in the fabric, by level of `queues.topology`, e.g. {leaf: leaf-03}; if "
        "omitted, as in the reference design's cabling",
    )

    _hardware: Profile | None = PrivateAttr(default=None)

    _hosts = field_validator("name", mode="before")(hostlist.required)

    @field_validator("machine")
    @classmethod
    def _known_machine(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None:
            machine_named(name, info)
        return name

    @model_validator(mode="after")
    def _has_as_many(self, info: ValidationInfo) -> Self:
        self._hardware = machine_named(self.machine, info) if self.machine else None
        gpus = self._hardware.gpus if self._hardware else 0
        if self.free_gpus is not None and self.free_gpus > gpus:
            raise ValueError(f"free_gpus {self.free_gpus} is more than the {gpus} GPUs of {self.name}; lower it")
        if self.mig is not None:
            self._divided(self.mig, self._hardware.gpu if self._hardware else None)
        return self

    def _divided(self, mig: str, gpu: Gpu | None) -> None:
        if gpu is None or not gpu.mig:
            what = f"{gpu.model} cannot be divided" if gpu else "it has no GPU"
            raise ValueError(f"mig {mig} of {self.name}: {what}; leave it out")
        if mig not in gpu.mig:
            configurations = ", ".join(gpu.mig)
            raise ValueError(
                f"mig {mig} of {self.name} is not a configuration of {gpu.model}; give one of {configurations}"
            )
        if self.free_gpus is not None:
            raise ValueError(
                f"free_gpus {self.free_gpus} of {self.name}: mig {mig} divides all its GPUs, and none stays whole; "
                "leave one of them out"
            )

    @property
    def gpus(self) -> int:
        """Whole GPUs that jobs may have."""
        if self.mig is not None:
            return 0
        if self.free_gpus is not None:
            return self.free_gpus
        return self.hardware.gpus if self.machine else 0

    @property
    def instances(self) -> Mapping[str, int]:
        """MIG instances that jobs may have: size -> how many on all its GPUs; none where they are not divided."""
        if self.mig is None:
            return {}
        return {size: count * self.hardware.gpus for size, count in self.hardware.gpu.mig[self.mig].items()}

    @property
    def hardware(self) -> Profile:
        """The hardware of a GPU node; raise ValueError for another node."""
        if self.machine is None:
            raise ValueError(f"{self.name} has no machine")
        # A copy with another machine still has the hardware of the first one.
        own = self._hardware
        return own if own and own.name == self.machine else profiles.profile(self.machine)


def machine_named(name: str, info: ValidationInfo) -> Profile:
    """Return a machine of the stack's own, which the context of the validation has, or a known one."""
    own: Mapping[str, Profile] = info.context or {}
    try:
        return own.get(name) or profiles.profile(name)
    except ValueError as error:
        raise ValueError(f"{error}; this stack has {', '.join(own)}" if own else str(error)) from None


def _expanded(nodes: Any) -> Any:
    return [expanded for node in nodes for expanded in _expansion(node)] if isinstance(nodes, list | tuple) else nodes


def entries(nodes: Any) -> list[int]:
    """Return for every node the index of its entry in the settings, where a name with a range is one entry."""
    return [index for index, node in enumerate(nodes) for _ in _expansion(node)]


def _expansion(node: Any) -> Iterator[Any]:
    name = node.get("name") if isinstance(node, Mapping) else None
    if not isinstance(name, str):
        yield node
        return
    yield from ({**node, "name": host_name} for host_name in hostlist.expanded_or_same(name))


Nodes = Annotated[
    tuple[NodeSettings, ...], Field(min_length=1, json_schema_extra=merged_by("name")), BeforeValidator(_expanded)
]
"""All nodes; a name with a range stands for many."""
