"""Where pods may run: taints and tolerations, and levels of the fabric, by which Kueue places the pods of a job."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from components.base.model import DnsLabel, Model
from core.apis import names, topology
from core.wording import duplicates

_NAME = r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"
LabelKey = Annotated[str, StringConstraints(pattern=rf"^([a-z0-9][-.a-z0-9]{{0,252}}/)?{_NAME}$")]
"""Key of a label."""
LabelValue = Annotated[str, StringConstraints(pattern=rf"^{_NAME}$")]
"""Value of a label."""
MOST_LEVELS = 16
"""Levels that the API admits, the hosts among them."""


class TopologyLevel(Model):
    """One level of the fabric: nodes with the same value of its label are close to each other."""

    name: DnsLabel = Field(description="name that nodes and jobs use, e.g. leaf")
    label: LabelKey | None = Field(
        default=None,
        description="label of the nodes; None, for core, spine, leaf and accelerator: the one that NVIDIA's Topograph "
        "sets, e.g. `network.topology.nvidia.com/leaf`",
    )
    existing: bool = Field(
        default=False,
        description="the nodes have the label already, e.g. from Topograph, or `nvidia.com/gpu.clique` from GPU "
        "feature discovery; the stack then sets none",
    )

    @property
    def key(self) -> LabelKey:
        """The label of the nodes."""
        return self.label or topology.LABELS[self.name]

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if self.label is None and self.name not in topology.LABELS:
            raise ValueError(f"level {self.name}: label is missing; give it, e.g. example.com/{self.name}")
        if self.name == topology.HOST or self.label == topology.HOSTNAME:
            raise ValueError(f"level {self.name}: hosts are always the last level; leave it out")
        return self


def distinct(levels: Sequence[TopologyLevel]) -> str | None:
    """Return what is wrong with a list of levels, None if nothing is."""
    for field, names_of_levels in (
        ("name", (level.name for level in levels)),
        ("label", (level.key for level in levels)),
    ):
        if twice := duplicates(names_of_levels):
            return f"levels: {field} {twice[0]} is given twice; give each level its own"
    return None


def topology_name(levels: Sequence[TopologyLevel]) -> str:
    """Return the name of the Topology: its levels cannot be changed in place, so that others have another name."""
    return "-".join(level.name for level in levels) or topology.HOST


def topology_spec(levels: Sequence[TopologyLevel]) -> dict[str, Any]:
    """Return the `spec` of the Topology, from the widest level to the hosts."""
    return {"levels": [{"nodeLabel": label} for label in (*(level.key for level in levels), topology.HOSTNAME)]}


def annotations(required: LabelKey | None, preferred: LabelKey | None) -> dict[str, str]:
    """Return the annotations of a pod template whose pods are to be close to each other."""
    requests = {topology.REQUIRED: required, topology.PREFERRED: preferred}
    return {name: label for name, label in requests.items() if label}


class Toleration(Model):
    """One entry of a pod's `tolerations`."""

    key: str = Field(min_length=1, description="key of the taint")
    value: str | None = Field(default=None, description="value of the taint; None tolerates every value")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="effect of the taint; None tolerates every effect"
    )

    def manifest(self) -> dict[str, Any]:
        """Return it as Kubernetes has it."""
        how = {"operator": "Exists"} if self.value is None else {"operator": "Equal", "value": self.value}
        return {"key": self.key, **how, **({"effect": self.effect} if self.effect else {})}


class Taint(Model):
    """One entry of a node's `taints`, which pods without a toleration stay off."""

    key: LabelKey = Field(description="e.g. nvidia.com/gpu")
    value: LabelValue | None = Field(default=None, description="None: none")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="what it does to pods that do not tolerate it"
    )

    def __str__(self) -> str:
        """Return it as `oc adm taint` has it."""
        return f"{self.key}{'' if self.value is None else f'={self.value}'}:{self.effect}"

    @property
    def keeps_off(self) -> bool:
        """Whether pods that do not tolerate it stay off, and not only where there is another node."""
        return self.effect != "PreferNoSchedule"

    @property
    def toleration(self) -> Toleration:
        """What bears it."""
        return Toleration(key=self.key, value=self.value, effect=self.effect)

    def manifest(self) -> dict[str, str]:
        """Return it as Kubernetes has it."""
        return {"key": self.key, **({} if self.value is None else {"value": self.value}), "effect": self.effect}


def bearing(taints: Iterable[Taint], usual: tuple[Toleration, ...] = ()) -> tuple[Toleration, ...]:
    """Return tolerations for taints, after those that pods have anyway; none is there twice."""
    return tuple(dict.fromkeys((*usual, *(taint.toleration for taint in taints))))


GPU_TAINT = Toleration(key=names.GPU_RESOURCE, effect="NoSchedule")
"""Bears the taint of nodes reserved for GPU jobs, as NVIDIA's own manifests do."""
